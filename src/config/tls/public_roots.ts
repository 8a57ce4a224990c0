import type { Diagnostic } from "../../model/diagnostic.ts";
import { certificatesOfPem, UnusableStore } from "./certificates.ts";

/** System bundles of Debian, Fedora, SUSE and Alpine. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
] as const;

interface LoadedRoots {
  readonly roots: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly string[]; // watch this
}

/** Loads the system's public authorities from the first existing bundle. @param origin Setting for messages. */
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
