import type { ProbedRemote } from "../probed_kind.ts";
import { type LdapConfig, ldapRemote } from "./ldap_keys.ts";

/** Describes the servers of a configuration, with a probe of login, base entry and test user. */
export function probedServers(config: LdapConfig): readonly ProbedRemote[] {
  return config.addresses.map((address) => ({
    ...ldapRemote(address, config),
    async probe(parts) {
      const { LdapDirectory } = await import("./ldap_directory.ts");
      const directory = new LdapDirectory(config, parts);
      try {
        return await directory.probe(address);
      } finally {
        directory.close();
      }
    },
  }));
}
