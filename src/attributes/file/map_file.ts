import {
  type AttributeSet,
  type AttributeValues,
  attributeValues,
  type StandardAttribute,
} from "../../model/attributes.ts";
import { type Diagnostic, InvalidFile } from "../../model/diagnostic.ts";
import { InvalidJson, type JsonMember, type JsonNode, readMembers } from "../../model/json_text.ts";
import { TimeSlicer } from "../../model/time_slicing.ts";
import { InvalidXml, type XmlEvent, XmlReader } from "../../model/xml_text.ts";

/** Entry for one user, or for those matching a pattern. */
export interface MapEntry {
  readonly key: string;
  readonly line: number; // from 1
  readonly attributes: readonly MapAttribute[];
  readonly source: string; // source text for `readMapEntry`
}

/** Attribute as written. */
export interface MapAttribute {
  readonly name: string;
  readonly values: readonly string[];
  readonly line: number;
}

/** Reports a mistake, an error by default. */
export type Report = (
  diagnostic: Omit<Diagnostic, "file" | "severity"> & { readonly severity?: "warning" },
) => void;

/** All other names are extra attributes. */
const NAMES = {
  role: "role",
  xlogin: "xlogin",
  group: "group",
  supplementaryGroups: "supplementaryGroups",
  addOsGroups: "addDefaultGroups",
  queue: "queue",
} as const;

/** Names of standard attributes, for messages. */
export const ATTRIBUTE_NAMES = Object.keys(NAMES);

/** Case-insensitive (credentials.md 7.5). */
const STANDARD_NAMES: ReadonlyMap<string, StandardAttribute> = new Map(
  Object.entries(NAMES).map(([name, standard]) => [name.toLowerCase(), standard]),
);

/** Returns the standard attribute for a name, in upper or lower case. */
export function standardAttribute(name: string): StandardAttribute | undefined {
  return STANDARD_NAMES.get(name.toLowerCase());
}

/** Returns an entry's attributes: the last of repeated standard ones, all values of extra ones. */
export function attributesOfEntry(entry: MapEntry): AttributeSet {
  const standard = new Map<StandardAttribute, AttributeValues>();
  const extra = new Map<string, readonly string[]>();
  for (const { name, values } of entry.attributes) {
    const known = standardAttribute(name);
    if (known === undefined) extra.set(name, [...(extra.get(name) ?? []), ...values]);
    else standard.set(known, attributeValues(known, values));
  }
  return { standard, extra };
}

/** Format, detected by the first character. */
export type MapFormat = "JSON" | "XML";

/** Bytes or characters: twice a map of 100,000 users with all attributes. */
export const MAX_MAP_LENGTH = 64 * 1024 * 1024;

const MAX_DIAGNOSTICS = 100; // reported diagnostics per severity

/** Reads a map file in slices; `take` gets the entries in order. Returns warnings. @throws {InvalidFile} With all errors. */
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
      if (steps.shouldYield) await steps.yield();
    }
  } catch (error) {
    if (!(error instanceof InvalidJson || error instanceof InvalidXml)) throw error;
    const fix = `correct the syntax; see: sed -n ${error.line}p ${file}`;
    report({ line: error.line, expected: error.expected, fix });
  }
  if (errors.length > 0) throw new InvalidFile([...errors, ...warnings]);
  return warnings;
}

/** Parses an entry's text as the map has it: an XML element, or a JSON member. */
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

/** Yields the entries of a JSON map (specification 2.3, variant A). @throws {InvalidJson} */
function* jsonEntries(text: string, report: Report): Generator<MapEntry, void> {
  for (const { name: key, line, value, source } of readMembers(text)) {
    if (value.kind !== "object") {
      report({ line, key, found: describe(value), expected: "expected an object with attributes" });
    } else {
      yield { key, line, source, attributes: value.members.map((member) => attribute(key, member, report)) };
    }
  }
}

