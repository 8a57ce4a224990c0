import { loadConfiguration, type LoadOptions } from "../../config/load.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import { loadTlsMaterial } from "../../config/tls/load_tls_material.ts";
import { loadPublicRoots, loadTruststore } from "../../config/tls/truststore.ts";
import { type Diagnostic, isError } from "../../model/diagnostic.ts";
import { KINDS } from "../kinds.ts";
import type { ServiceOptions } from "./service_options.ts";

/** Valid configuration with its certificates. */
export type Snapshot = Pick<ServiceOptions, "config" | "material" | "assertionIssuers">;

/** Files and folders of certificates to watch, by store. */
export type CertificateFiles = Awaited<ReturnType<typeof loadSnapshot>>["files"];

/** Reads the service's certificates and those that verify clients, daemons and providers. */
export async function loadCertificates(config: Partial<ServiceConfig>, mainFile: string) {
  const tls = await loadTlsMaterial(config, Date.now());
  const roots = config.outgoing?.publicRoots === true
    ? await loadPublicRoots({ file: mainFile, key: "container.client.publicRoots" })
    : undefined;
  return {
    material: tls.material && { ...tls.material, publicRoots: roots?.roots },
    diagnostics: [...tls.diagnostics, ...roots?.diagnostics ?? []],
    files: { ...tls.files, truststore: [...tls.files.truststore, ...roots?.files ?? []] },
  };
}

/** Reads the configuration and its certificates, even with errors. */
export async function loadSnapshot(
  mainFile: string,
  options: Omit<LoadOptions, "kinds"> & Partial<Pick<LoadOptions, "kinds">>,
) {
  const loaded = await loadConfiguration(mainFile, { kinds: KINDS, ...options });
  const { config, readable, diagnostics, dependsOn } = loaded;
  const certificates = await loadCertificates(readable, mainFile);
  const issuers = readable.trustedAssertionIssuers === undefined
    ? { anchors: [], diagnostics: [], files: [] }
    : await loadTruststore(readable.trustedAssertionIssuers, Date.now());
  const reported = new Set(diagnostics.filter(isError).map(placeOf));
  const further = [...certificates.diagnostics, ...issuers.diagnostics];
  const all = [...diagnostics, ...further.filter((diagnostic) => !reported.has(placeOf(diagnostic)))];
  // They may be absent.
  const reservations = (readable.servers ?? []).flatMap(({ reservations }) => reservations?.file ?? []);
  const files = { ...certificates.files, assertionIssuers: issuers.files };
  return {
    ...loaded,
    snapshot: config && !all.some(isError)
      ? { config, material: certificates.material, assertionIssuers: issuers.anchors }
      : undefined,
    diagnostics: all,
    files,
    dependsOn: [...dependsOn, ...Object.values(files).flat(2), ...reservations],
  };
}

/** Key for one error per place; others usually follow from it. */
function placeOf({ file, line, key }: Diagnostic): string {
  return JSON.stringify([file, line, key]);
}
