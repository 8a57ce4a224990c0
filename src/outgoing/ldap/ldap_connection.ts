import { attempt } from "../../model/attempt.ts";
import { Buffer } from "node:buffer";
import {
  BindRequest,
  ExtendedRequest,
  FilterParser,
  type Message,
  MessageParser,
  type MessageResponse,
  PasswordPolicyControl,
  SearchEntry,
  SearchReference,
  SearchRequest,
} from "ldapts";
import { type DerElement, InvalidDer, readElement } from "../../model/der_element.ts";
import { connectionOver, type TlsConnection } from "../open_tls.ts";
import { type LdapEntry, ldapEntry } from "./ldap_entry.ts";

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
const [BIND_RESULT, SEARCH_RESULT, EXTENDED_RESULT] = [0x61, 0x65, 0x78];

/** Returns the length of the message that the bytes begin with; `undefined` if unknown. @throws {InvalidLdapMessage} */
function messageLength(bytes: Uint8Array): number | undefined {
  const [, first] = bytes;
  if (first === undefined) return undefined;
  if (first < 0x80) return 2 + first;
  const octets = first - 0x80;
  if (octets === 0 || octets > 4) throw new InvalidLdapMessage("the length of a message cannot be read");
  const digits = bytes.subarray(2, 2 + octets);
  if (digits.length < octets) return undefined;
  return 2 + octets + digits.reduce((sum, byte) => sum * 256 + byte, 0);
}

/** Returns the parts of an element: the first of these tags, the others of `rest`. @throws {InvalidLdapMessage} */
function partsOf(
  element: DerElement | undefined,
  tags: readonly number[],
  rest?: number,
): readonly DerElement[] {
  const parts = element?.children() ?? [];
  const fits = parts.length >= tags.length && parts.every(({ tag }, i) => tag === (tags[i] ?? rest ?? tag));
  if (!fits) throw new InvalidLdapMessage("the message is not well-formed");
  return parts;
}

/** Asserts the form of a response (RFC 4511, 4): ldapts 9.2.0 never returns from some others. */
function checkResponse(bytes: Buffer): void {
  const message = readElement(bytes);
  const [, operation, ...more] = partsOf(message, [INTEGER]);
  if (message.tag !== SEQUENCE || more.some(({ tag }) => tag !== CONTROLS)) {
    throw new InvalidLdapMessage("the message is not well-formed");
  }
  for (const control of more.flatMap((controls) => partsOf(controls, [], SEQUENCE))) {
    const isMarked = control.children()[1]?.tag === BOOLEAN;
    partsOf(control, isMarked ? [OCTETS, BOOLEAN] : [OCTETS], OCTETS);
  }
  switch (operation?.tag) {
    case ENTRY:
      for (const attribute of partsOf(partsOf(operation, [OCTETS, SEQUENCE])[1], [], SEQUENCE)) {
        partsOf(partsOf(attribute, [OCTETS, SET])[1], [], OCTETS);
      }
      break;
    case REFERENCE:
      partsOf(operation, [], OCTETS);
      break;
    case BIND_RESULT:
    case SEARCH_RESULT:
    case EXTENDED_RESULT:
      partsOf(operation, [ENUMERATED, OCTETS, OCTETS]);
      break;
    default:
      throw new InvalidLdapMessage(`operation ${operation?.tag} is no response`);
  }
}

/** Decodes a complete response to a request. @throws {InvalidLdapMessage} */
export function readResponse(bytes: Buffer, request: Message): MessageResponse {
  attempt(() => checkResponse(bytes), InvalidDer, (cause) => {
    throw new InvalidLdapMessage("the message is not well-formed", { cause });
  });
  const parser = new MessageParser();
  let response: MessageResponse | undefined;
  let failure: unknown;
  parser.on("message", (message) => response = message);
  parser.on("error", (error) => failure = error);
  parser.read(bytes, new Map([[String(request.messageId), { message: request }]]));
  if (response === undefined) throw new InvalidLdapMessage("the message cannot be read", { cause: failure });
  return response;
}

/** Result code and text of an operation (RFC 4511, 4.1.9). */
export interface LdapResult {
  readonly code: number;
  readonly text: string;
}

/** Result of a bind; `policy`: error of the server's password policy (draft-behera-ldap-password-policy, 6.2). */
export interface BindResult extends LdapResult {
  readonly policy: number | undefined;
}

