interface Environment {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  delete(name: string): void;
}

/** Variables that direct the runtime to an empty system store. */
const NO_AUTHORITIES = { DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: "/dev/null" } as const;

/** Variables that add authorities. */
const EXTRA_CA_VARIABLES = ["SSL_CERT_DIR", "DENO_CERT", "NODE_EXTRA_CA_CERTS"] as const;

/** Removes the runtime's own authorities, which TLS would trust beside given ones. Call before any TLS or worker. */
export function disableDefaultTrust(environment: Environment): void {
  for (const [name, value] of Object.entries(NO_AUTHORITIES)) environment.set(name, value);
  for (const name of EXTRA_CA_VARIABLES) environment.delete(name);
}

/** Reports whether the process was started with this environment. */
export function hasNoDefaultTrust(environment: Pick<Environment, "get">): boolean {
  return EXTRA_CA_VARIABLES.every((name) => environment.get(name) === undefined) &&
    Object.entries(NO_AUTHORITIES).every(([name, value]) => environment.get(name) === value);
}
