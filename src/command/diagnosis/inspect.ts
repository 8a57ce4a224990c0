import type { EffectiveValue } from "../../config/key_reader.ts";
import { isError, type Problem } from "../../model/problem.ts";
import { type CertificateFiles, loadSetup, type Setup } from "../../service/assembly/load_setup.ts";
import { type DataFiles, inspectDataFiles } from "./inspect_data_files.ts";
import { inspectPlaces } from "./inspect_places.ts";
import { SURROUNDINGS } from "../surroundings.ts";

/** All that can be said about a configuration without starting anything. */
export interface Inspection {
  /** Absent if there is an error among the problems: the service would not start. */
  readonly setup?: Setup;
  /** In the order of the files, the main file first. */
  readonly problems: readonly Problem[];
  readonly files: CertificateFiles;
  /** All files that were read, or would have been; absolute, as far as they could be told. */
  readonly dependsOn: readonly string[];
  /** The value of every key, as far as it could be read. */
  readonly effective: readonly EffectiveValue[];
}

/** Of what could not be read there are no files. */
const NOTHING: DataFiles = {
  authentication: { methods: [] },
  attributes: { sources: [] },
  dynamicAttributes: { sources: [] },
  servers: [],
};

/**
 * Reads the configuration and every file that it names, and looks across them. Changes nothing.
 */
export async function inspect(mainFile: string, surroundings = SURROUNDINGS): Promise<Inspection> {
  const loaded = await loadSetup(mainFile, surroundings);
  const { setup, readable, serverNames, unreadable, files, effective, dependsOn } = loaded;
  const found = await inspectDataFiles({ ...NOTHING, ...readable, serverNames });
  const problems = [...loaded.problems, ...found.filter(({ file }) => !unreadable.includes(file))];
  return problems.some(isError) || setup === undefined
    ? { problems, files, effective, dependsOn }
    : { setup, problems, files, effective, dependsOn };
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
  const { setup, ...found } = await inspect(mainFile, surroundings);
  if (setup === undefined) return found;
  const places = await inspectPlaces({ setup, effective: found.effective }, options);
  const problems = [...found.problems, ...places];
  return places.some(isError) ? { ...found, problems } : { ...found, setup, problems };
}
