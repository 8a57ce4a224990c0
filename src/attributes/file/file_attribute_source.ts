import { attempt } from "../../model/attempt.ts";
import { canonicalDn, InvalidName, patternForm } from "../../model/distinguished_name.ts";
import { InvalidPattern, LinearPattern } from "./linear_pattern.ts";
import {
  attributesOfEntry,
  type MapEntry,
  type MapFormat,
  MAX_MAP_LENGTH,
  readMapEntry,
  readMapFile,
  type Report,
} from "./map_file.ts";
import type { Logger } from "../../logging/logger.ts";
import { type AttributeSet, NO_ATTRIBUTES } from "../../model/attributes.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import type { Identity } from "../../model/identity.ts";
import { formatDiagnostic } from "../../model/diagnostic.ts";
import { httpError } from "../../model/http_error.ts";
import { type WatchedFile, watchFile } from "../../watch/watched_file.ts";
import type { WrittenName } from "../../config/kind.ts";
import type { AttributeSource } from "../attribute_source.ts";

/** Keys as names, or as patterns for the pattern form of names. */
export type Matching = "strict" | "regexp";

/** Index of a map file. Keeps only source text: 100,000 objects take ten times the memory. */
interface MapIndex {
  add(entry: MapEntry, report: Report): void; // adds the next entry; reports and skips an invalid key
  /** @param name Canonical DN. */
  find(name: string): MapEntry | undefined;
}

type EntrySource = Pick<MapEntry, "source" | "line">;

/** Parses an entry again; the lines of its attributes count from the start of its text. */
function reparse({ source, line }: EntrySource): MapEntry | undefined {
  const entry = readMapEntry(source);
  return entry && { ...entry, line };
}

/** Creates an empty index. */
export function createMapIndex(matching: Matching): MapIndex {
  return matching === "strict" ? new NameIndex() : new PatternIndex();
}

/** Index by name; the last entry of a name wins. */
class NameIndex implements MapIndex {
  readonly #entries = new Map<string, EntrySource>();

  add({ key, line, source }: MapEntry, report: Report): void {
    const name = attempt(() => canonicalDn(key), InvalidName, ({ reason, position }) => {
      const expected = `expected a distinguished name: ${reason} (at character ${position})`;
      report({ line, key: key.slice(0, 200), expected });
    });
    if (name === undefined) return;
    const earlier = this.#entries.get(name);
    if (earlier !== undefined) {
      const expected = `expected each name once; line ${earlier.line} names the same user and is not used`;
      report({ severity: "warning", line, key, expected });
    }
    this.#entries.set(name, { line, source });
  }

  find(name: string): MapEntry | undefined {
    const entry = this.#entries.get(name);
    return entry && reparse(entry);
  }
}

/** Warning for a wildcard that can match beyond a value. */
const BROAD_WILDCARD = {
  expected: "a wildcard in it matches further parts of a name as well, such as an OU in between",
  fix: "Write [^,+]* in place of .* wherever one value is meant.",
};

/** List of patterns; the first match wins. */
class PatternIndex implements MapIndex {
  readonly #entries: (readonly [LinearPattern, EntrySource])[] = [];

  add(entry: MapEntry, report: Report): void {
    const { key, line, source } = entry;
    const excerpt = key.slice(0, 200);
    const pattern = attempt(() => new LinearPattern(key), InvalidPattern, ({ message }) => {
      report({ line, key: excerpt, expected: message });
    });
    if (pattern === undefined) return;
    this.#entries.push([pattern, { line, source }]);
    const isBan = attributesOfEntry(entry).standard.get("role")?.allowed.includes("banned");
    if (pattern.spansParts && !isBan) report({ severity: "warning", line, key: excerpt, ...BROAD_WILDCARD });
  }

  find(name: string): MapEntry | undefined {
    const text = patternForm(name);
    const entry = this.#entries.find(([pattern]) => pattern.matches(text))?.[1];
    return entry && reparse(entry);
  }
}

/** Opens and watches a map file (specification 2.3). @throws {InvalidFile} If it is invalid now. */
export async function fileAttributeSource(
  { name, file, matching, format, log, intervalMs }: {
    readonly name: string;
    readonly file: string;
    readonly matching: Matching;
    readonly format?: MapFormat; // absent: detected at each load
    readonly log: Logger;
    readonly intervalMs?: number; // milliseconds between checks for changes
  },
): Promise<AttributeSource> {
  const watched = await watchFile(file, async (text) => {
    const index = createMapIndex(matching);
    const warnings = await readMapFile(text, { file, take: index.add.bind(index), format });
    for (const warning of warnings) log.warn("map file", { diagnostic: formatDiagnostic(warning) });
    return index;
  }, { log, maxBytes: MAX_MAP_LENGTH, intervalMs });
  return new FileAttributeSource(name, watched);
}

const MAX_ANSWERS = 2048; // cached results per version of the file

class FileAttributeSource implements AttributeSource {
  #answers: { readonly of: MapIndex; readonly byName: BoundedMap<string, AttributeSet> } | undefined;

  constructor(readonly name: string, readonly watched: WatchedFile<MapIndex>) {}

  attributesOf({ dn }: Identity): Promise<AttributeSet> {
    return Promise.try(() => {
      const name = this.#nameOf(dn);
      const index = this.watched.current;
      if (this.#answers?.of !== index) this.#answers = { of: index, byName: new BoundedMap(MAX_ANSWERS) };
      return this.#answers.byName.getOrInsertComputed(name, () => {
        const entry = index.find(name);
        return entry === undefined ? NO_ATTRIBUTES : attributesOfEntry(entry);
      });
    });
  }

  originOf({ dn }: Identity): WrittenName | undefined {
    const entry = this.watched.current.find(this.#nameOf(dn));
    return entry && { file: this.watched.path, line: entry.line, key: entry.key };
  }

  #nameOf(dn: string): string {
    return attempt(() => canonicalDn(dn), InvalidName, (error) => {
      // An invalid name might match any entry, even a ban.
      throw httpError("ERR_USER_ATTRIBUTE", `Attribute source ${this.name}: unreadable user name`, error);
    });
  }

  close(): void {
    this.watched.close();
  }
}
