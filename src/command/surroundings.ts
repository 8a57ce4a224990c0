/** What the machine tells a process about itself. */
export interface Surroundings {
  /** Value of an environment variable. */
  readonly environment: (name: string) => string | undefined;
  /** Name of the machine. */
  readonly hostName: () => string;
}

/** As they are at each look. */
export const SURROUNDINGS: Surroundings = {
  environment: (name) => Deno.env.get(name),
  hostName: () => Deno.hostname(),
};

/**
 * The surroundings as they are now, for a process that gives up the right to look again: variables of the environment that
 * a later configuration uses have to be known from the start.
 */
export function rememberSurroundings(): Surroundings {
  const variables = new Map(Object.entries(Deno.env.toObject()));
  const name = Deno.hostname();
  return { environment: (variable) => variables.get(variable), hostName: () => name };
}

/**
 * Gives up for good the right to read or change the environment, and to ask the system about itself. What the workers may do
 * stays as it is: they never had either.
 */
export async function giveUpSurroundings(): Promise<void> {
  await Deno.permissions.revoke({ name: "env" });
  for (const kind of ["hostname", "uid"] as const) await Deno.permissions.revoke({ name: "sys", kind });
  await Deno.permissions.revoke({ name: "sys" });
}
