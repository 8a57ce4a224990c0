/** Parses a UTF-8 JSON object without repeated members (RFC 7519, 4; RFC 8725, 2.4); or `undefined`. */
export function parseJsonObject(bytes: Uint8Array): ReadonlyMap<string, unknown> | undefined {
  let members = -1; // the whole value counts as one
  const count = function (this: unknown, _name: string, value: unknown) {
    if (!Array.isArray(this)) members++;
    return value;
  };
  let text: string;
  let value: unknown;
  try {
    text = UTF8.decode(bytes);
    value = JSON.parse(text, count);
  } catch {
    return undefined; // not UTF-8 JSON
  }
  return isJsonObject(value) && members === writtenMembers(text) ? new Map(Object.entries(value)) : undefined;
}

/** Reports whether a JSON value is an object: no array, no `null`. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether a JSON value is a list of texts, which may be empty. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Counts the members in a valid JSON text, including repeated ones, of which the parsed value has only the last. */
function writtenMembers(text: string): number {
  let count = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') isQuoted = !isQuoted;
    else if (sign === "\\") at++;
    else if (sign === ":" && !isQuoted) count++;
  }
  return count;
}
