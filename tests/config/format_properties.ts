/** Writes entries so that Java reads them back as they are. */
export function formatProperties(entries: readonly (readonly [key: string, value: string])[]): string {
  return entries.map(([key, value]) => `${escapeKey(key)}=${escapeValue(value)}\n`).join("");
}

function escapeKey(key: string): string {
  return escape(key).replace(/[ :=#!]/g, "\\$&");
}

function escapeValue(value: string): string {
  return escape(value).replace(/^ /, "\\ ");
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replace(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
