import { InvalidJson } from "../../model/json_text.ts";
import { type Diagnostic, InvalidFile } from "../../model/diagnostic.ts";
import { TimeSlicer } from "../../model/time_slicing.ts";
import { InvalidXml } from "../../model/xml_text.ts";
import { jsonEntries } from "./json_map.ts";
import type { MapEntry, Report } from "./map_entry.ts";
import { xmlEntries } from "./xml_map.ts";

/** Format, detected by the first character. */
export type MapFormat = "JSON" | "XML";

/** Bytes or characters: twice a map of 100,000 users with all attributes. */
export const MAX_MAP_LENGTH = 64 * 1024 * 1024;

const MAX_DIAGNOSTICS = 100; // reported diagnostics per severity

/**
 * Reads a map file in slices; `take` gets the entries in order. Returns warnings.
 * @throws {InvalidFile} With all errors.
 */
export async function readMapFile(
  text: string,
  { file, format, take }: {
    readonly file: string;
    readonly format?: MapFormat;
    readonly take: (entry: MapEntry, report: Report) => void;
  },
): Promise<readonly Diagnostic[]> {
  const errors: Diagnostic[] = [];
  const warnings: Diagnostic[] = [];
  const report: Report = (diagnostic) => {
    const list = diagnostic.severity === "warning" ? warnings : errors;
    if (list.length < MAX_DIAGNOSTICS) list.push({ severity: "error", file, ...diagnostic });
  };
  try {
    const steps = new TimeSlicer();
    for (const entry of entriesOf(text, format, report)) {
      take(entry, report);
      if (steps.isLong) await steps.rest();
    }
  } catch (error) {
    if (!(error instanceof InvalidJson || error instanceof InvalidXml)) throw error;
    report({ line: error.line, expected: error.expected });
  }
  if (errors.length > 0) throw new InvalidFile([...errors, ...warnings]);
  return warnings;
}

/** Parses an entry's source text. */
export function readMapEntry(source: string): MapEntry | undefined {
  const entries = source.startsWith("<")
    ? xmlEntries(`<fileAttributeSource>${source}</fileAttributeSource>`)
    : jsonEntries(`{${source}}`, () => {});
  return entries.next().value ?? undefined;
}

function entriesOf(text: string, format: MapFormat | undefined, report: Report): Iterable<MapEntry> {
  if (text.length > MAX_MAP_LENGTH) {
    report({ expected: `expected at most ${MAX_MAP_LENGTH} characters` });
    return [];
  }
  const first = /^\ufeff?\s*(\S?)/.exec(text)?.[1];
  switch (format ?? (first === "{" ? "JSON" : first === "<" ? "XML" : undefined)) {
    case "JSON":
      return jsonEntries(text, report);
    case "XML":
      return xmlEntries(text);
    default:
      report({ line: 1, expected: "expected JSON, beginning with {, or XML, beginning with <" });
      return [];
  }
}
