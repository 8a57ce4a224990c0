import { Buffer } from "node:buffer";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import type { Clock } from "../model/clock.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import { shortChain, wholeChain } from "../model/trust/peer_chain.ts";
import { messageOf } from "../model/text.ts";
import { type Exchange, type Failure, failure, type Fault } from "./exchange.ts";
import { checkPeer } from "./peer_check.ts";

export interface CommandSocket {
  readonly host: string;
  readonly port: number;
  /** Absent: plain TCP, for tests only. */
  readonly tls?: {
    readonly material: () => TlsMaterial; // called per connection, so that renewed certificates take effect
    readonly expectedDn?: string;
    readonly allowUnverifiable?: boolean;
  };
}

/** Milliseconds. */
export interface ExchangeLimits {
  readonly connect: number;
  readonly handshake: number;
  readonly reply: number;
}

/** Previous exchange with the same daemon, which serves one at a time. */
export interface Predecessor {
  /** Resolves at its end, with a failure if this exchange need not continue. */
  readonly over: Promise<Failure | undefined>;
  readonly maxWait: number; // longest wait in milliseconds
}

interface ExchangeOptions {
  readonly limits: () => ExchangeLimits; // called when this exchange's turn comes, which starts the limits
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Absent: no exchange is ahead. Requires TLS: over plain TCP the request would be sent too early. */
  readonly previous?: Predecessor;
}

/** Large enough for a user's key files. */
export const MAX_REPLY_BYTES = 1024 * 1024;

/**
 * After a handshake, a connection that ends without `END` hangs the daemon until its restart. We cannot know whether it
 * considers the handshake complete, so we always send `END`, and close the connection at the latest after this time.
 */
const CLOSE_MS = 250;

/**
 * Exchanges one request and reply on a new connection, right after handshake and peer check. After an abort before the
 * request, there is no session; a later abort has no effect. With a `previous` exchange, waits in the daemon's backlog.
 */
export function exchange(
  socket: CommandSocket,
  request: string,
  options: ExchangeOptions,
): Promise<Exchange> {
  return new Promise<Exchange>((resolve) => {
    new CommandConnection(socket, socket.tls?.material(), request, options, resolve);
  }).catch((error) => failure("unreachable", "before", messageOf(error)));
}

class CommandConnection {
  readonly #socket: Socket;
  #phase: "connecting" | "handshaking" | "written" | "closing" = "connecting";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #limits: ExchangeLimits | undefined; // absent before our turn
  #flushed = false;
  #received: Buffer[] = [];
  #size = 0;
  #result: Exchange | undefined;

  constructor(
    readonly target: CommandSocket,
    readonly material: TlsMaterial | undefined,
    readonly request: string,
    readonly options: ExchangeOptions,
    resolve: (result: Exchange) => void,
  ) {
    this.#socket = this.#open();
    const { previous } = options;
    if (previous === undefined) this.#proceed();
    else {
      this.#limit(previous.maxWait, "busy");
      void previous.over.then((reason) => this.#proceed(reason));
    }
    this.#socket.on("connect", () => this.#connected());
    this.#socket.on("secureConnect", () => this.#secured());
    this.#socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    this.#socket.on("end", () => this.#ended());
    this.#socket.on("error", (error) => this.#broken(error));
    this.#socket.on("close", () => {
      clearTimeout(this.#timer);
      resolve(this.#result ?? this.#brokenOff());
    });
  }

  #open(): Socket {
    const { host, port } = this.target;
    if (this.material === undefined) return connectPlain({ host, port });
    const socket = connectTls({
      host,
      port,
      secureContext: contextOf(this.material),
      // Daemons' certificates carry role names; `checkPeer` checks them. Failing here would skip `END`.
      checkServerIdentity: () => undefined,
    });
    // Preparing the argument costs a fifth of the connection's work.
    Object.defineProperty(socket, "getPeerCertificate", { value: () => ({}) });
    return socket;
  }

