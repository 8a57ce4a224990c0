import { httpError } from "../../model/http_error.ts";
import { SessionEnded } from "./session_errors.ts";

/** TCP connection with a timeout per step and an abort signal. */
export class GuardedSocket {
  stirred = false; // whether the idle connection has ended, or sent something
  #early: { readonly bytes: Uint8Array; readonly count: Promise<number | null> } | undefined;
  #failure: unknown;
  #closed = false;
  readonly #steps = new Set<{ readonly ms: number; readonly until: number }>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wakesAt = Infinity; // by `performance.now()`
  readonly #onAbort = () => this.fail(this.signal.reason);

  private constructor(readonly connection: Deno.TcpConn, readonly signal: AbortSignal) {
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort);
  }

  /** @throws {ERR_LISTEN_SOCKET_UNREACHABLE} Or the signal's reason. */
  static async connect(host: string, port: number, ms: number, signal: AbortSignal): Promise<GuardedSocket> {
    signal.throwIfAborted();
    const deadline = AbortSignal.timeout(ms);
    try {
      const connection = await Deno.connect({
        hostname: host,
        port,
        signal: AbortSignal.any([signal, deadline]),
      });
      connection.setNoDelay(true);
      return new GuardedSocket(connection, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw httpError("ERR_LISTEN_SOCKET_UNREACHABLE", `Cannot connect to ${host}:${port}`, error);
    }
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Begins to read, so that the end of an idle connection shows. */
  watchIdle(): void {
    if (this.#early !== undefined) return;
    const bytes = new Uint8Array(1024); // fits into the buffer of the next read, which is for replies
    const count = this.connection.read(bytes).catch(() => null).finally(() =>
      this.stirred = this.#early !== undefined
    );
    this.#early = { bytes, count };
  }

  /** Reads at least one byte; returns the count, or `null` at the end. */
  read(into: Uint8Array, ms: number): Promise<number | null> {
    const early = this.#early;
    this.#early = undefined;
    return this.#step(ms, async () => {
      if (early === undefined) return await this.connection.read(into);
      const count = await early.count;
      if (count === null) this.#check();
      else into.set(early.bytes.subarray(0, count));
      return count;
    });
  }

  async write(bytes: Uint8Array, ms: number): Promise<void> {
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.#step(ms, () => this.connection.write(bytes.subarray(sent)));
    }
  }

  finishWriting(ms: number): Promise<void> {
    return this.#step(ms, () => this.connection.closeWrite());
  }

  /** Closes the connection; all steps throw `reason`. */
  fail(reason: unknown): void {
    if (this.#closed) return;
    this.#failure = reason;
    this.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.signal.removeEventListener("abort", this.#onAbort);
    clearTimeout(this.#timer);
    this.connection.close();
  }

  async #step<T>(ms: number, action: () => Promise<T>): Promise<T> {
    this.#check();
    const step = { ms, until: performance.now() + ms };
    this.#steps.add(step);
    this.#watch();
    try {
      return await action();
    } catch (error) {
      this.#check();
      this.fail(new SessionEnded("Connection to the daemon lost", error));
      throw this.#failure;
    } finally {
      this.#steps.delete(step);
    }
  }

  /** Waits for the step that ends first, with a timer that later steps share: a file needs dozens of steps, and timers are expensive. */
  #watch(): void {
    const [first] = [...this.#steps].sort((a, b) => a.until - b.until);
    if (this.#closed || first === undefined || first.until >= this.#wakesAt) return;
    const left = first.until - performance.now();
    if (left <= 0) {
      return this.fail(httpError("ERR_DAEMON_SESSION_TIMEOUT", `No progress for ${first.ms} ms`));
    }
    clearTimeout(this.#timer);
    this.#wakesAt = first.until;
    this.#timer = setTimeout(() => {
      this.#wakesAt = Infinity;
      this.#watch();
    }, left);
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw httpError("ERR_DAEMON_SESSION", "Connection to the daemon is closed");
  }
}
