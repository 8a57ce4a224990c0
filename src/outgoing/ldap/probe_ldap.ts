import { NEVER, type ProbeAnswer, type ProbeParts } from "../probed_kind.ts";
import { LdapDirectory } from "./ldap_directory.ts";
import type { LdapConfig } from "./ldap_keys.ts";

/** Probes a server: login of the service, base entry, test user. @throws {RemoteUnavailable} */
export async function probeLdap(
  address: string,
  config: LdapConfig,
  parts: ProbeParts,
): Promise<ProbeAnswer> {
  const directory = new LdapDirectory(config, parts);
  try {
    const asker = { queueKey: "probe", known: true, credential: "probe", address: "probe", signal: NEVER };
    return await directory.probe(address, asker);
  } finally {
    directory.close();
  }
}
