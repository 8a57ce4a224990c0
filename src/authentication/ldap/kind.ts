import { type Infer, integer, optional } from "../../config/key.ts";
import type { ConfigRead, Place } from "../../config/kind.ts";
import { LDAP_KEYS, ldapFiles, readLdap } from "../../outgoing/ldap/ldap_keys.ts";
import { ldapRemote } from "../../outgoing/ldap/ldap_remote.ts";
import { authenticatorKind } from "../authenticator_kind.ts";

const KEYS = {
  ...LDAP_KEYS,
  derivedLifetime: optional(integer({
    help:
      "Maximum lifetime of browser sessions and tokens of this service from such a login. If not set, while the entry exists and is not locked",
    unit: "seconds",
    max: 30 * 86_400,
    added: true,
  })),
};

function read({ derivedLifetime, ...rest }: Infer<typeof KEYS>, place: Place) {
  const config = readLdap(rest, place);
  return config && { ...config, derivedLifetime };
}

/** Checked configuration of the authenticator. */
export type LdapAuthenticatorConfig = ConfigRead<typeof read>;

/** User names and passwords of an LDAP server or Active Directory. */
export const ldap = authenticatorKind({
  title: "LDAPAuthenticator: user name and password at an LDAP server (LDAP)",
  keys: KEYS,
  methods: { LDAP: "user name and password" },
  read,
  files: ldapFiles,
  remotes: (config) =>
    config.addresses.map((address) => ({
      ...ldapRemote(address, config),
      probe: async (parts) =>
        (await import("../../outgoing/ldap/probe_ldap.ts")).probeLdap(address, config, parts),
    })),
  inspect: async ({ userFilter, userFilterOrigin }) => ({
    diagnostics: (await import("../../outgoing/ldap/ldap_directory.ts"))
      .inspectFilter(userFilter, userFilterOrigin),
  }),
  create: async (config, parts) => new (await import("./ldap.ts")).LdapAuthenticator(config, parts),
});
