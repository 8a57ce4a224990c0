import { Duplex } from "node:stream";
import { unlessAborted } from "../model/clock.ts";
import type { TlsConnection } from "./open_tls.ts";

/** Connection in the form that `node:https` and `node:http` expect of a `TLSSocket`. */
export class TlsStream extends Duplex {
  #connection: TlsConnection | undefined;
  #opened = false;
  readonly #opening = new AbortController();
  #idle: ReturnType<typeof setTimeout> | undefined;
  #idleMs = 0;
  #allowance = Infinity;

  /** @param open Closes what it opens on the signal. @param limitMs Time for opening, in milliseconds. */
  constructor(readonly open: (signal: AbortSignal) => Promise<TlsConnection>, readonly limitMs: number) {
    super({ allowHalfOpen: false });
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** Fails if more bytes arrive before the next call. */
  allow(bytes: number): void {
    this.#allowance = bytes;
  }

  override _construct(callback: (error?: Error | null) => void): void {
    if (this.destroyed) return callback();
    const late = () => this.#opening.abort(new Error(`no connection within ${this.limitMs} ms`));
    const timer = setTimeout(late, this.limitMs);
    const { signal } = this.#opening;
    const opening = this.open(signal);
    unlessAborted(opening, signal).then((connection) => {
      this.#connection = connection;
      this.#opened = true;
      callback();
    }, (error) => {
      // Connecting cannot be cancelled: close a late connection.
      opening.then((connection) => connection.close(), () => {});
      callback(error instanceof Error ? error : new Error(String(error)));
    }).finally(() => clearTimeout(timer));
  }

  override _read(): void {
    this.#connection?.read().then((bytes) => {
      this.#resetIdleTimer();
      this.#allowance -= bytes?.length ?? 0;
      if (this.#allowance < 0) this.destroy(new Error("received more bytes than an answer may have"));
      else this.push(bytes ?? null);
    }, (error) => this.destroy(error));
  }

  override _write(bytes: Uint8Array, _encoding: string, callback: (error?: Error | null) => void): void {
    this.#resetIdleTimer();
    if (this.#connection === undefined) callback(new Error("the connection is closed"));
    else this.#connection.write(bytes).then(() => callback(), callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#idle);
    this.#connection?.close();
    this.#connection = undefined;
    callback(error);
  }

  /** Cancels connecting, too. */
  override destroy(error?: Error): this {
    this.#opening.abort(error ?? new Error("given up"));
    return super.destroy(error);
  }

  /** Emits `timeout` after so long without traffic; 0: never, and the listener is removed, as by `net.Socket`. */
  setTimeout(ms: number, listener?: () => void): this {
    this.#idleMs = ms;
    if (listener !== undefined) this[ms === 0 ? "off" : "once"]("timeout", listener);
    this.#resetIdleTimer();
    return this;
  }

  /** No effect: small writes are rare. */
  setNoDelay(): this {
    return this;
  }

  /** No effect: timeouts detect dead connections. */
  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  #resetIdleTimer(): void {
    clearTimeout(this.#idle);
    if (this.#idleMs > 0 && !this.destroyed) {
      this.#idle = setTimeout(() => this.emit("timeout"), this.#idleMs);
    }
  }
}
