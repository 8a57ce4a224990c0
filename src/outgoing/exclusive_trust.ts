/** The environment of the process; `Deno.env` is one. */
interface Environment {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  delete(name: string): void;
}

/** By which the runtime is told where the system's authorities are: nowhere. */
const NO_AUTHORITIES = { DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: "/dev/null" } as const;

/** By which it is told of further ones. */
const FURTHER = ["SSL_CERT_DIR", "DENO_CERT", "NODE_EXTRA_CA_CERTS"] as const;

/**
 * Takes from the runtime every authority of its own, so that Deno's TLS client trusts those it is given and no others: it
 * adds what it is given to what it has. To be called before the first TLS of the process, when the runtime looks at these
 * variables; holds in its workers too.
 */
export function trustNobodyByDefault(environment: Environment): void {
  for (const [name, value] of Object.entries(NO_AUTHORITIES)) environment.set(name, value);
  for (const name of FURTHER) environment.delete(name);
}

/** Whether the process was started as {@link trustNobodyByDefault} makes it, by somebody else. */
export function trustsNobodyByDefault(environment: Pick<Environment, "get">): boolean {
  return FURTHER.every((name) => environment.get(name) === undefined) &&
    Object.entries(NO_AUTHORITIES).every(([name, value]) => environment.get(name) === value);
}
