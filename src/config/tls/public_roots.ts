import type { Diagnostic } from "../../model/diagnostic.ts";
import { certificatesOfPem, UnusableStore } from "./certificates.ts";

/** Where systems keep the public authorities they trust: Debian, Fedora, SUSE, Alpine, in one file each. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
] as const;

/** The public authorities of the system, and what is wrong with them. */
interface LoadedRoots {
  /** PEM, one certificate each. */
  readonly roots: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** The file they are from; load again if it changes. */
  readonly files: readonly string[];
}

/**
 * Reads the public authorities that the system trusts; its updates keep them right.
 * @param origin The setting that wants them.
 * @param bundles Where to look; the first file that is there counts.
 */
export async function loadPublicRoots(
  origin: { readonly file: string; readonly key: string; readonly line?: number },
  bundles: readonly string[] = BUNDLES,
): Promise<LoadedRoots> {
  const fail = (expected: string, files: readonly string[] = []) => {
    return { roots: [], diagnostics: [{ severity: "error", ...origin, expected } as const], files };
  };
  for (const file of bundles) {
    let text: string;
    try {
      text = await Deno.readTextFile(file);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      return fail(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
    }
    try {
      const roots = certificatesOfPem(text).map((certificate) => certificate.toString());
      return roots.length === 0
        ? fail(`expected certificates in ${file}`, [file])
        : { roots, diagnostics: [], files: [file] };
    } catch (error) {
      if (!(error instanceof UnusableStore)) throw error;
      return fail(`${file}: ${error.message}`, [file]);
    }
  }
  return fail("expected the system's public authorities, install the package ca-certificates");
}