function attribute(key: string, { name, line, value }: JsonMember, report: Report): MapAttribute {
  const values: string[] = [];
  for (const item of value.kind === "array" ? value.items : [value]) {
    if (item.kind === "string") values.push(item.text.trim());
    else if (item.kind === "number" && /(?:^|\.)rateLimit$/.test(name)) {
      values.push(item.text);
      const expected = `used as bytes per second, expected a text such as "${item.text}" in quotes`;
      report({
        severity: "warning",
        line: item.line,
        key: `${key}: ${name}`,
        found: describe(item),
        expected,
      });
    } else {
      const expected = item.kind === "number" || item.kind === "boolean"
        ? `expected a text, such as "${item.text}" in quotes`
        : "expected a text or an array of texts";
      report({ line: item.line, key: `${key}: ${name}`, found: describe(item), expected });
    }
  }
  return { name, values, line };
}

function describe(value: JsonNode): string {
  if ("items" in value) return "an array";
  if ("members" in value) return "an object";
  return value.kind === "string" ? "a text" : value.text.slice(0, 50);
}

/**
 * Yields the entries of an XML map (specification 2.3, variant B): `entry` below `fileAttributeSource`,
 * `attribute` and `value` below it. Keys and names are XML attributes or first child elements.
 * @throws {InvalidXml}
 */
function* xmlEntries(text: string): Generator<MapEntry, void> {
  const reader = new XmlReader(text);
  const root = nextTag(reader);
  if (root?.kind !== "open" || root.name !== "fileAttributeSource") {
    throw new InvalidXml("expected the root element fileAttributeSource", root?.line ?? 1);
  }
  const keys = new Set<string>();
  for (let opened = nextOpened(reader); opened; opened = nextOpened(reader)) {
    if (opened.name !== "entry") throw unexpected(opened, "entry");
    const entry = readEntry(reader, opened);
    if (keys.has(entry.key)) {
      throw new InvalidXml(`expected each key once, found ${JSON.stringify(entry.key)} again`, entry.line);
    }
    keys.add(entry.key);
    yield { ...entry, source: text.slice(opened.start, reader.position) };
  }
  nextTag(reader);
}

type Opened = Extract<XmlEvent, { kind: "open" }>;

function readEntry(reader: XmlReader, { attributes: own, line }: Opened): Omit<MapEntry, "source"> {
  let key = own.get("key")?.trim();
  const attributes: MapAttribute[] = [];
  for (let child = nextOpened(reader); child; child = nextOpened(reader)) {
    if (child.name === "key" && key === undefined && attributes.length === 0) key = readText(reader);
    else if (child.name === "attribute") attributes.push(readAttribute(reader, child));
    else throw unexpected(child, "attribute");
  }
  if (key === undefined) throw new InvalidXml("expected an entry with a key", line);
  return { key, line, attributes };
}

function readAttribute(reader: XmlReader, { attributes: own, line }: Opened): MapAttribute {
  let name = own.get("name")?.trim();
  const values: string[] = [];
  for (let child = nextOpened(reader); child; child = nextOpened(reader)) {
    if (child.name === "name" && name === undefined && values.length === 0) name = readText(reader);
    else if (child.name === "value") values.push(readText(reader));
    else throw unexpected(child, "value");
  }
  if (name === undefined) throw new InvalidXml("expected an attribute with a name", line);
  return { name, values, line };
}

/** Returns the next child; `undefined` at the end. The caller must read it to its end. */
function nextOpened(reader: XmlReader): Opened | undefined {
  const tag = nextTag(reader);
  return tag?.kind === "open" ? tag : undefined;
}

function readText(reader: XmlReader): string {
  let text = "";
  for (let event = reader.next(); event?.kind !== "close"; event = reader.next()) {
    if (event?.kind === "text") text += event.text;
    else throw new InvalidXml("expected text only", event?.line ?? 1);
  }
  return text.trim();
}

/** Returns the next tag, with only blanks before it. */
function nextTag(reader: XmlReader): Exclude<XmlEvent, { kind: "text" }> | undefined {
  for (;;) {
    const event = reader.next();
    if (event?.kind !== "text") return event;
    if (event.text.trim() !== "") throw new InvalidXml("expected no text between the elements", event.line);
  }
}

function unexpected({ name, line }: Opened, expected: string): InvalidXml {
  return new InvalidXml(`expected the element ${expected}, found ${name.slice(0, 50)}`, line);
}
