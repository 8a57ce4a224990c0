import { LineSplitter } from "./line_splitter.ts";
import { splitOnce, strip } from "./python_text.ts";

/** Result of the daemon's parser for the bytes of a command connection. */
export type ParsedRequest =
  | { readonly kind: "complete"; readonly values: ReadonlyMap<string, string> }
  /** No `END` yet. A real daemon whose peer leaves at this point never accepts a command again. */
  | { readonly kind: "incomplete" }
  /** Not UTF-8: dropped without a reply. */
  | { readonly kind: "undecodable" };

/**
 * Reads a request, even a malicious one, exactly as the daemon does (daemon-protocol.md 1.4). It is the
 * oracle of the tests that try to inject lines into requests.
 * @param request Bytes or text of one connection, up to its end.
 */
export function parseRequest(request: Uint8Array | string): ParsedRequest {
  const reader = new RequestReader();
  const result = reader.push(typeof request === "string" ? new TextEncoder().encode(request) : request);
  return result.kind === "incomplete" ? reader.end() : result;
}

/** Bytes that the daemon decodes at a time: invalid UTF-8 in a piece after `END` does no harm. */
const PIECE = 8192;

/** Reader of a request whose bytes arrive in pieces. */
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

  /** Ends the input; an `END` without line end is then complete. */
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

/** Returns the values; the last value of a key wins. An indented `END` ends the values, not the request. */
function interpret(lines: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const line of lines) {
    if (line.startsWith("END")) break;
    const [key, value] = splitOnce(line, "=");
    if (value !== undefined) values.set(key, value);
  }
  return values;
}
