/**
 * Reads a JSON object in which, at every depth, each member is given once. Readers differ in which of two members of
 * one name they take; a text that could be read in two ways is not read at all (RFC 7519, 4; RFC 8725, 2.4).
 * @param bytes JSON in UTF-8, without byte order mark.
 * @returns `undefined` if it is anything else.
 */
export function parseJsonObject(bytes: Uint8Array): ReadonlyMap<string, unknown> | undefined {
  let text: string;
  let value: unknown;
  try {
    text = UTF8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return undefined; // not UTF-8, or not JSON
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return repeatsMember(text) ? undefined : new Map(Object.entries(value));
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Whether an object in a valid JSON text has two members of one name, escapes read. */
function repeatsMember(text: string): boolean {
  const open: Set<string>[] = [];
  const token = /("(?:\\.|[^"\\])*")(\s*:)?|[{}]/g;
  for (const [found, string, colon] of text.matchAll(token)) {
    if (found === "{") open.push(new Set());
    else if (found === "}") open.pop();
    else if (string !== undefined && colon !== undefined) {
      const names = open.at(-1);
      const name = string.includes("\\") ? String(JSON.parse(string)) : string.slice(1, -1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}
