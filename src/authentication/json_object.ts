/** Parses a UTF-8 JSON object without repeated members (RFC 7519, 4; RFC 8725, 2.4); or `undefined`. */
export function parseJsonObject(bytes: Uint8Array): ReadonlyMap<string, unknown> | undefined {
  let text: string;
  let value: unknown;
  try {
    text = UTF8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return undefined; // not UTF-8 JSON
  }
  if (!isJsonObject(value)) return undefined;
  return repeatsMember(text) ? undefined : new Map(Object.entries(value));
}

/** Reports whether a JSON value is an object. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reports whether an object in a valid JSON text repeats a member, escapes resolved. */
function repeatsMember(text: string): boolean {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === "{") open.push(new Set());
    else if (sign === "}") open.pop();
    else if (sign === '"') {
      const start = at;
      at = endOfString(text, start);
      if (!isMember(text, at + 1)) continue;
      const names = open.at(-1);
      const written = text.slice(start, at + 1);
      const name = written.includes("\\") ? String(JSON.parse(written)) : written.slice(1, -1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

function isMember(text: string, from: number): boolean {
  let at = from;
  while (" \t\r\n".includes(text.charAt(at)) && at < text.length) at++;
  return text[at] === ":";
}
