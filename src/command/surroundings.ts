/** Facts about machine and process. */
export interface Surroundings {
  /** Returns the value of an environment variable. */
  readonly environment: (name: string) => string | undefined;
  readonly hostName: () => string;
}

/** Current facts. */
export const SURROUNDINGS: Surroundings = {
  environment: (name) => Deno.env.get(name),
  hostName: () => Deno.hostname(),
};

/** Returns a copy of the facts, for a process that drops its permissions: a later configuration may use further variables. */
export function rememberSurroundings(): Surroundings {
  const variables = new Map(Object.entries(Deno.env.toObject()));
  const name = Deno.hostname();
  return { environment: (variable) => variables.get(variable), hostName: () => name };
}

/** Drops the permissions for environment and system information for good; workers never had them. */
export async function giveUpSurroundings(): Promise<void> {
  await Deno.permissions.revoke({ name: "env" });
  for (const kind of ["hostname", "uid"] as const) await Deno.permissions.revoke({ name: "sys", kind });
  await Deno.permissions.revoke({ name: "sys" });
}
