import { canonicalDn, InvalidName, patternForm } from "../../model/distinguished_name.ts";
import { LinearPattern } from "./linear_pattern.ts";
import { attributesOfEntry, type MapEntry, type Report } from "./map_entry.ts";
import { readMapEntry } from "./map_file.ts";
import { InvalidPattern } from "./pattern_syntax.ts";

/** Keys as names, or as patterns for the pattern form of names. */
export type Matching = "strict" | "regexp";

/** Index of a map file. Keeps only source text: 100,000 objects take ten times the memory. */
export interface MapIndex {
  add(entry: MapEntry, report: Report): void; // adds the next entry; reports and skips an invalid key
  /** @param name Canonical DN. */
  find(name: string): MapEntry | undefined;
}

type Kept = Pick<MapEntry, "source" | "line">;

/** Parses the entry; attribute lines count from its own. */
function readAgain({ source, line }: Kept): MapEntry | undefined {
  const entry = readMapEntry(source);
  return entry && { ...entry, line };
}

/** Creates an empty index. */
export function createMapIndex(matching: Matching): MapIndex {
  return matching === "strict" ? new NameIndex() : new PatternIndex();
}

/** Index by name; the last entry of a name wins. */
class NameIndex implements MapIndex {
  readonly #entries = new Map<string, Kept>();

  add({ key, line, source }: MapEntry, report: Report): void {
    try {
      const name = canonicalDn(key);
      const earlier = this.#entries.get(name);
      if (earlier !== undefined) {
        const expected = `expected each name once; line ${earlier.line} names the same user and is not used`;
        report({ severity: "warning", line, key, expected });
      }
      this.#entries.set(name, { line, source });
    } catch (error) {
      if (!(error instanceof InvalidName)) throw error;
      const expected = `expected a distinguished name: ${error.reason} (at character ${error.position})`;
      report({ line, key: key.slice(0, 200), expected });
    }
  }

  find(name: string): MapEntry | undefined {
    const kept = this.#entries.get(name);
    return kept && readAgain(kept);
  }
}

/** Warning for a wildcard that can match beyond a value. */
const CROSSING = {
  expected: "a wildcard in it matches further parts of a name as well, such as an OU in between",
  fix: "Write [^,+]* in place of .* wherever one value is meant.",
};

/** List of patterns; the first match wins. */
class PatternIndex implements MapIndex {
  readonly #entries: (readonly [LinearPattern, Kept])[] = [];

  add(entry: MapEntry, report: Report): void {
    const { key, line, source } = entry;
    try {
      const pattern = new LinearPattern(key);
      this.#entries.push([pattern, { line, source }]);
      if (
        pattern.crossesParts && !attributesOfEntry(entry).standard.get("role")?.allowed.includes("banned")
      ) {
        report({ severity: "warning", line, key: key.slice(0, 200), ...CROSSING });
      }
    } catch (error) {
      if (!(error instanceof InvalidPattern)) throw error;
      report({ line, key: key.slice(0, 200), expected: error.message });
    }
  }

  find(name: string): MapEntry | undefined {
    const text = patternForm(name);
    const kept = this.#entries.find(([pattern]) => pattern.matches(text))?.[1];
    return kept && readAgain(kept);
  }
}
