import type { EffectiveValue } from "../../config/key_reader.ts";
import { loadConfiguration, type LoadOptions } from "../../config/load.ts";
import { loadTlsMaterial } from "../../config/tls/load_tls_material.ts";
import { loadPublicRoots } from "../../config/tls/public_roots.ts";
import { loadTruststore } from "../../config/tls/truststore.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import { isError, type Problem } from "../../model/problem.ts";
import type { ServiceOptions } from "./assemble.ts";

/** A configuration that was read and found good, with all certificates that it names. */
export type Setup = Pick<ServiceOptions, "config" | "material" | "assertionIssuers">;

/** What became of reading configuration and certificates. */
export interface LoadedSetup {
  /** Absent if the configuration itself cannot be used. */
  readonly config?: ServiceConfig;
  /** Absent if there is any error among the problems. */
  readonly setup?: Setup;
  /** In the order of the files, the main file first. */
  readonly problems: readonly Problem[];
  readonly files: CertificateFiles;
  /** All files that were read, or would have been; absolute, as far as they could be told. */
  readonly dependsOn: readonly string[];
  /** The value of every key, as far as it could be read. */
  readonly effective: readonly EffectiveValue[];
}

/** Files and folders of certificates: look again if one of them changes. */
export interface CertificateFiles {
  readonly credential: readonly string[];
  readonly truststore: readonly string[];
  readonly assertionIssuers: readonly string[];
}

const NO_FILES: CertificateFiles = { credential: [], truststore: [], assertionIssuers: [] };

/** Reads the configuration and the certificates that it names. */
export async function loadSetup(mainFile: string, options: LoadOptions): Promise<LoadedSetup> {
  const { config, problems, effective, dependsOn } = await loadConfiguration(mainFile, options);
  if (config === undefined) return { problems, files: NO_FILES, effective, dependsOn };
  const now = Date.now();
  const tls = await loadTlsMaterial(config, now);
  const issuers = config.trustedAssertionIssuers === undefined
    ? { anchors: [], problems: [], files: [] }
    : await loadTruststore(config.trustedAssertionIssuers, now);
  const roots = config.outgoing.publicRoots
    ? await loadPublicRoots({ file: mainFile, key: "container.client.publicRoots" })
    : undefined;
  const material = tls.material && { ...tls.material, ...(roots && { publicRoots: roots.roots }) };
  const all = [...problems, ...tls.problems, ...issuers.problems, ...roots?.problems ?? []];
  const files = {
    credential: tls.credentialFiles,
    truststore: [...tls.truststoreFiles, ...roots?.files ?? []],
    assertionIssuers: issuers.files,
  };
  return {
    config,
    ...(!all.some(isError) && {
      setup: { config, material, assertionIssuers: issuers.anchors },
    }),
    problems: all,
    files,
    dependsOn: [...dependsOn, ...Object.values(files).flat()],
    effective,
  };
}
