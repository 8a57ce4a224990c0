/** Facts about machine and process. */
export interface SystemInfo {
  readonly environment: (name: string) => string | undefined;
  readonly hostName: () => string;
  readonly uid: () => number | null; // number of the account that the process runs as; `null` on Windows
}

/** Warning of `serve` and `check`. */
export const AS_ROOT =
  "the service runs as root, so a flaw in it is one of the whole machine; set User= in its unit";

/** Current facts. */
export const SYSTEM_INFO: SystemInfo = {
  environment: (name) => Deno.env.get(name),
  hostName: () => Deno.hostname(),
  uid: () => Deno.uid(),
};

/** Returns a copy of the facts, for a process that drops its permissions: a later configuration may use further variables. */
export function copySystemInfo(): SystemInfo {
  const variables = new Map(Object.entries(Deno.env.toObject()));
  const [name, uid] = [Deno.hostname(), Deno.uid()];
  return { environment: (variable) => variables.get(variable), hostName: () => name, uid: () => uid };
}

/** Drops the permissions for environment and system information for good; workers never had them. */
export async function dropSystemAccess(): Promise<void> {
  await Deno.permissions.revoke({ name: "env" });
  for (const kind of ["hostname", "uid"] as const) await Deno.permissions.revoke({ name: "sys", kind });
  await Deno.permissions.revoke({ name: "sys" });
}
