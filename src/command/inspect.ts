import { loadConfiguration } from "../config/load.ts";
import { loadTlsMaterial } from "../config/tls/load_tls_material.ts";
import { loadTruststore } from "../config/tls/truststore.ts";
import type { Problem } from "../model/problem.ts";
import type { Setup } from "../rooms/setup.ts";
import { inspectDataFiles } from "./inspect_data_files.ts";

/** All that can be said about a configuration without starting anything. */
export interface Inspection {
  /** Absent if there is an error among the problems: the service would not start. */
  readonly setup?: Setup;
  /** In the order of the files, the main file first. */
  readonly problems: readonly Problem[];
  readonly files: CertificateFiles;
}

/** Files and folders of certificates: look again if one of them changes. */
export interface CertificateFiles {
  readonly credential: readonly string[];
  readonly truststore: readonly string[];
  readonly assertionIssuers: readonly string[];
}

const NO_FILES: CertificateFiles = { credential: [], truststore: [], assertionIssuers: [] };

/**
 * Reads the configuration and every file that it names, and looks across them. `check` shows the outcome, `serve` and a
 * reload start from it, so that they cannot judge differently.
 */
export async function inspect(mainFile: string): Promise<Inspection> {
  const { config, problems } = await loadConfiguration(mainFile, {
    environment: (name) => Deno.env.get(name),
  });
  if (config === undefined) return { problems, files: NO_FILES };
  const now = Date.now();
  const tls = await loadTlsMaterial(config, now);
  const issuers = config.trustedAssertionIssuers === undefined
    ? { anchors: [], problems: [], files: [] }
    : await loadTruststore(config.trustedAssertionIssuers, now);
  const all = [...problems, ...tls.problems, ...issuers.problems, ...await inspectDataFiles(config)];
  const files = {
    credential: tls.credentialFiles,
    truststore: tls.truststoreFiles,
    assertionIssuers: issuers.files,
  };
  if (all.some(({ severity }) => severity === "error")) return { problems: all, files };
  const setup = { config, material: tls.material, assertionIssuers: issuers.anchors };
  return { setup, problems: all, files };
}
