import type { Buffer } from "node:buffer";
import { type Message, MessageParser, type MessageResponse } from "ldapts";

/** Error for bytes that are no LDAP response. */
export class InvalidLdapMessage extends Error {
  override readonly name = "InvalidLdapMessage";
}

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const OCTETS = 0x04;
const BOOLEAN = 0x01;
const ENUMERATED = 0x0a;
const CONTROLS = 0xa0;
const ENTRY = 0x64;
const REFERENCE = 0x73;
const RESULTS: readonly number[] = [0x61, 0x65, 0x78]; // bind, end of search, extended

/** Elements (X.690, 8.1) of a range of bytes. @throws {InvalidLdapMessage} */
class Elements {
  tag = 0;

  constructor(readonly bytes: Buffer, public at: number, readonly end: number) {}

  get more(): boolean {
    return this.at < this.end;
  }

  /** Steps over an element and returns its content. @param tag Absent: any. */
  next(tag?: number): Elements {
    const header = headerOf(this.bytes.subarray(this.at, this.end));
    const start = this.at + (header?.size ?? 0);
    this.tag = this.bytes[this.at] ?? 0;
    if (header === undefined || (tag !== undefined && this.tag !== tag) || header.length > this.end - start) {
      throw new InvalidLdapMessage("the message is not well-formed");
    }
    this.at = start + header.length;
    return new Elements(this.bytes, start, this.at);
  }

  /** Steps over all elements and calls `check` with the content of each. */
  each(tag?: number, check: (content: Elements) => void = () => {}): void {
    while (this.more) check(this.next(tag));
  }
}

/** Returns the sizes of a header and its content; `undefined` if incomplete. @throws {InvalidLdapMessage} */
function headerOf(bytes: Uint8Array): { readonly size: number; readonly length: number } | undefined {
  const [, first] = bytes;
  if (first === undefined) return undefined;
  if (first < 0x80) return { size: 2, length: first };
  const octets = first - 0x80;
  if (octets === 0 || octets > 4) throw new InvalidLdapMessage("the length of a message cannot be read");
  if (bytes.length < 2 + octets) return undefined;
  return {
    size: 2 + octets,
    length: bytes.subarray(2, 2 + octets).reduce((sum, byte) => sum * 256 + byte, 0),
  };
}

/** Returns the length of the message that the bytes begin with; `undefined` if unknown. @throws {InvalidLdapMessage} */
export function messageLength(bytes: Uint8Array): number | undefined {
  const header = headerOf(bytes);
  return header && header.size + header.length;
}

/** Asserts the form of a response (RFC 4511, 4): ldapts 9.2.0 never returns from some others. */
function checkResponse(bytes: Buffer): void {
  const message = new Elements(bytes, 0, bytes.length).next(SEQUENCE);
  message.next(INTEGER);
  const operation = message.next();
  const { tag } = message;
  if (message.more) {
    message.next(CONTROLS).each(SEQUENCE, (control) => {
      control.next(OCTETS);
      if (control.more && bytes[control.at] === BOOLEAN) control.next(BOOLEAN);
      control.each(OCTETS);
    });
  }
  if (tag === ENTRY) {
    operation.next(OCTETS);
    operation.next(SEQUENCE).each(SEQUENCE, (attribute) => {
      attribute.next(OCTETS);
      attribute.next(SET).each(OCTETS);
    });
  } else if (tag === REFERENCE) {
    operation.each(OCTETS);
  } else if (RESULTS.includes(tag)) {
    operation.next(ENUMERATED);
    operation.next(OCTETS);
    operation.next(OCTETS);
    operation.each();
  } else {
    throw new InvalidLdapMessage(`operation ${tag} is no response`);
  }
}

/** Decodes a complete response to a request. @throws {InvalidLdapMessage} */
export function readResponse(bytes: Buffer, request: Message): MessageResponse {
  checkResponse(bytes);
  const parser = new MessageParser();
  let response: MessageResponse | undefined;
  let failure: unknown;
  parser.on("message", (message) => response = message);
  parser.on("error", (error) => failure = error);
  parser.read(bytes, new Map([[String(request.messageId), { message: request }]]));
  if (response === undefined) throw new InvalidLdapMessage("the message cannot be read", { cause: failure });
  return response;
}
