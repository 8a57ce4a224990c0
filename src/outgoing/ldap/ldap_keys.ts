import {
  distinguishedName,
  type Infer,
  integer,
  list,
  optional,
  path,
  secretText,
  text,
} from "../../config/key.ts";
import type { Place, Remote } from "../../config/kind.ts";
import type { Origin } from "../../config/service_config.ts";
import { userInName } from "./ldap_entry.ts";
import { templateDiagnostic } from "../../model/name_template.ts";
import { pemBlocks } from "../../config/tls/certificates.ts";
import { readRegularFile, utf8Text } from "../../model/regular_file.ts";

/** Keys of both LDAP kinds. */
export const LDAP_KEYS = {
  addresses: list({
    name: "address",
    help: "LDAP servers, ldaps:// or ldap:// with StartTLS; the service tries them in this order",
  }),
  bindDN: optional(text({
    help: "Name with which the service searches. If not set, it searches anonymously",
  })),
  bindPassword: optional(secretText({ help: "Password for bindDN" })),
  truststore: optional(path({
    help: "PEM file with the trusted authorities of these servers, in place of the truststore",
  })),
  userBase: distinguishedName({ help: "Entry below which the service searches users" }),
  userFilter: text({
    help: "Search filter (RFC 4515) for one user; %user% is the user name",
    default: "(&(objectClass=posixAccount)(uid=%user%))",
  }),
  dnTemplate: optional(text({
    help:
      "Template for users' names with attributes of the entry, such as CN=%uid%,O=Site. If not set, the name of the entry",
  })),
  timeoutMs: integer({
    name: "timeout",
    help: "Timeout for one answer of a server, connecting included",
    default: 5000,
    min: 100,
    max: 60_000,
    unit: "milliseconds",
  }),
  testUser: optional(text({
    help: "User name that check --online looks up. If not set, it only looks for the entry userBase",
  })),
};

/** Checked configuration of the connection and of the search for users. */
export type LdapConfig = Infer<typeof LDAP_KEYS> & { readonly userFilterOrigin: Origin };

/** Checks the values of the common keys; `undefined` with diagnostics. */
export function readLdap<T extends Infer<typeof LDAP_KEYS> & { readonly groupFilter?: string }>(
  values: T,
  { reader, prefix }: Place,
): T & LdapConfig | undefined {
  const { addresses, bindDN, bindPassword, dnTemplate, truststore, userFilter } = values;
  for (const address of addresses) {
    if (URL.parse(address) === null || !/^ldaps?:\/\/[^/@?#]+\/?$/i.test(address)) {
      reader.error(`${prefix}address`, "expected addresses such as ldaps://ldap.example.org", address);
      return undefined;
    }
  }
  if (addresses.length === 0) reader.error(`${prefix}address`, "expected an address");
  if (!userFilter.includes("%user%")) {
    reader.error(`${prefix}userFilter`, "expected %user% in it", userFilter);
  }
  for (const [key, filter = ""] of Object.entries({ userFilter, groupFilter: values.groupFilter })) {
    // The filter parser reads such escapes as characters, not as octets of UTF-8.
    if (!/\\[89a-f][0-9a-f]/i.test(filter)) continue;
    reader.error(`${prefix}${key}`, "expected the characters themselves in place of escapes", filter);
  }
  const diagnostic = dnTemplate && templateDiagnostic(dnTemplate, "uid");
  if (diagnostic !== undefined && diagnostic !== "") {
    reader.error(`${prefix}dnTemplate`, diagnostic, dnTemplate);
  } else if (dnTemplate !== undefined && userInName(dnTemplate, dnTemplate) === undefined) {
    const expected = "no user is found by name, expected a part with one attribute alone, such as CN=%uid%";
    reader.warn(`${prefix}dnTemplate`, expected, dnTemplate);
  }
  if (truststore !== undefined) reader.expectFile(`${prefix}truststore`, truststore);
  if ((bindDN === undefined) !== (bindPassword === undefined)) {
    const [given, missing] = bindDN === undefined ? ["bindPassword", "bindDN"] : ["bindDN", "bindPassword"];
    reader.error(`${prefix}${given}`, `expected ${prefix}${missing} too`);
  }
  return { ...values, userFilterOrigin: reader.origin(`${prefix}userFilter`) };
}

/** Returns the files that the connection reads. */
export function ldapFiles({ truststore }: LdapConfig): readonly string[] {
  return truststore === undefined ? [] : [truststore];
}

const PORTS = { "ldap:": 389, "ldaps:": 636 }; // ports of RFC 4516 and of LDAP over TLS

/** Describes a server: TLS from the start with `ldaps`, by StartTLS with `ldap`, never without. */
export function ldapRemote(address: string, { truststore }: Pick<LdapConfig, "truststore">): Remote {
  const startsTls = new URL(address).protocol === "ldap:";
  return {
    address,
    defaultPort: startsTls ? PORTS["ldap:"] : PORTS["ldaps:"],
    label: "LDAP",
    showCertificate: false,
    anchors: async () => {
      if (truststore === undefined) return undefined;
      const text = utf8Text(await readRegularFile(truststore), truststore);
      return [...pemBlocks(text)].filter(({ label }) => label === "CERTIFICATE").map(({ text }) => text);
    },
    beforeTls: startsTls
      ? async (connection) => (await import("./ldap_connection.ts")).LdapConnection.startTls(connection)
      : undefined,
  };
}
