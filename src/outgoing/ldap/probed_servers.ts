import { NEVER, type ProbedRemote } from "../probed_kind.ts";
import { type LdapConfig, ldapRemote } from "./ldap_keys.ts";

const ASKER = { queueKey: "probe", known: true, credential: "probe", address: "probe", signal: NEVER };

/** Describes the servers of a configuration, with a probe of login, base entry and test user. */
export function probedServers(config: LdapConfig): readonly ProbedRemote[] {
  return config.addresses.map((address) => ({
    ...ldapRemote(address, config),
    async probe(parts) {
      const { LdapDirectory } = await import("./ldap_directory.ts");
      const directory = new LdapDirectory(config, parts);
      try {
        return await directory.probe(address, ASKER);
      } finally {
        directory.close();
      }
    },
  }));
}
