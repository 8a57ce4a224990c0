import { Buffer } from "node:buffer";
import { once } from "node:events";
import type { Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import type { Credential } from "../pki/authority.ts";
import { Acl } from "./acl.ts";
import type { CommandFault } from "./command_fault.ts";
import { FaultPlan } from "./fault_plan.ts";
import { Listener } from "./listener.ts";
import { type ParsedRequest, RequestReader } from "./request_parser.ts";

/** TLS settings of the daemon. */
export interface CommandTls extends Credential {
  /** Authorities of accepted client certificates, PEM. */
  readonly trusted: readonly string[];
}

export interface CommandSocketOptions {
  /** Default: plain TCP without access control. */
  readonly tls?: CommandTls;
  /** Text of the ACL file. */
  readonly acl: string;
  /**
   * Returns the reply to a request; `undefined` closes the connection without a reply, `null` leaves it to a
   * child process that never ends, while the daemon serves the next connection.
   */
  readonly answer: (values: ReadonlyMap<string, string>) => string | undefined | null;
}

/** Request received on one command connection. */
export interface ReceivedRequest {
  readonly raw: Uint8Array;
  /** `undefined` if the bytes were incomplete or not UTF-8. */
  readonly values?: ReadonlyMap<string, string>;
}

/**
 * The command socket (daemon-protocol.md 1): serves one connection after the other, each from its handshake
 * to its end. Unlike a real daemon, it continues after a connection that ended without `END`, and counts it
 * in `wedged`; and it accepts a TCP queue of any length, where a real backlog of 2 drops connections. A
 * refused client certificate ends the connection without the alert of a real daemon; certificates of version
 * 1 are always refused. A client that ends its side of TLS together with the request gets no reply, which a
 * real daemon would still send.
 */
export class CommandSocket {
  readonly faults = new FaultPlan<CommandFault>();
  readonly requests: ReceivedRequest[] = [];
  /** TCP connections accepted so far. */
  connections = 0;
  /** Number of open connections: the served connection and those that wait. */
  atOnce = 0;
  /** Largest number of open connections so far. */
  mostAtOnce = 0;
  /** Number of replies that wait until another connection is open. */
  repliesWithNext = 0;
  #arrived = Promise.withResolvers<void>();
  /** Handshakes that failed, on either side. */
  failedHandshakes = 0;
  /** Connections that ended after the handshake without a complete request. */
  wedged = 0;
  /** Pause before each reply, in milliseconds. */
  delay = 0;
  /** Promise that replies wait for. */
  hold: Promise<void> | undefined;
  /** Whether replies end with a TLS `close_notify`, which a real daemon never sends. */
  closeNotify = false;
  acl: string;

  readonly listener: Listener;
  /** Connections that child processes hold, TLS and TCP sockets. */
  readonly #held = new WeakSet<Socket>();
  #turn: Promise<void> = Promise.resolve();
  #closing = false;

  constructor(private readonly options: CommandSocketOptions) {
    this.acl = options.acl;
    const accept = (socket: Socket) => {
      this.connections++;
      this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
      this.#arrived.resolve();
      this.#arrived = Promise.withResolvers();
      socket.pause();
      this.#turn = this.#turn.then(() => this.#serve(socket)).catch(() => {}).finally(() => {
        this.atOnce--;
        this.#end(socket);
      });
    };
    // A half-open connection below TLS would hide that its client left before the handshake.
    this.listener = new Listener("127.0.0.1", accept, options.tls === undefined);
  }

  async start(): Promise<void> {
    this.#closing = false;
    await this.listener.start();
  }

  /** Ends every connection and waits until the last is served. */
  async stop(): Promise<void> {
    this.#closing = true;
    this.#arrived.resolve();
    await this.listener.stop();
    await this.#turn;
  }

  async #serve(raw: Socket): Promise<void> {
    if (raw.destroyed) return;
    const fault = this.faults.next();
    switch (fault?.kind) {
      case "hang-before-handshake":
        return await hang(raw);
      case "close-at-once":
        return;
      case "reset-at-once":
        return void raw.resetAndDestroy();
      case "plain-text":
        return await finish(raw, "220 UFTPD 3.5.3, https://www.unicore.eu\n");
    }
    const socket = await this.#secure(raw, fault);
    if (socket === undefined) return;
    try {
      const request = await this.#receive(socket);
      this.requests.push(request);
      if (request.values !== undefined) await this.#reply(socket, raw, request.values, fault);
    } finally {
      if (this.#held.has(socket)) this.#held.add(raw);
      this.#end(socket);
    }
  }

  #end(socket: Socket): void {
    if (!this.#held.has(socket)) socket.destroy();
    else socket.on("end", () => socket.destroy()).resume();
  }

  /** Returns the connection after its TLS handshake and the ACL check; `undefined` if either fails. */
  async #secure(raw: Socket, fault: CommandFault | undefined): Promise<Socket | undefined> {
    const { tls } = this.options;
    if (tls === undefined) return raw;
    const shown = fault?.kind === "certificate" ? fault.credential : tls;
    // The daemon's own certificate has issued no others.
    const trusted = fault?.kind === "distrust" ? [tls.certificate] : tls.trusted;
    const socket = await handshake(raw, trusted, shown);
    if (socket === undefined) {
      this.failedHandshakes++;
      return undefined;
    }
    const subject = socket.getPeerCertificate().subject;
    if (this.faults.current?.kind !== "not-in-acl" && new Acl(this.acl).admits(subject)) return socket;
    socket.destroy();
    return undefined;
  }

  async #receive(socket: Socket): Promise<ReceivedRequest> {
    const [reader, chunks]: [RequestReader, Uint8Array[]] = [new RequestReader(), []];
    const parsed = await new Promise<ParsedRequest>((resolve) => {
      const decide = (result: ParsedRequest) => result.kind !== "incomplete" && resolve(result);
      socket.on("data", (chunk: Uint8Array) => {
        chunks.push(chunk);
        decide(reader.push(chunk));
      });
      socket.once("end", () => resolve(reader.end()));
      socket.once("close", () => resolve({ kind: "incomplete" }));
      socket.resume();
    });
    if (parsed.kind === "incomplete" && !this.#closing) this.wedged++;
    const raw = Buffer.concat(chunks);
    return parsed.kind === "complete" ? { raw, values: parsed.values } : { raw };
  }

  async #reply(
    socket: Socket,
    raw: Socket,
    values: ReadonlyMap<string, string>,
    fault: CommandFault | undefined,
  ): Promise<void> {
    if (this.delay > 0) await new Promise((resolve) => setTimeout(resolve, this.delay));
    await this.hold;
    for (const awaits = this.repliesWithNext-- > 0; awaits && this.atOnce < 2 && !this.#closing;) {
      await this.#arrived.promise;
    }
    if (fault?.kind === "reply") return await this.#send(socket, fault.reply);
    const text = this.options.answer(values);
    if (text === null) this.#held.add(socket);
    if (text === undefined || text === null) return;
    const reply = `${text}\n`;
    switch (fault?.kind) {
      case "close-without-reply":
        return;
      case "hang-after-request":
        return await hang(socket);
      case "partial-reply":
        return await this.#send(socket, reply.slice(0, fault.bytes));
      case "hang-after-partial-reply":
        socket.write(reply.slice(0, fault.bytes));
        return await hang(socket);
      case "unterminated-reply":
        return await this.#send(socket, reply.trimEnd());
      case "reset-after-reply":
        await written(socket, reply);
        return void raw.resetAndDestroy();
      default:
        await this.#send(socket, reply);
    }
  }

  async #send(socket: Socket, reply: string | Uint8Array): Promise<void> {
    if (!this.closeNotify) return await finish(socket, reply);
    const closed = once(socket, "close");
    socket.end(reply);
    await closed;
  }
}

/** Writes and closes as a real daemon does: ends the connection without `close_notify`. */
async function finish(socket: Socket, reply: string | Uint8Array): Promise<void> {
  await written(socket, reply);
  socket.destroy();
}

function written(socket: Socket, reply: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => socket.write(reply, () => resolve()));
}

/** Waits until the peer gives up. */
async function hang(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  const closed = once(socket, "close").catch(() => {});
  socket.resume();
  socket.once("end", () => socket.destroy());
  await closed;
}

/** Performs the server's side of a TLS handshake on an open connection; `undefined` if it fails. */
function handshake(
  raw: Socket,
  trusted: readonly string[],
  shown: Credential,
): Promise<TLSSocket | undefined> {
  // During the handshake, the connection must not be half-open, or TLS does not notice a client that left.
  raw.allowHalfOpen = false;
  return new Promise((resolve) => {
    const server = createTlsServer({
      cert: shown.certificate,
      key: shown.key,
      ca: [...trusted],
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
    });
    server.once("secureConnection", (socket: TLSSocket) => {
      socket.on("error", () => {});
      resolve(socket);
    });
    server.once("tlsClientError", () => resolve(undefined));
    raw.once("close", () => resolve(undefined));
    server.emit("connection", raw);
  });
}
