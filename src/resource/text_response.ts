const ENCODER = new TextEncoder();

/** An answer that is complete from the start; who sends it on need not read the body stream to have it. */
export class WholeResponse extends Response {
  constructor(readonly content: Uint8Array<ArrayBuffer>, init: ResponseInit) {
    super(content, init);
  }
}

/** A complete answer of known length. */
export function textResponse(text: string, type: string, init: ResponseInit = {}): WholeResponse {
  const bytes = ENCODER.encode(text);
  const headers = new Headers(init.headers);
  headers.set("Content-Type", type);
  headers.set("Content-Length", String(bytes.length));
  return new WholeResponse(bytes, { ...init, headers });
}

/** JSON as stock clients read it. */
export function jsonResponse(
  value: unknown,
  init: ResponseInit & { readonly indent?: number } = {},
): Response {
  return textResponse(JSON.stringify(value, undefined, init.indent), "application/json", init);
}
