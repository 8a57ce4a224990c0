import type { LdapAuthenticatorConfig } from "../../../src/authentication/ldap/ldap.ts";
import { BASE, SERVICE } from "../../fixtures/slapd.ts";

/** Returns the configuration of an authenticator with the defaults of all properties. */
export function ldapConfig(more: Partial<LdapAuthenticatorConfig> = {}): LdapAuthenticatorConfig {
  return {
    kind: "LDAPAuthenticator",
    name: "SUBJECT",
    addresses: [],
    bindDN: SERVICE.dn,
    bindPassword: SERVICE.password,
    truststore: undefined,
    userBase: `ou=people,${BASE}`,
    userFilter: "(&(objectClass=posixAccount)(uid=%user%))",
    userFilterOrigin: { file: "container.properties", line: 3, key: "LDAP.userFilter" },
    dnTemplate: "CN=%uid%,O=Demo",
    timeoutMs: 5000,
    testUser: undefined,
    derivedLifetime: undefined,
    ...more,
  };
}
