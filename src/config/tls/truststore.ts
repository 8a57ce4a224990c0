import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { type Diagnostic, isError } from "../../model/diagnostic.ts";
import { isOf, readRevocationList } from "../../model/trust/revocation.ts";
import { reason } from "../properties.ts";
import type { TruststoreConfig } from "../service_config.ts";
import { describeValidity, validityOf } from "../../model/trust/certificate_facts.ts";
import {
  certificatesIn,
  certificatesOfPem,
  isPem,
  pemBlocks,
  subjectOf,
  UnusableStore,
} from "./certificates.ts";
import { isPattern, matchingFiles } from "./glob.ts";
import { isJavaKeyStore, refuseJavaKeyStore } from "./key_store.ts";
import { certificatesOfPkcs12 } from "./pkcs12_certificates.ts";
import { readRegularFile } from "../../model/regular_file.ts";
import { messageOf } from "../../model/text.ts";
import { Buffer } from "node:buffer";

/** File to read; `named` explicitly, or found by a pattern. */
interface Candidate {
  readonly path: string;
  readonly named: boolean;
}

/** Loads trusted certificates. An unusable file is an error if it is named, a warning if it is found by a pattern. */
export async function loadTruststore(config: TruststoreConfig, now: number) {
  const diagnostics: Diagnostic[] = [];
  const report = (severity: Diagnostic["severity"], expected: string, fix?: string) => {
    diagnostics.push({ severity, ...config.origin, expected, fix });
  };
  const { candidates, folders } = await findFiles(config, report);
  const anchors = new Map<string, string>();
  let read = 0;
  for (const { path, named } of candidates) {
    try {
      const bytes = await readRegularFile(path);
      if (isJavaKeyStore(bytes)) refuseJavaKeyStore(path);
      const certificates = config.type === "keystore"
        ? certificatesOfPkcs12(bytes, config.password)
        : certificatesIn(bytes);
      read += certificates.length;
      for (const certificate of certificates) {
        const { kind, text } = describeValidity(validityOf(certificate), now);
        if (kind === "invalid") {
          const fix = `replace or remove ${path}; see: date; openssl x509 -noout -dates -in ${path}`;
          report("warning", `not trusted, ${subjectOf(certificate)} in ${path} ${text}`, fix);
        } else anchors.set(certificate.fingerprint256, certificate.toString());
      }
    } catch (error) {
      const why = error instanceof UnusableStore ? error.message : unreadable(error);
      report(named ? "error" : "warning", `${path}: ${why}`);
    }
  }
  if (anchors.size === 0 && !diagnostics.some(isError)) {
    const missing = read === 0 ? "at least one trusted certificate" : "a trusted certificate that is valid";
    report("error", `expected ${missing}`, "put the certificate of a trusted authority there");
  }
  const all = [...anchors.values()];
  const revoked = await loadRevocation(config, all, { now, report: (found) => diagnostics.push(found) });
  return {
    anchors: all,
    revocation: revoked?.revocation,
    diagnostics,
    files: [...new Set([...candidates.map(({ path }) => path), ...folders, ...revoked?.files ?? []])],
  };
}

const unreadable = (error: unknown) => `cannot read it: ${reason(error)}`;

async function findFiles(
  config: TruststoreConfig,
  report: (severity: Diagnostic["severity"], expected: string, fix?: string) => void,
): Promise<{ candidates: Candidate[]; folders: string[] }> {
  if (config.type === "keystore") return { candidates: [{ path: config.path, named: true }], folders: [] };
  const patterns = config.type === "openssl" ? [join(config.path, "????????.*")] : config.locations;
  const candidates: Candidate[] = [];
  const folders: string[] = [];
  for (const pattern of patterns) {
    if (!isPattern(pattern)) {
      candidates.push({ path: pattern, named: true });
      continue;
    }
    const tell = (error: unknown) => void report("error", `${pattern}: ${unreadable(error)}`);
    const found = await matchingFiles(pattern, tell);
    folders.push(...found.folders);
    const files = found.files.filter((file) => config.type !== "openssl" || /[0-9a-f]{8}\.\d+$/i.test(file));
    const rules = found.files.find((file) => /\.(?:signing_policy|namespaces)$/.test(file));
    if (config.type === "openssl" && config.nameSpaces !== undefined && rules !== undefined) {
      report(
        config.nameSpaces,
        `name spaces as in ${rules} are not evaluated: each authority of the folder could certify any name`,
        "keep only authorities in the folder that you trust for any name, then write opensslNsMode=IGNORE",
      );
    }
    if (files.length === 0) {
      report("warning", `there are no files like ${pattern}`, `put files there, or remove the pattern`);
    }
    candidates.push(...files.map((path) => ({ path, named: false })));
  }
  return { candidates, folders };
}

