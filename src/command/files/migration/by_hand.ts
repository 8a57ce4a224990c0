import { X509Certificate } from "node:crypto";
import { compileExpression } from "../../../authentication/expression/expression.ts";
import { InvalidExpression } from "../../../authentication/expression/invalid_expression.ts";
import { decodeProperties, parseProperties, type PropertyEntry } from "../../../config/properties.ts";
import { conversionOf, isJavaKeyStore } from "../../../config/tls/key_store.ts";
import { pemBlocks, UnusableStore } from "../../../config/tls/certificates.ts";
import { readPkcs12 } from "../../../config/tls/pkcs12_certificates.ts";
import { certificateName } from "../../../model/certificate_subject.ts";
import { readElement } from "../../../model/der_element.ts";
import type { ConfigurationFile } from "./java_installation.ts";

/** Manual step of a migration. */
export interface HandWork {
  readonly topic: string; // for example `Java key store`
  readonly what: readonly string[]; // situation and remedy, as lines
}

/** Policy files shipped with the Java service: their rules are built in. */
const SHIPPED_POLICIES = /(?:^|\/)(?:30uftpAuthService\.xml|xacml2\.config)$/;

/** Returns the manual steps for the copied files, whose paths begin with `conf/` or are beside it. */
export function needsAHand(files: readonly ConfigurationFile[]): readonly HandWork[] {
  const main = files.find(({ path }) => path === "conf/container.properties");
  const { entries } = parseProperties(
    decodeProperties(main?.content ?? new Uint8Array()),
    "conf/container.properties",
  );
  return [
    ...files.flatMap((file) => javaKeyStore(file, entries)),
    ...policies(files, entries),
    ...expressions(entries),
    ...files.flatMap((file) => oldCertificates(file, entries)),
  ];
}

function javaKeyStore({ path, content }: ConfigurationFile, entries: readonly PropertyEntry[]): HandWork[] {
  if (!isJavaKeyStore(content)) return [];
  const { target, command } = conversionOf(path);
  const naming = entries.filter(({ value }) => value.trim() === path);
  return [{
    topic: "Java key store",
    what: [
      command,
      ...naming.map(({ key, line }) => `conf/container.properties:${line}: ${key}=${target}`),
    ],
  }];
}

function policies(files: readonly ConfigurationFile[], entries: readonly PropertyEntry[]): HandWork[] {
  const own = files.map(({ path }) => path)
    .filter((path) => /(?:^|\/)xacml\w*/i.test(path) && !SHIPPED_POLICIES.test(path));
  if (own.length === 0 && !entries.some(({ key }) => key.endsWith(".pdpConfig"))) return [];
  return [{
    topic: "XACML",
    what: own.length === 0
      ? ["not evaluated: the built-in rules equal the policy that the Java service came with, nothing to do"]
      : [
        "not evaluated: the built-in rules equal the policy that the Java service came with. See whether these permit",
        "less than it did, and say that with roles in the map file, or with bans:",
        ...own,
      ],
  }];
}

/** Expressions (MVEL) beyond the supported subset. */
function expressions(entries: readonly PropertyEntry[]): HandWork[] {
  return entries.filter(({ key }) => key.endsWith("Assign")).flatMap(({ key, value, line }) => {
    try {
      compileExpression(value);
      return [];
    } catch (error) {
      if (!(error instanceof InvalidExpression)) throw error;
      return [{ topic: "MVEL", what: [`conf/container.properties:${line}: ${key}: ${error.message}`] }];
    }
  });
}

/** X.509 version 1 certificates: a handshake with them proves nothing. */
function oldCertificates(
  { path, content }: ConfigurationFile,
  entries: readonly PropertyEntry[],
): HandWork[] {
  return certificatesIn(content, () => passwordsIn(entries)).filter(isVersion1).map((certificate) => ({
    topic: "X.509 version 1",
    what: [
      `${path}: ${certificateName(certificate)}`,
      "it proves nothing, and daemons and clients that show such a one are refused: have a new one issued",
    ],
  }));
}

/** Reads PEM, DER, and PKCS#12 that one of the passwords opens. */
function certificatesIn(content: Uint8Array, passwords: () => readonly string[]): X509Certificate[] {
  const text = new TextDecoder().decode(content);
  if (text.includes("-----BEGIN ")) {
    return [...pemBlocks(text)].filter(({ label }) => label === "CERTIFICATE")
      .flatMap(({ text }) => certificateOf(text));
  }
  if (content[0] !== SEQUENCE) return [];
  const alone = certificateOf(content);
  return alone.length > 0 ? alone : certificatesOfStore(content, passwords());
}

/** First byte of DER files. */
const SEQUENCE = 0x30;

/** `check` reports unreadable certificates that the configuration names. */
function certificateOf(encoded: string | Uint8Array): X509Certificate[] {
  try {
    return [new X509Certificate(encoded)];
  } catch {
    return [];
  }
}

function certificatesOfStore(content: Uint8Array, passwords: readonly string[]): X509Certificate[] {
  for (const password of passwords) {
    try {
      return [...readPkcs12(content, password).certificates];
    } catch (error) {
      if (!(error instanceof UnusableStore)) throw error;
    }
  }
  return [];
}

/** Passwords to try: of the service's key store and its truststores. */
const MOST_PASSWORDS = 8;

function passwordsIn(entries: readonly PropertyEntry[]): string[] {
  const values = entries.filter(({ key }) => /password$/i.test(key)).map(({ value }) => value.trim());
  return [...new Set([...values, ""])].slice(0, MOST_PASSWORDS);
}

/** Version 1 omits the version field (RFC 5280, 4.1). */
function isVersion1({ raw }: X509Certificate): boolean {
  return readElement(raw).child(0).child(0).tag !== 0xa0;
}
