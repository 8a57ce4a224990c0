/** OpenSSH certificates, the authorities that may sign them, and the lists of revoked keys. */
import { Buffer } from "node:buffer";
import { authorityInLine, parseAuthorities } from "../../src/authentication/ssh_key/authorized_keys.ts";
import { readRevokedKeys } from "../../src/authentication/ssh_key/certificate/revoked_keys.ts";
import { readUserCertificate } from "../../src/authentication/ssh_key/certificate/user_certificate.ts";
import { UnusableKey } from "../../src/authentication/ssh_key/public_key.ts";
import { certificateLine, revokedList } from "../authentication/ssh_key/certificate/certificates.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { fuzz } from "./fuzz.ts";
import { hostileBytes, hostileText } from "./hostile_text.ts";
import { asItIs, FILE, KIB, latin1 } from "./shapes.ts";

const AUTHORITY = certificateLine("ca_ed25519");
const TYPE = "ssh-ed25519-cert-v01@openssh.com";

fuzz({
  name: "readUserCertificate()",
  input: hostileBytes(
    ...["domain", "of_ecdsa256"].map((name) =>
      Buffer.from(certificateLine(name).split(" ")[1] ?? "", "base64")
    ),
  ),
  parse: (bytes) => readUserCertificate(`${TYPE} ${Buffer.from(bytes).toString("base64")}`),
  throws: [UnusableKey],
  growth: {
    longest: 16 * KIB,
    forms: ["…", `${certificateLine("domain")}…x`, `${TYPE}…AAAA`, `${TYPE} …`],
    input: latin1,
  },
});
fuzz({
  name: "parseAuthorities()",
  input: hostileText(
    `@cert-authority * ${AUTHORITY}`,
    `principals="*@example.org,!root",domain=example.org,maxLifetime=24h,from="10.0.0.0/8" ${AUTHORITY}`,
  ),
  parse: (text) => parseAuthorities(text, "file"),
  growth: {
    longest: 16 * KIB,
    forms: [
      "…",
      `principals="…" ${AUTHORITY}`,
      `domain=…,a=b ${AUTHORITY}`,
      `@cert-authority…${AUTHORITY}`,
      `"…" ${AUTHORITY}`,
    ],
    input: asItIs,
  },
});
fuzz({
  name: "authorityInLine()",
  input: hostileText(
    `cert-authority,principals="ann,bob",from="10.0.0.0/8" ${AUTHORITY}`,
    `no-pty ${AUTHORITY}`,
  ),
  parse: authorityInLine,
  growth: {
    longest: 16 * KIB,
    forms: [
      "…",
      `cert-authority,principals="…" ${AUTHORITY}`,
      `…,cert-authority ${AUTHORITY}`,
      `cert-authority,from="…" ${AUTHORITY}`,
    ],
    input: asItIs,
  },
});
fuzz({
  name: "readRevokedKeys()",
  input: hostileBytes(
    revokedList("bitmap"),
    revokedList("serials"),
    revokedList("sha1"),
    Buffer.from(publicLine("user_ed25519")),
  ),
  parse: readRevokedKeys,
  throws: [UnusableKey],
  growth: {
    longest: FILE,
    forms: ["…", `${publicLine("user_ed25519")}\n…`, `ssh-ed25519…AAAA`],
    input: latin1,
  },
});
