/** Returns the header that makes a browser save a file under its name, with a UTF-8 form where needed (RFC 6266, RFC 8187). */
export function contentDisposition(name: string): string {
  // deno-lint-ignore no-control-regex
  const clean = name.replace(/[\u0000-\u001f\u007f-\u009f]/g, "");
  const ascii = clean.replace(/[^ -~]/gu, "_");
  const quoted = `attachment; filename="${ascii.replace(/["\\]/g, "\\$&")}"`;
  // Clients decode percent signs in the plain form, some even in quotes.
  return ascii === clean && !/[%"\\]/.test(clean)
    ? quoted
    : `${quoted}; filename*=UTF-8''${extendedValue(clean)}`;
}

/** Percent-encodes all but the `attr-char` of RFC 8187. */
function extendedValue(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
