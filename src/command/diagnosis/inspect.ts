import type { EffectiveValue } from "../../config/key_reader.ts";
import { type Diagnostic, isError } from "../../model/diagnostic.ts";
import { type CertificateFiles, loadSnapshot, type Snapshot } from "../../service/assembly/load_snapshot.ts";
import { type DataFiles, inspectDataFiles } from "./inspect_data_files.ts";
import { inspectPlaces } from "./inspect_places.ts";
import { SURROUNDINGS } from "../surroundings.ts";

/** Result of reading a configuration without starting anything. */
export interface Inspection {
  readonly snapshot?: Snapshot; // absent after an error: the service would not start
  readonly diagnostics: readonly Diagnostic[]; // in the order of the files, the main file first
  readonly files: CertificateFiles;
  /** Absolute paths of all files that the configuration names, as far as known. */
  readonly dependsOn: readonly string[];
  readonly effective: readonly EffectiveValue[];
}

const NOTHING: DataFiles = {
  authentication: { authenticators: [] },
  attributes: { sources: [] },
  dynamicAttributes: { sources: [] },
  servers: [],
};

/** Reads and cross-checks the configuration and its files. Changes nothing. */
export async function inspect(mainFile: string, surroundings = SURROUNDINGS): Promise<Inspection> {
  const loaded = await loadSnapshot(mainFile, surroundings);
  const { snapshot, readable, serverNames, unreadable, files, effective, dependsOn } = loaded;
  const found = await inspectDataFiles({ ...NOTHING, ...readable, serverNames });
  const diagnostics = [...loaded.diagnostics, ...found.filter(({ file }) => !unreadable.includes(file))];
  return diagnostics.some(isError) || snapshot === undefined
    ? { diagnostics, files, effective, dependsOn }
    : { snapshot, diagnostics, files, effective, dependsOn };
}

/**
 * Inspects the configuration, its files, directories and listen addresses. `check`, `serve` and reload share it, so that
 * they agree.
 * @param options See `inspectPlaces()`.
 */
export async function inspectStart(
  mainFile: string,
  surroundings = SURROUNDINGS,
  options: Parameters<typeof inspectPlaces>[1] = {},
): Promise<Inspection> {
  const { snapshot, ...found } = await inspect(mainFile, surroundings);
  if (snapshot === undefined) return found;
  const places = await inspectPlaces({ snapshot, effective: found.effective }, options);
  const diagnostics = [...found.diagnostics, ...places];
  return places.some(isError) ? { ...found, diagnostics } : { ...found, snapshot, diagnostics };
}
