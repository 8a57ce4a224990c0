import { Buffer } from "node:buffer";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import type { Clock } from "../model/clock.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import { shortChain, wholeChain } from "../model/trust/shown_chain.ts";
import { type Exchange, type Failure, failure, type Fault } from "./exchange.ts";
import { checkPeer } from "./peer_check.ts";

/** The command socket of one daemon. */
export interface CommandSocket {
  readonly host: string;
  readonly port: number;
  /** Absent: plain TCP, for tests only. */
  readonly tls?: {
    /** Asked for each connection, so that renewed certificates are used from the next one on. */
    readonly material: () => TlsMaterial;
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

/** Another exchange with the same daemon, which serves one after the other. */
export interface Ahead {
  /** Resolves when it is over; with the reason if there is no use in going on. */
  readonly over: Promise<Failure | undefined>;
  /** Milliseconds to wait for that. */
  readonly maxWait: number;
}

/** When, and for how long, an exchange may take place. */
interface ExchangeOptions {
  /** Asked for when it is this exchange's turn: the limits begin to count then. */
  readonly limits: () => ExchangeLimits;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Absent: it is its turn at once. Only with TLS: over plain TCP the request would leave before its turn. */
  readonly ahead?: Ahead;
}

/** What a reply may hold at most: the key files of a user are in it. */
export const MAX_REPLY_BYTES = 1024 * 1024;

/**
 * After a handshake `END` must be sent before the connection ends, or the daemon is dead until it is restarted. While a
 * handshake is under way we cannot know whether the daemon thinks it complete, so `END` is handed to the connection and
 * gets this many milliseconds to leave.
 */
const FAREWELL_MS = 250;

/**
 * One request and its reply on a connection of its own. The request is the first thing sent after the handshake and our
 * check of the peer. `signal` is looked at right before: who leaves earlier causes no session, who leaves later changes
 * nothing here. With another exchange `ahead` it connects and stands in the daemon's backlog until that one is over; the
 * request leaves whenever the daemon has completed the handshake. Never rejects.
 */
export function exchange(
  socket: CommandSocket,
  request: string,
  options: ExchangeOptions,
): Promise<Exchange> {
  return new Promise<Exchange>((resolve) => {
    new CommandConnection(socket, socket.tls?.material(), request, options, resolve);
  }).catch((error) =>
    failure("unreachable", "before", error instanceof Error ? error.message : String(error))
  );
}

class CommandConnection {
  readonly #socket: Socket;
  #phase: "connecting" | "handshaking" | "written" | "leaving" = "connecting";
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Absent while it is not our turn. */
  #limits: ExchangeLimits | undefined;
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
    const { ahead } = options;
    if (ahead === undefined) this.#proceed();
    else {
      this.#limit(ahead.maxWait, "busy");
      void ahead.over.then((reason) => this.#proceed(reason));
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
      // Daemons' certificates carry role names. Whom we talk to is checked by `checkPeer`, and a failure after the
      // handshake would end the connection without `END`.
      checkServerIdentity: () => undefined,
    });
    // What the platform hands to that function takes it a fifth of all the work of a connection to make.
    Object.defineProperty(socket, "getPeerCertificate", { value: () => ({}) });
    return socket;
  }

  /** It is our turn: the daemon has nobody else of ours to serve. */
  #proceed(reason?: Failure): void {
    if (this.#limits !== undefined || this.#result !== undefined || this.#socket.destroyed) return;
    if (reason !== undefined) return this.#leave(reason.fault, reason.detail);
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
    else this.#leave("untrusted", diagnostic);
  }

  #write(): void {
    if (this.options.signal.aborted) return this.#leave("aborted");
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
    // With TLS 1.3 the daemon judges our certificate after our side of the handshake: it read nothing of the request.
    this.#result = fault === undefined
      ? this.#brokenOff(error.message)
      : failure(fault, "before", reasonOf(error));
  }

  /** Gives up when this much time passes without the next step. */
  #limit(ms: number, fault: Fault): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#phase === "written") this.#finish(fault);
      else this.#leave(fault);
    }, ms);
  }

  /** Ends the connection after the request: what is written is out, as a rule long ago. */
  #finish(fault: Fault, detail?: string): void {
    this.#result ??= failure(fault, "after", detail);
    if (this.#flushed) this.#socket.destroy();
    else this.#farewell();
  }

  /** Ends the connection before the request was written. */
  #leave(fault: Fault, detail?: string): void {
    this.#result ??= failure(fault, "before", detail);
    // No handshake has begun yet: the daemon sees a connection come and go. Without TLS it would wait for `END`.
    if (this.#phase === "connecting" && this.material !== undefined) {
      this.#socket.destroy();
      return;
    }
    this.#phase = "leaving";
    this.#socket.write("END\n", () => this.#socket.destroy());
    this.#farewell();
  }

  #farewell(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.destroy(), FAREWELL_MS);
  }

  /** What it means if the connection ends just like that. */
  #brokenOff(detail?: string): Exchange {
    if (this.#phase === "connecting") return failure("unreachable", "before", detail);
    if (this.#phase === "handshaking") return failure("handshake-closed", "before", detail);
    return readReply(this.#received);
  }
}

/** Making one, which parses keys and certificates, is a fifth of the work for a connection. */
const CONTEXTS = new WeakMap<TlsMaterial, SecureContext>();

function contextOf(material: TlsMaterial): SecureContext {
  const known = CONTEXTS.get(material);
  if (known !== undefined) return known;
  const { certificate, key, anchors } = material;
  const made = createSecureContext({ cert: certificate, key, ca: [...anchors], minVersion: "TLSv1.2" });
  CONTEXTS.set(material, made);
  return made;
}

/** A stream that ends is the only mark of a reply's end; each genuine one ends with LF (daemon-protocol.md 1.3). */
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

/** What the platform says of a certificate, and what else it means by that (RFC 5280, 4.2.1.9). */
function reasonOf(error: Error): string {
  return "code" in error && error.code === "DEPTH_ZERO_SELF_SIGNED_CERT"
    ? "the certificate is self-signed, or marked as an authority's (CA:TRUE), and not itself in the truststore"
    : error.message;
}

/** What an error of the platform says about the handshake or the way there; nothing if the connection merely ended. */
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
