import { Buffer } from "node:buffer";
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { createServer, type Socket } from "node:net";

/** Certificates that the server shows, as DER with its own first, and the key that it really has (P-256). */
export interface Lie {
  readonly chain: readonly Uint8Array[];
  readonly key: KeyObject;
  readonly version: "TLSv1.2" | "TLSv1.3";
}

/**
 * Server that shows any certificate and signs the handshake with any key, which TLS libraries refuse. It
 * closes a connection on which it received data.
 */
export interface LyingServer extends AsyncDisposable {
  readonly port: number;
  /** Lie for connections from now on. */
  lie: Lie;
  /** Returns, and forgets, everything that clients sent after handshakes, as plain text. */
  heard(): string;
}

/** Starts the server on the loopback. */
export async function startLyingServer(lie: Lie): Promise<LyingServer> {
  const heard: Buffer[] = [];
  const sockets = new Set<Socket>();
  const state = { lie };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    serve(socket, state.lie, (text) => {
      heard.push(text);
      socket.destroy();
    }).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("not listening");
  return {
    port: address.port,
    get lie() {
      return state.lie;
    },
    set lie(next: Lie) {
      state.lie = next;
    },
    heard: () => Buffer.concat(heard.splice(0)).toString("latin1"),
    async [Symbol.asyncDispose]() {
      sockets.forEach((socket) => socket.destroy());
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const HANDSHAKE = 22;
const APPLICATION_DATA = 23;
const CHANGE_CIPHER_SPEC = 20;

interface Received {
  readonly type: number;
  readonly head: Buffer;
  readonly body: Buffer;
}

async function* records(socket: Socket): AsyncGenerator<Received> {
  let rest = Buffer.alloc(0);
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt16BE(3)) {
      const end = 5 + rest.readUInt16BE(3);
      yield { type: rest[0] ?? 0, head: rest.subarray(0, 5), body: rest.subarray(5, end) };
      rest = rest.subarray(end);
    }
  }
}

async function serve(socket: Socket, lie: Lie, hear: (text: Buffer) => void): Promise<void> {
  const incoming = records(socket);
  const { value: hello } = await incoming.next();
  if (hello?.type !== HANDSHAKE) return void socket.destroy();
  await (lie.version === "TLSv1.3" ? serve13 : serve12)(socket, lie, hello.body, incoming, hear);
}

const u8 = (value: number) => Buffer.of(value);
const u16 = (value: number) => Buffer.of(value >> 8, value & 0xff);
const u24 = (value: number) => Buffer.of(value >> 16, (value >> 8) & 0xff, value & 0xff);
const record = (type: number, body: Uint8Array) =>
  Buffer.concat([u8(type), u16(0x0303), u16(body.length), body]);
const message = (type: number, body: Uint8Array) => Buffer.concat([u8(type), u24(body.length), body]);
const hash = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
const hmac = (key: Uint8Array, data: Uint8Array) => createHmac("sha256", key).update(data).digest();

const X25519_PREFIX = Buffer.from("302a300506032b656e032100", "hex");

function agree(theirs: Uint8Array): { readonly shown: Buffer; readonly secret: Buffer } {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const shown = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  const key = Buffer.concat([X25519_PREFIX, theirs]);
  const their = createPublicKey({ key, format: "der", type: "spki" });
  return { shown, secret: diffieHellman({ privateKey, publicKey: their }) };
}

interface Hello {
  readonly random: Buffer;
  readonly session: Buffer;
  /** The client's X25519 share. */
  readonly share: Uint8Array;
}

/** Parses a ClientHello (RFC 8446, 4.1.2). */
function readHello(hello: Buffer): Hello {
  const random = hello.subarray(6, 38);
  let at = 38;
  const session = hello.subarray(at + 1, at + 1 + (hello[at] ?? 0));
  at += 1 + session.length;
  at += 2 + hello.readUInt16BE(at);
  at += 1 + (hello[at] ?? 0) + 2;
  let share: Uint8Array = new Uint8Array(32);
  while (at < hello.length) {
    const [type, length] = [hello.readUInt16BE(at), hello.readUInt16BE(at + 2)];
    for (let next = at + 6; type === 0x33 && next < at + 4 + length;) {
      const size = hello.readUInt16BE(next + 2);
      if (hello.readUInt16BE(next) === 0x1d) share = hello.subarray(next + 4, next + 4 + size);
      next += 4 + size;
    }
    at += 4 + length;
  }
  return { random, session, share };
}

// HKDF-Expand-Label (RFC 8446, 7.1)
function expand(secret: Uint8Array, label: string, context: Uint8Array, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([u16(length), u8(name.length), name, u8(context.length), context]);
  return hmac(secret, Buffer.concat([info, u8(1)])).subarray(0, length);
}

/** One direction of a TLS 1.3 connection with AES-128-GCM. */
class Sealed {
  readonly #key: Buffer;
  readonly #iv: Buffer;
  #count = 0;

  constructor(secret: Buffer) {
    this.#key = expand(secret, "key", Buffer.alloc(0), 16);
    this.#iv = expand(secret, "iv", Buffer.alloc(0), 12);
  }

  seal(type: number, text: Uint8Array): Buffer {
    const head = Buffer.concat([u8(APPLICATION_DATA), u16(0x0303), u16(text.length + 17)]);
    const cipher = createCipheriv("aes-128-gcm", this.#key, this.#nonce()).setAAD(head);
    return Buffer.concat([
      head,
      cipher.update(Buffer.concat([text, u8(type)])),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
  }

  /** Decrypts a record and returns its type and text. */
  open({ head, body }: Received): { readonly type: number; readonly text: Buffer } {
    const decipher = createDecipheriv("aes-128-gcm", this.#key, this.#nonce()).setAAD(head);
    decipher.setAuthTag(body.subarray(-16));
    const inner = Buffer.concat([decipher.update(body.subarray(0, -16)), decipher.final()]);
    return { type: inner.at(-1) ?? 0, text: inner.subarray(0, -1) };
  }

  #nonce(): Buffer {
    const nonce = Buffer.from(this.#iv);
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#count++) >>> 0, 8);
    return nonce;
  }
}

async function serve13(
  socket: Socket,
  { chain, key }: Lie,
  hello: Buffer,
  incoming: AsyncGenerator<Received>,
  hear: (text: Buffer) => void,
): Promise<void> {
  const { session, share } = readHello(hello);
  const { shown, secret } = agree(share);
  const extensions = Buffer.concat([
    Buffer.from("002b00020304", "hex"),
    u16(0x33),
    u16(36),
    u16(0x1d),
    u16(32),
    shown,
  ]);
  const answer = message(
    2,
    Buffer.concat([
      u16(0x0303),
      randomBytes(32),
      u8(session.length),
      session,
      u16(0x1301),
      u8(0),
      u16(extensions.length),
      extensions,
    ]),
  );
  const nothing = Buffer.alloc(32);
  const derive = (from: Buffer, label: string, transcript: Buffer) => expand(from, label, transcript, 32);
  const handshake = hmac(derive(hmac(nothing, nothing), "derived", hash()), secret);
  const begun = hash(hello, answer);
  const theirs = derive(handshake, "c hs traffic", begun);
  const ours = derive(handshake, "s hs traffic", begun);
  const out = new Sealed(ours);
  const list = Buffer.concat(chain.map((der) => Buffer.concat([u24(der.length), der, u16(0)])));
  const flight = [message(8, u16(0)), message(11, Buffer.concat([u8(0), u24(list.length), list]))];
  const toSign = Buffer.concat([
    Buffer.alloc(64, 0x20),
    Buffer.from("TLS 1.3, server CertificateVerify\0", "latin1"),
    hash(hello, answer, ...flight),
  ]);
  const signature = sign("sha256", toSign, key);
  flight.push(message(15, Buffer.concat([u16(0x0403), u16(signature.length), signature])));
  const finishedKey = expand(ours, "finished", Buffer.alloc(0), 32);
  flight.push(message(20, hmac(finishedKey, hash(hello, answer, ...flight))));
  socket.write(
    Buffer.concat([record(HANDSHAKE, answer), ...flight.map((each) => out.seal(HANDSHAKE, each))]),
  );

  const master = hmac(derive(handshake, "derived", hash()), nothing);
  const later = new Sealed(derive(master, "c ap traffic", hash(hello, answer, ...flight)));
  let reader = new Sealed(theirs);
  for await (const received of incoming) {
    if (received.type !== APPLICATION_DATA) continue;
    const { type, text } = reader.open(received);
    if (type === HANDSHAKE) reader = later;
    else if (type === APPLICATION_DATA) hear(text);
  }
}

/** Pseudorandom function of TLS 1.2 (RFC 5246, 5). */
function prf(secret: Uint8Array, label: string, seed: Uint8Array, length: number): Buffer {
  const labelled = Buffer.concat([Buffer.from(label), seed]);
  let a: Uint8Array = labelled;
  let made: Buffer = Buffer.alloc(0);
  while (made.length < length) {
    a = hmac(secret, a);
    made = Buffer.concat([made, hmac(secret, Buffer.concat([a, labelled]))]);
  }
  return made.subarray(0, length);
}

/** Serves TLS 1.2 by ECDHE with ECDSA, X25519 and AES-128-GCM (RFC 5246, RFC 8422, RFC 5288). */
async function serve12(
  socket: Socket,
  { chain, key }: Lie,
  hello: Buffer,
  incoming: AsyncGenerator<Received>,
  hear: (text: Buffer) => void,
): Promise<void> {
  const { random: theirRandom } = readHello(hello);
  const ourRandom = randomBytes(32);
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const shown = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  const parameters = Buffer.concat([u8(3), u16(0x1d), u8(32), shown]);
  const signature = sign("sha256", Buffer.concat([theirRandom, ourRandom, parameters]), key);
  const list = Buffer.concat(chain.map((der) => Buffer.concat([u24(der.length), der])));
  const said = [
    message(2, Buffer.concat([u16(0x0303), ourRandom, u8(0), u16(0xc02b), u8(0)])),
    message(11, Buffer.concat([u24(list.length), list])),
    message(12, Buffer.concat([parameters, u16(0x0403), u16(signature.length), signature])),
    message(14, Buffer.alloc(0)),
  ];
  socket.write(Buffer.concat(said.map((each) => record(HANDSHAKE, each))));

  const transcript = [hello, ...said];
  let keys: { readonly master: Buffer; readonly block: Buffer } | undefined;
  let sealed = false;
  let count = 0;
  for await (const received of incoming) {
    if (received.type === CHANGE_CIPHER_SPEC) sealed = true;
    else if (received.type === HANDSHAKE && !sealed) {
      transcript.push(received.body);
      const their = createPublicKey({
        key: Buffer.concat([X25519_PREFIX, received.body.subarray(5, 37)]),
        format: "der",
        type: "spki",
      });
      const secret = diffieHellman({ privateKey, publicKey: their });
      const master = prf(secret, "master secret", Buffer.concat([theirRandom, ourRandom]), 48);
      keys = { master, block: prf(master, "key expansion", Buffer.concat([ourRandom, theirRandom]), 40) };
    } else if (sealed && keys !== undefined) {
      const { master, block } = keys;
      const { type, head, body } = received;
      const plain = body.length - 24;
      const decipher = createDecipheriv(
        "aes-128-gcm",
        block.subarray(0, 16),
        Buffer.concat([block.subarray(32, 36), body.subarray(0, 8)]),
      );
      decipher.setAAD(Buffer.concat([Buffer.alloc(4), u32(count++), head.subarray(0, 3), u16(plain)]));
      decipher.setAuthTag(body.subarray(-16));
      const text = Buffer.concat([decipher.update(body.subarray(8, -16)), decipher.final()]);
      if (type === APPLICATION_DATA) hear(text);
      if (type !== HANDSHAKE) continue;
      const finished = message(20, prf(master, "server finished", hash(...transcript, text), 12));
      const explicit = Buffer.alloc(8);
      const cipher = createCipheriv(
        "aes-128-gcm",
        block.subarray(16, 32),
        Buffer.concat([block.subarray(36), explicit]),
      );
      cipher.setAAD(Buffer.concat([explicit, u8(HANDSHAKE), u16(0x0303), u16(finished.length)]));
      const ours = Buffer.concat([explicit, cipher.update(finished), cipher.final(), cipher.getAuthTag()]);
      socket.write(Buffer.concat([record(CHANGE_CIPHER_SPEC, u8(1)), record(HANDSHAKE, ours)]));
    }
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
