import { ldapFiles } from "../../outgoing/ldap/ldap_keys.ts";
import { probedServers } from "../../outgoing/ldap/probed_servers.ts";
import { authenticatorKind } from "../authenticator_kind.ts";
import { KEYS, read } from "./keys.ts";

/** User names and passwords of an LDAP server or Active Directory. */
export const ldap = authenticatorKind({
  title: "LDAPAuthenticator: user name and password at an LDAP server (LDAP)",
  keys: KEYS,
  methods: { LDAP: "user name and password" },
  read,
  files: ldapFiles,
  remotes: probedServers,
  inspect: async ({ userFilter, userFilterOrigin }) => ({
    diagnostics: (await import("../../outgoing/ldap/ldap_directory.ts"))
      .inspectFilter(userFilter, userFilterOrigin),
  }),
  create: async (config, parts) => new (await import("./ldap.ts")).LdapAuthenticator(config, parts),
});
