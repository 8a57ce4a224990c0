import type { ClientCertificate } from "./credentials.ts";

export type WholeBody = Uint8Array<ArrayBuffer> | null;

/** Body: empty, complete or streamed. A stream reads its source only on demand. */
export type Body = WholeBody | ReadableStream<Uint8Array>;

/** HTTP request between edge and resource. */
export interface HttpRequest extends RequestTarget {
  readonly method: string;
  readonly headers: HeaderList;
  readonly client: Peer;
  readonly body: Body;
}

/** HTTP response between resource and edge. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Body | string;
}

/** Request handler. The signal aborts when the client disconnects; a rejection is a defect, which the caller logs. */
export type Handler = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;

export interface Peer {
  readonly address: string; // canonical, see `canonicalAddress`
  readonly certificate?: ClientCertificate; // verified against the truststore
  readonly unusableCertificate?: string; // reason for the log why a presented certificate was ignored
  readonly untrustedCertificate?: string; // likewise, if no authority vouches for it: it counts as absent
}

/** Parsed request target (RFC 9112, 3.2.1). */
export interface RequestTarget {
  readonly path: string; // begins with a slash; percent-encodings unchanged
  readonly query: string; // text after the first `?`
}

/**
 * Parses a target in origin form; `undefined` for targets that a proxy, URL parser or file system could read
 * differently: dot segments (also encoded), backslashes, empty segments, fragments and invalid characters.
 */
export function readTarget(target: string): RequestTarget | undefined {
  if (!/^\/[!-~]*$/.test(target) || target.includes("#")) return undefined;
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  if (path.includes("\\") || path.includes("//")) return undefined;
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) return undefined;
  return { path, query: mark === -1 ? "" : target.slice(mark + 1) };
}

/** Header fields as alternating names and values, as in `node:http` and between workers. Cheaper than `Headers`. */
export class HeaderList {
  constructor(readonly fields: string[] = []) {}

  static of(fields: Readonly<Record<string, string>>): HeaderList {
    const list = new HeaderList();
    for (const [name, value] of Object.entries(fields)) list.fields.push(name, checked(name, value));
    return list;
  }

  get(name: string): string | null {
    const first = this.#find(name);
    if (first === -1) return null;
    let value = this.fields[first + 1] ?? "";
    for (let at = first; (at = this.#find(name, at + 2)) !== -1;) value += `, ${this.fields[at + 1]}`;
    return value;
  }

  has(name: string): boolean {
    return this.#find(name) !== -1;
  }

  set(name: string, value: string): void {
    this.delete(name);
    this.fields.push(name, checked(name, value));
  }

  /** @throws {TypeError} If the value contains a line end, which could inject fields. */
  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  /** Adds a separate field, as `Set-Cookie` needs (RFC 9110, 5.3). @throws {TypeError} As {@link append}. */
  add(name: string, value: string): void {
    this.fields.push(name, checked(name, value));
  }

  delete(name: string): void {
    for (let at = 0; (at = this.#find(name, at)) !== -1;) this.fields.splice(at, 2);
  }

  #find(name: string, from = 0): number {
    const { fields } = this;
    for (let at = from; at < fields.length; at += 2) {
      const field = fields[at];
      if (field?.length !== name.length) continue;
      if (field === name || field.toLowerCase() === name.toLowerCase()) return at;
    }
    return -1;
  }
}

function checked(name: string, value: string): string {
  if (/[\0\r\n]/.test(value)) throw new TypeError(`NUL, CR or LF in a value of ${name}`);
  return value;
}
