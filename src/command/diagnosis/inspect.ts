import type { EffectiveValue } from "../../config/key_reader.ts";
import { type Diagnostic, isError } from "../../model/diagnostic.ts";
import { type CertificateFiles, loadSnapshot, type Snapshot } from "../../service/assembly/load_snapshot.ts";
import { type DataFiles, inspectDataFiles } from "./inspect_data_files.ts";
import { inspectPlaces } from "./inspect_places.ts";
import { SURROUNDINGS } from "../surroundings.ts";

/** All that can be said about a configuration without starting anything. */
export interface Inspection {
  /** Absent if there is an error among the problems: the service would not start. */
  readonly snapshot?: Snapshot;
  /** In the order of the files, the main file first. */
  readonly diagnostics: readonly Diagnostic[];
  readonly files: CertificateFiles;
  /** All files that were read, or would have been; absolute, as far as they could be told. */
  readonly dependsOn: readonly string[];
  /** The value of every key, as far as it could be read. */
  readonly effective: readonly EffectiveValue[];
}

/** Of what could not be read there are no files. */
const NOTHING: DataFiles = {
  authentication: { authenticators: [] },
  attributes: { sources: [] },
  dynamicAttributes: { sources: [] },
  servers: [],
};

/**
 * Reads the configuration and every file that it names, and looks across them. Changes nothing.
 */
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
 * Inspects the configuration, its files, and the places that the service writes to and listens on. `check` shows the
 * outcome, `serve` and a reload start from it, so that they cannot judge differently.
 * @param options How the places are inspected, see `inspectPlaces()`.
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