  /** Starts our turn: no other exchange of ours is running. */
  #proceed(reason?: Failure): void {
    if (this.#limits !== undefined || this.#result !== undefined || this.#socket.destroyed) return;
    if (reason !== undefined) return this.#abort(reason.fault, reason.detail);
    this.#limits = this.options.limits();
    if (this.#phase === "connecting") this.#limit(this.#limits.connect, "connect-timeout");
    else this.#limit(this.#limits.handshake, "handshake-timeout");
  }

  #connected(): void {
    if (this.#phase !== "connecting") return;
    this.#phase = "handshaking";
    if (this.material === undefined) this.#write();
    else if (this.#limits !== undefined) this.#limit(this.#limits.handshake, "handshake-timeout");
  }

  #secured(): void {
    if (this.#phase !== "handshaking" || this.material === undefined) return;
    const { material: { anchors, revocation }, target: { tls }, options: { clock } } = this;
    const demands = {
      anchors,
      revocation,
      expectedDn: tls?.expectedDn,
      allowUnverifiable: tls?.allowUnverifiable,
      at: clock(),
    };
    const socket = this.#socket instanceof TLSSocket ? this.#socket : undefined;
    let diagnostic = checkPeer(socket === undefined ? [] : shortChain(socket), demands);
    if (diagnostic !== undefined && socket !== undefined) {
      const whole = wholeChain(socket);
      if (whole.length > 2) diagnostic = checkPeer(whole, demands);
    }
    if (diagnostic === undefined) this.#write();
    else this.#abort("untrusted", diagnostic);
  }

  #write(): void {
    if (this.options.signal.aborted) return this.#abort("aborted");
    this.#phase = "written";
    this.#limits ??= this.options.limits();
    this.#limit(this.#limits.reply, "reply-timeout");
    this.#socket.write(this.request, () => this.#flushed = true);
  }

  get #awaitsReply(): boolean {
    return this.#phase === "written" && this.#result === undefined;
  }

  #receive(bytes: Buffer): void {
    if (!this.#awaitsReply) return;
    this.#size += bytes.length;
    this.#received.push(bytes);
    if (this.#size > MAX_REPLY_BYTES) {
      this.#finish("invalid-reply", `more than ${MAX_REPLY_BYTES} bytes`);
    }
  }

  #ended(): void {
    if (this.#awaitsReply) {
      this.#result = readReply(this.#received);
      this.#socket.destroy();
    }
  }

  #broken(error: Error): void {
    if (this.#result !== undefined) return;
    const fault = classify(error, this.#phase === "written");
    // With TLS 1.3 the daemon checks our certificate after our handshake, without reading the request.
    this.#result = fault === undefined
      ? this.#brokenOff(error.message)
      : failure(fault, "before", reasonOf(error));
  }

  #limit(ms: number, fault: Fault): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#phase === "written") this.#finish(fault);
      else this.#abort(fault);
    }, ms);
  }

  /** Ends the connection after the request, which is normally sent by now. */
  #finish(fault: Fault, detail?: string): void {
    this.#result ??= failure(fault, "after", detail);
    if (this.#flushed) this.#socket.destroy();
    else this.#closeLater();
  }

  #abort(fault: Fault, detail?: string): void {
    this.#result ??= failure(fault, "before", detail);
    // Before a handshake the daemon needs no `END`; without TLS it does.
    if (this.#phase === "connecting" && this.material !== undefined) {
      this.#socket.destroy();
      return;
    }
    this.#phase = "closing";
    this.#socket.write("END\n", () => this.#socket.destroy());
    this.#closeLater();
  }

  #closeLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.destroy(), CLOSE_MS);
  }

  #brokenOff(detail?: string): Exchange {
    if (this.#phase === "connecting") return failure("unreachable", "before", detail);
    if (this.#phase === "handshaking") return failure("handshake-closed", "before", detail);
    return readReply(this.#received);
  }
}

/** Cache, since parsing keys and certificates is a fifth of a connection's work. */
const CONTEXTS = new WeakMap<TlsMaterial, SecureContext>();

function contextOf(material: TlsMaterial): SecureContext {
  return CONTEXTS.getOrInsertComputed(
    material,
    ({ certificate: cert, key, anchors }) =>
      createSecureContext({ cert, key, ca: [...anchors], minVersion: "TLSv1.2" }),
  );
}

/** Decodes a reply. Only the end of the stream delimits it; complete ones end with LF (daemon-protocol.md 1.3). */
function readReply(received: readonly Buffer[]): Exchange {
  const bytes = Buffer.concat(received);
  if (bytes.length === 0) return failure("empty-reply", "after");
  if (bytes.at(-1) !== 0x0a) return failure("invalid-reply", "after", "it is cut off");
  try {
    return {
      kind: "answered",
      reply: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
    };
  } catch {
    return failure("invalid-reply", "after", "it is not UTF-8");
  }
}

function reasonOf(error: Error): string {
  return "code" in error && error.code === "DEPTH_ZERO_SELF_SIGNED_CERT"
    ? "the certificate is self-signed, or marked as an authority's (CA:TRUE), and not itself in the truststore"
    : error.message;
}

/** Classifies a platform error; `undefined` for a plain end. */
function classify(error: Error, written: boolean): Fault | undefined {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "ECONNREFUSED") return "refused";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EAI_NODATA") return "unresolved";
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") return "not-tls";
  if (code.startsWith("ERR_SSL_")) {
    const alert = code.indexOf("ALERT_");
    if (alert >= 0 && /CERTIFICATE|UNKNOWN_CA/.test(code.slice(alert))) return "own-certificate-refused";
  }
  if (written) return undefined;
  if (code.startsWith("ERR_SSL_")) return "handshake-failed";
  return /CERT|ISSUER|SIGNATURE/.test(code) ? "untrusted" : undefined;
}
