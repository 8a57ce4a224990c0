import type { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { type Diagnostic, isError } from "../../model/diagnostic.ts";
import type { Revocation } from "../../model/trust/revocation.ts";
import { reason } from "../load_properties.ts";
import type { TruststoreConfig } from "../service_config.ts";
import { describeValidity, validityOf } from "../../model/trust/validity.ts";
import { certificateOfDer, certificatesOfPem, isPem, subjectOf, UnusableStore } from "./certificates.ts";
import { filesLike, isPattern } from "./glob.ts";
import { isJavaKeyStore, refuseJavaKeyStore } from "./key_store.ts";
import { certificatesOfPkcs12 } from "./pkcs12_certificates.ts";
import { loadRevocation } from "./revocation_lists.ts";
import { readRegularFile } from "../../model/regular_file.ts";

interface LoadedTruststore {
  readonly anchors: readonly string[]; // PEM, distinct and in date
  readonly revocation?: Revocation; // absent: no revocation check
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly string[]; // watch these files and searched folders
}

/** File to read; `named` explicitly, or found by a pattern. */
interface Candidate {
  readonly path: string;
  readonly named: boolean;
}

/**
 * Loads trusted certificates. An unusable file is an error if named explicitly, a warning if found by a pattern; no
 * certificate at all is an error.
 * @param now Milliseconds since the epoch.
 */
export async function loadTruststore(config: TruststoreConfig, now: number): Promise<LoadedTruststore> {
  const diagnostics: Diagnostic[] = [];
  const report = (severity: Diagnostic["severity"], expected: string) => {
    diagnostics.push({ severity, ...config.origin, expected });
  };
  const { candidates, folders } = await findFiles(config, report);
  const anchors = new Map<string, string>();
  let read = 0;
  for (const { path, named } of candidates) {
    try {
      const certificates = certificatesOf(config, path, await readRegularFile(path));
      read += certificates.length;
      for (const certificate of certificates) {
        const { kind, text } = describeValidity(validityOf(certificate), now);
        if (kind === "invalid") {
          report("warning", `not trusted, ${subjectOf(certificate)} in ${path} ${text}`);
        } else anchors.set(certificate.fingerprint256, certificate.toString());
      }
    } catch (error) {
      const why = error instanceof UnusableStore ? error.message : `cannot read it: ${reason(error)}`;
      report(named ? "error" : "warning", `${path}: ${why}`);
    }
  }
  if (anchors.size === 0 && !diagnostics.some(isError)) {
    report(
      "error",
      read === 0
        ? "expected at least one trusted certificate"
        : "expected a trusted certificate that is valid",
    );
  }
  const all = [...anchors.values()];
  const revoked = await loadRevocation(config, all, {
    now,
    report: (diagnostic) => diagnostics.push(diagnostic),
  });
  return {
    anchors: all,
    revocation: revoked?.revocation,
    diagnostics,
    files: [...new Set([...candidates.map(({ path }) => path), ...folders, ...revoked?.files ?? []])],
  };
}

async function findFiles(
  config: TruststoreConfig,
  report: (severity: Diagnostic["severity"], expected: string) => void,
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
    const found = await filesLike(pattern);
    folders.push(...found.folders);
    const files = config.type === "openssl"
      ? found.files.filter((file) => /[0-9a-f]{8}\.\d+$/i.test(file))
      : found.files;
    if (files.length === 0) report("warning", `there are no files like ${pattern}`);
    candidates.push(...files.map((path) => ({ path, named: false })));
  }
  return { candidates, folders };
}

/** @throws {UnusableStore} Without a certificate. */
function certificatesOf(config: TruststoreConfig, path: string, bytes: Uint8Array): X509Certificate[] {
  if (isJavaKeyStore(bytes)) refuseJavaKeyStore(path);
  if (config.type === "keystore") return certificatesOfPkcs12(bytes, config.password);
  const certificates = isPem(bytes)
    ? certificatesOfPem(new TextDecoder().decode(bytes))
    : [certificateOfDer(bytes)];
  if (certificates.length === 0) throw new UnusableStore("expected a certificate");
  return certificates;
}
