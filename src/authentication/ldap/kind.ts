import { optional, seconds } from "../../config/key.ts";
import { LDAP_KEYS, ldapFiles, readLdap } from "../../outgoing/ldap/ldap_keys.ts";
import { probedServers } from "../../outgoing/ldap/probed_servers.ts";
import { authenticatorKind } from "../authenticator_kind.ts";

const KEYS = {
  ...LDAP_KEYS,
  derivedLifetime: optional(seconds({
    help:
      "Maximum lifetime of browser sessions and tokens of this service from such a login. If not set, while the entry exists and is not locked",
    max: 30 * 86_400,
  })),
};

/** User names and passwords of an LDAP server or Active Directory. */
export const ldap = authenticatorKind({
  title: "LDAPAuthenticator: user name and password at an LDAP server (LDAP)",
  keys: KEYS,
  added: true,
  methods: { LDAP: "user name and password" },
  read: (values, place) => readLdap(values, place),
  files: ldapFiles,
  remotes: probedServers,
  inspect: async ({ userFilter, userFilterOrigin }) => ({
    diagnostics: (await import("../../outgoing/ldap/ldap_directory.ts"))
      .inspectFilter(userFilter, userFilterOrigin),
  }),
  create: async (config, parts) => new (await import("./ldap.ts")).LdapAuthenticator(config, parts),
});
