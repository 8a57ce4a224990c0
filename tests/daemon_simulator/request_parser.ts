import { LineSplitter } from "./line_splitter.ts";
import { splitOnce, strip } from "./python_text.ts";

/** What the daemon makes of the bytes of a command connection. */
export type ParsedRequest =
  | { readonly kind: "complete"; readonly values: ReadonlyMap<string, string> }
  /** No `END` yet. A real daemon whose peer leaves at this point never accepts a command again. */
  | { readonly kind: "incomplete" }
  /** Not UTF-8: dropped without a reply. */
  | { readonly kind: "undecodable" };

/**
 * Reads a request exactly as the daemon does (daemon-protocol.md 1.4), malicious ones included: it is the oracle of the
 * tests that try to smuggle lines into requests.
 * @param request Bytes or text of one connection, up to its end.
 */
export function parseRequest(request: Uint8Array | string): ParsedRequest {
  const reader = new RequestReader();
  const result = reader.push(typeof request === "string" ? new TextEncoder().encode(request) : request);
  return result.kind === "incomplete" ? reader.end() : result;
}

/** The daemon decodes its input in pieces of this many bytes: bad UTF-8 in a piece after `END` does no harm. */
const PIECE = 8192;

/** Collects a request as its bytes arrive. */
export class RequestReader {
  readonly #splitter = new LineSplitter();
  readonly #lines: string[] = [];

  push(bytes: Uint8Array): ParsedRequest {
    for (let start = 0; start < bytes.length; start += PIECE) {
      const result = this.#take(() => this.#splitter.push(bytes.subarray(start, start + PIECE)));
      if (result.kind !== "incomplete") return result;
    }
    return { kind: "incomplete" };
  }

  /** The peer sends no more; an `END` without line end counts then. */
  end(): ParsedRequest {
    return this.#take(() => this.#splitter.end());
  }

  #take(fill: () => void): ParsedRequest {
    try {
      fill();
    } catch {
      return { kind: "undecodable" };
    }
    for (let line = this.#splitter.next(); line !== undefined && line !== ""; line = this.#splitter.next()) {
      if (line.startsWith("END")) return { kind: "complete", values: interpret(this.#lines) };
      this.#lines.push(strip(line));
    }
    return { kind: "incomplete" };
  }
}

/** The last of several values counts. An indented `END` does not end the reading, but all below it is ignored. */
function interpret(lines: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const line of lines) {
    if (line.startsWith("END")) break;
    const [key, value] = splitOnce(line, "=");
    if (value !== undefined) values.set(key, value);
  }
  return values;
}
