const ENCODER = new TextEncoder();

/** A complete answer of known length. */
export function textResponse(text: string, type: string, init: ResponseInit = {}): Response {
  const bytes = ENCODER.encode(text);
  const headers = new Headers(init.headers);
  headers.set("Content-Type", type);
  headers.set("Content-Length", String(bytes.length));
  return new Response(bytes, { ...init, headers });
}

/** JSON as stock clients read it. */
export function jsonResponse(
  value: unknown,
  init: ResponseInit & { readonly indent?: number } = {},
): Response {
  return textResponse(JSON.stringify(value, undefined, init.indent), "application/json", init);
}
