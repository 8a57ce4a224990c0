import { type JsonMember, type JsonNode, readMembers } from "../../model/json_text.ts";
import type { MapAttribute, MapEntry, Report } from "./map_entry.ts";

/** Yields the entries of a JSON map (specification 2.3, variant A). @throws {InvalidJson} */
export function* jsonEntries(text: string, report: Report): Generator<MapEntry, void> {
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
      const expected = `counts as bytes per second, expected a text such as "${item.text}" in quotes`;
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
  switch (value.kind) {
    case "number":
    case "boolean":
    case "null":
      return value.text.slice(0, 50);
    case "string":
      return "a text";
    case "array":
      return "an array";
    case "object":
      return "an object";
  }
}
