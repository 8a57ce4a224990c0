import { Buffer } from "node:buffer";
import type { Body, HeaderList } from "../../../model/http_message.ts";
import { invalidRequest } from "../../../model/http_error.ts";
import { contentLength } from "./upload_range.ts";

const MAX_PARTS = 1000; // with empty fields
const MAX_FIELDS = 10;
const MAX_HEAD = 8 * 1024;

const MAX_BOUNDARY_LENGTH = 70; // RFC 2046, 5.1.1

interface FormFile {
  readonly name: string; // as the browser names it, with directories if a directory was chosen
  readonly body: ReadableStream<Uint8Array>; // must be consumed before the next file
  readonly fields: ReadonlyMap<string, string>; // text of the preceding fields; the last of equal names
  readonly left: number | undefined; // bytes that may still arrive, if the length of the form is known
}

/** Yields the files of a `multipart/form-data` body (RFC 7578) as they arrive. @throws {ERR_INVALID_REQUEST} */
export async function* formFiles(headers: HeaderList, body: Body): AsyncGenerator<FormFile, void> {
  const reader = new PartReader(headers, body);
  try {
    await reader.textUpTo("the first part");
    const fields = new Map<string, string>();
    for (let parts = 0; await reader.hasNext(); parts++) {
      if (parts === MAX_PARTS) throw invalidRequest(`Expected at most ${MAX_PARTS} files`);
      const { field, file } = namesIn(await reader.head());
      if (file) yield { name: file, body: reader.body(), fields, left: reader.left };
      else {
        const text = await reader.textUpTo("the end of a field");
        if (fields.size < MAX_FIELDS && file === undefined && field !== undefined) fields.set(field, text);
      }
    }
  } finally {
    await reader.cancel();
  }
}

function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /;[ \t]*boundary=(?:"([^"\\]+)"|([^\s;,"]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined || boundary.length > MAX_BOUNDARY_LENGTH) {
    throw invalidRequest(`Content-Type: expected a boundary of at most ${MAX_BOUNDARY_LENGTH} characters`);
  }
  return boundary;
}

/** Browsers encode quotes and line ends as `%22`, `%0D`, `%0A` (HTML standard, 4.10.21.8). */
function namesIn(head: string): { readonly field: string | undefined; readonly file: string | undefined } {
  const line = head.split("\r\n").find((each) => /^content-disposition:/i.test(each)) ?? "";
  const field = /; name="([^"]*)"/i.exec(line)?.[1];
  const file = /; filename="([^"]*)"/i.exec(line)?.[1];
  return { field, file: file?.replaceAll("%22", '"') };
}

class PartReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #delimiter: Buffer;
  #ahead: number; // unread bytes, if known
  /** Unconsumed input; begins with a line end so that the first boundary needs no special case. */
  #rest: Buffer = Buffer.from("\r\n");

  constructor(headers: HeaderList, body: Body) {
    this.#delimiter = Buffer.from(`\r\n--${boundaryOf(headers.get("Content-Type") ?? "")}`);
    this.#ahead = contentLength(headers) ?? NaN;
    this.#reader = (body instanceof Uint8Array ? new Blob([body]).stream() : body)?.getReader();
  }

  /** Unconsumed bytes without the last delimiter and its line end. */
  get left(): number | undefined {
    const left = this.#ahead + this.#rest.length - this.#delimiter.length - 4;
    return left >= 0 ? left : undefined;
  }

  async hasNext(): Promise<boolean> {
    while (this.#rest.length < 2) await this.#more();
    const next = this.#rest.toString("latin1", 0, 2);
    this.#rest = this.#rest.subarray(2);
    if (next !== "\r\n" && next !== "--") throw invalidRequest("The form is not multipart/form-data");
    return next === "\r\n";
  }

  async head(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf("\r\n\r\n");
      const sure = end >= 0 ? end : this.#rest.length - 3;
      if (sure > MAX_HEAD) throw invalidRequest("The head of a file in the form is too long");
      if (end >= 0) {
        const head = this.#rest.toString("utf-8", 0, end);
        this.#rest = this.#rest.subarray(end + 4);
        return head;
      }
      await this.#more();
    }
  }

  async textUpTo(what: string): Promise<string> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for (let piece = await this.#piece(); piece !== undefined; piece = await this.#piece()) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > MAX_HEAD) throw invalidRequest(`The form has too much before ${what}`);
    }
    return Buffer.concat(pieces).toString();
  }

  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const piece = await this.#piece();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    }, { highWaterMark: 0 });
  }

  async cancel(): Promise<void> {
    await this.#reader?.cancel().catch(() => {}); // no reader is left for an error of the source
  }

  /** Returns bytes before the next boundary; `undefined` after consuming the boundary. */
  async #piece(): Promise<Uint8Array | undefined> {
    for (;;) {
      const at = this.#rest.indexOf(this.#delimiter);
      const sure = at >= 0 ? at : this.#rest.length - this.#delimiter.length;
      if (sure > 0) {
        const piece = new Uint8Array(this.#rest.subarray(0, sure));
        this.#rest = this.#rest.subarray(sure);
        return piece;
      }
      if (at === 0) {
        this.#rest = this.#rest.subarray(this.#delimiter.length);
        return undefined;
      }
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#reader?.read() ?? { value: undefined, done: true };
    if (done || value === undefined) throw invalidRequest("The form ends in the middle");
    this.#ahead -= value.length;
    this.#rest = this.#rest.length === 0 ? Buffer.from(value) : Buffer.concat([this.#rest, value]);
  }
}
