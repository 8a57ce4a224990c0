import type { Logger } from "../../logging/logger.ts";
import { type AttributeSet, NO_ATTRIBUTES } from "../../model/attributes.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import { canonicalDn, InvalidName } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import { formatDiagnostic } from "../../model/diagnostic.ts";
import { httpError } from "../../model/http_error.ts";
import { type WatchedFile, watchFile } from "../../watch/watched_file.ts";
import type { AttributeOrigin, AttributeSource } from "../attribute_source.ts";
import { attributesOfEntry } from "./map_entry.ts";
import { type MapFormat, MAX_MAP_LENGTH, readMapFile } from "./map_file.ts";
import { createMapIndex, type MapIndex, type Matching } from "./map_index.ts";

/** Options of {@link fileAttributeSource}. */
export interface FileSourceOptions {
  readonly name: string;
  readonly file: string;
  readonly matching: Matching;
  readonly format?: MapFormat; // absent: detected at each load
  readonly log: Logger;
  readonly intervalMs?: number; // milliseconds between checks for changes
}

/** Opens and watches a map file (specification 2.3). @throws {InvalidFile} If it is invalid now. */
export async function fileAttributeSource(options: FileSourceOptions): Promise<AttributeSource> {
  const { name, file, matching, format, log, intervalMs } = options;
  const watched = await watchFile(file, async (text) => {
    const index = createMapIndex(matching);
    const take = index.add.bind(index);
    const warnings = await readMapFile(text, { file, take, format });
    for (const warning of warnings) log.warn("map file", { diagnostic: formatDiagnostic(warning) });
    return index;
  }, { log, maxBytes: MAX_MAP_LENGTH, intervalMs });
  return new FileAttributeSource(name, watched);
}

const MAX_ANSWERS = 2048; // cached results per version of the file

class FileAttributeSource implements AttributeSource {
  readonly #watched: WatchedFile<MapIndex>;
  #answers: { readonly of: MapIndex; readonly byName: BoundedMap<string, AttributeSet> } | undefined;

  constructor(readonly name: string, watched: WatchedFile<MapIndex>) {
    this.#watched = watched;
  }

  attributesOf({ dn }: Identity): Promise<AttributeSet> {
    return Promise.try(() => {
      const name = this.#nameOf(dn);
      const index = this.#watched.current;
      if (this.#answers?.of !== index) this.#answers = { of: index, byName: new BoundedMap(MAX_ANSWERS) };
      const known = this.#answers.byName.get(name);
      if (known !== undefined) return known;
      const entry = index.find(name);
      const answer = entry === undefined ? NO_ATTRIBUTES : attributesOfEntry(entry);
      this.#answers.byName.set(name, answer);
      return answer;
    });
  }

  originOf({ dn }: Identity): AttributeOrigin | undefined {
    const entry = this.#watched.current.find(this.#nameOf(dn));
    return entry && { file: this.#watched.path, line: entry.line, key: entry.key };
  }

  #nameOf(dn: string): string {
    try {
      return canonicalDn(dn);
    } catch (error) {
      // An invalid name might match any entry, even a ban.
      if (error instanceof InvalidName) {
        throw httpError("ERR_ATTRIBUTE_SOURCE", `Attribute source ${this.name}: unreadable user name`, error);
      }
      throw error;
    }
  }

  close(): void {
    this.#watched.close();
  }
}