export interface LdapSearch {
  readonly base: string;
  readonly scope: "base" | "sub";
  readonly filter: string; // RFC 4515
  readonly attributes: readonly string[];
  readonly most: number; // entries
}

/** Bytes of an answer, that is of all messages to one request; entries may have photographs. */
const MAX_ANSWER = 16 * 1024 * 1024;
const START_TLS = "1.3.6.1.4.1.1466.20037";
const TIME_LIMIT_S = 10;

/** Connection to an LDAP server with one request at a time, within a bound on the bytes of its answer. */
export class LdapConnection {
  #unread: Uint8Array[] = [];
  #size = 0;
  #id = 0;
  #received = 0;

  constructor(readonly connection: TlsConnection) {}

  /** Reports whether the latest request got any answer. */
  get answered(): boolean {
    return this.#received > 0;
  }

  /** Binds by name and password (RFC 4513, 5.1.3). @throws {TypeError} For an empty password, which would be anonymous. */
  async bind(dn: string, password: string): Promise<BindResult> {
    if (dn === "" || password === "") throw new TypeError("a bind without name or password is anonymous");
    const policy = new PasswordPolicyControl();
    const request = new BindRequest({ messageId: ++this.#id, dn, password, controls: [policy] });
    const { code, text } = await this.#ask(request);
    return { code, text, policy: policy.value?.error };
  }

  /** Searches without following references and aliases. */
  async search(
    { base, scope, filter, attributes, most }: LdapSearch,
  ): Promise<LdapResult & { readonly entries: readonly LdapEntry[] }> {
    return await this.#ask(
      new SearchRequest({
        messageId: ++this.#id,
        baseDN: base,
        scope,
        filter: FilterParser.parseString(filter),
        attributes: [...attributes],
        sizeLimit: most,
        timeLimit: TIME_LIMIT_S,
      }),
    );
  }

  close(): void {
    this.connection.close();
  }

  /** Requests TLS on a plain connection (RFC 4511, 4.14). @throws {Error} If the server refuses. */
  static async startTls(plain: Deno.Conn): Promise<void> {
    const connection = new LdapConnection(connectionOver(plain));
    const { code, text } = await connection.#ask(new ExtendedRequest({ messageId: 1, oid: START_TLS }));
    if (code !== 0) throw new Error(`the server refuses StartTLS with code ${code} ${text.slice(0, 200)}`);
    // Bytes before the handshake would be injected.
    if (connection.#size > 0) throw new Error("the server sent more than an answer to StartTLS");
  }

  async #ask(request: Message): Promise<LdapResult & { readonly entries: readonly LdapEntry[] }> {
    this.#received = 0;
    await this.connection.write(request.write());
    const entries: LdapEntry[] = [];
    for (;;) {
      const response: MessageResponse = readResponse(await this.#message(), request);
      // For example a notice of disconnection (RFC 4511, 4.4.1).
      if (response.messageId !== request.messageId) {
        throw new InvalidLdapMessage("the message answers no request");
      }
      if (response instanceof SearchEntry) entries.push(ldapEntry(response));
      else if (!(response instanceof SearchReference)) {
        return { code: response.status, text: response.errorMessage, entries };
      }
    }
  }

  /** Returns the next complete message. @throws {InvalidLdapMessage} If the answer is too long. */
  async #message(): Promise<Buffer> {
    for (;;) {
      const [first] = this.#unread;
      const length = first && messageLength(first);
      if (Math.max(length ?? 0, this.#received) > MAX_ANSWER) {
        throw new InvalidLdapMessage(`the answer is longer than ${MAX_ANSWER} bytes`);
      }
      if (length !== undefined && this.#size >= length) {
        const all = Buffer.concat(this.#unread);
        this.#unread = all.length > length ? [all.subarray(length)] : [];
        this.#size -= length;
        return all.subarray(0, length);
      }
      const bytes = await this.connection.read();
      if (bytes === undefined) throw new Error("the server closed the connection");
      this.#received += bytes.length;
      this.#size += bytes.length;
      // Joined only while the length is unknown, so that reading stays linear.
      this.#unread.push(bytes);
      if (length === undefined) this.#unread = [Buffer.concat(this.#unread)];
    }
  }
}
