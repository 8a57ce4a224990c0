import { InvalidXml, type XmlEvent, XmlReader } from "../../model/xml_text.ts";
import type { MapAttribute, MapEntry } from "./map_entry.ts";

/**
 * Yields the entries of an XML map (specification 2.3, variant B): `entry` below `fileAttributeSource`,
 * `attribute` and `value` below it. Keys and names are XML attributes or first child elements.
 * @throws {InvalidXml}
 */
export function* xmlEntries(text: string): Generator<MapEntry, void> {
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