const MAX_BYTES = 32 * 1024 * 1024; // enough for half a million certificates

/** Loads revocation lists, PEM or DER. Unusable ones are reported and ignored: `REQUIRE` then refuses certificates. */
async function loadRevocation(
  config: TruststoreConfig,
  anchors: readonly string[],
  { now, report }: { readonly now: number; readonly report: (diagnostic: Diagnostic) => void },
) {
  if (config.revocation === undefined) return undefined;
  const { mode, locations, origin } = config.revocation;
  const say = (severity: Diagnostic["severity"]) => (expected: string, fix?: string) =>
    report({ severity, ...origin, expected, fix });
  const [fail, warn] = [say("error"), say("warning")];
  const patterns = [...locations, ...config.type === "openssl" ? [join(config.path, "????????.r*")] : []];
  const issuers = anchors.map((anchor) => new X509Certificate(anchor));
  const lists: string[] = [];
  const files: string[] = [];
  for (const pattern of patterns) {
    const tell = (error: unknown) => void fail(`${pattern}: ${unreadable(error)}`);
    const found = isPattern(pattern) ? await matchingFiles(pattern, tell) : { files: [pattern], folders: [] };
    files.push(...found.files, ...found.folders);
    for (const path of found.files) {
      try {
        for (const der of listsIn(await readRegularFile(path, MAX_BYTES))) {
          const list = readRevocationList(der);
          if (list.to < now) {
            const end = new Date(list.to).toISOString().slice(0, 10);
            warn(`${path}: expected a newer revocation list, this one held until ${end}`);
          } else if (!issuers.some((issuer) => isOf(list, issuer))) {
            warn(
              `${path}: no trusted authority signed this revocation list, it counts if one in between did`,
              `trust the authority of ${path}, or remove the list; see: openssl crl -noout -issuer -in ${path}`,
            );
          }
          lists.push(Buffer.from(der).toString("base64"));
        }
      } catch (error) {
        const isOther = error instanceof TypeError;
        warn(`${path}: ${isOther ? `expected a revocation list: ${error.message}` : unreadable(error)}`);
      }
    }
  }
  if (mode === "REQUIRE" && lists.length === 0) {
    warn(
      "without revocation lists no certificate will do, expected crlLocations.1 with files such as conf/crl/*.pem",
    );
  }
  return { revocation: { mode, lists }, files };
}

function listsIn(bytes: Uint8Array): readonly Uint8Array[] {
  if (!isPem(bytes)) return [bytes];
  const blocks = pemBlocks(new TextDecoder().decode(bytes)).filter(({ label }) => label === "X509 CRL")
    .toArray();
  if (blocks.length === 0) throw new TypeError("there is none in the file");
  return blocks.map(({ text }) => {
    try {
      return Uint8Array.fromBase64(text.replace(/-----[^-]+-----/g, "").replace(/\s+/g, ""));
    } catch (cause) {
      throw new TypeError("it is not base64", { cause });
    }
  });
}

/** System bundles of Debian, Fedora, SUSE and Alpine. */
export const BUNDLES: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** Loads the system's public authorities from the first existing bundle. @param origin Setting for messages. */
export async function loadPublicRoots(
  origin: { readonly file: string; readonly key: string; readonly line?: number },
  bundles = BUNDLES,
) {
  const fail = (expected: string, files: readonly string[] = []) => {
    return { roots: [], diagnostics: [{ severity: "error", ...origin, expected } as const], files };
  };
  for (const file of bundles) {
    let text: string;
    try {
      text = await Deno.readTextFile(file);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      return fail(`cannot read ${file}: ${messageOf(error)}`);
    }
    try {
      const roots = certificatesOfPem(text).map((certificate) => certificate.toString());
      if (roots.length === 0) return fail(`expected certificates in ${file}`, [file]);
      return { roots, diagnostics: [], files: [file] };
    } catch (error) {
      if (!(error instanceof UnusableStore)) throw error;
      return fail(`${file}: ${error.message}`, [file]);
    }
  }
  return fail("expected the system's public authorities, install the package ca-certificates");
}
