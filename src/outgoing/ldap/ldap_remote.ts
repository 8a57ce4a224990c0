import type { Remote } from "../../config/kind.ts";
import { pemBlocks } from "../../config/tls/certificates.ts";
import { readRegularFile, utf8Text } from "../../model/regular_file.ts";
import type { LdapConfig } from "./ldap_keys.ts";

/** Ports of RFC 4516 and of LDAP over TLS. */
const PORTS = { "ldap:": 389, "ldaps:": 636 };

/** Describes a server: TLS from the start with `ldaps`, by StartTLS with `ldap`, never without. */
export function ldapRemote(address: string, { truststore }: Pick<LdapConfig, "truststore">): Remote {
  const startsTls = new URL(address).protocol === "ldap:";
  return {
    address,
    defaultPort: startsTls ? PORTS["ldap:"] : PORTS["ldaps:"],
    shownAs: "LDAP",
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
