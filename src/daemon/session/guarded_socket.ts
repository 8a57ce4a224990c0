import { httpError } from "../../model/http_error.ts";
import { SessionEnded } from "./session_errors.ts";

/** Timeout of one step after the other. Its timer stays for the next step: a file takes dozens, and each timer is dear. */
class StepTimer {
  #ms = 0;
  #until = Infinity; // by `performance.now()`; of no step
  #timer: ReturnType<typeof setTimeout> | undefined;
  #firesAt = Infinity;

  constructor(readonly late: (ms: number) => void) {}

  begin(ms: number): void {
    this.#ms = ms;
    this.#until = performance.now() + ms;
    if (this.#until < this.#firesAt) this.#start(ms);
  }

  end(): void {
    this.#until = Infinity;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#firesAt = Infinity;
  }

  #start(ms: number): void {
    this.stop();
    this.#firesAt = performance.now() + ms;
    this.#timer = setTimeout(() => {
      this.#firesAt = Infinity;
      const left = this.#until - performance.now();
      if (left <= 0) this.late(this.#ms);
      else if (left < Infinity) this.#start(left);
    }, ms);
  }
}

/** TCP connection with a timeout per step and an abort signal. */
export class GuardedSocket {
  #failure: unknown;
  #closed = false;
  readonly #late = (ms: number) =>
    this.fail(httpError("ERR_DAEMON_SESSION_TIMEOUT", `No progress for ${ms} ms`));
  readonly #reading = new StepTimer(this.#late);
  readonly #writing = new StepTimer(this.#late);
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

  /** Reads at least one byte; returns the count, or `null` at the end. */
  read(into: Uint8Array, ms: number): Promise<number | null> {
    return this.#step(this.#reading, ms, () => this.connection.read(into));
  }

  async write(bytes: Uint8Array, ms: number): Promise<void> {
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.#step(this.#writing, ms, () => this.connection.write(bytes.subarray(sent)));
    }
  }

  finishWriting(ms: number): Promise<void> {
    return this.#step(this.#writing, ms, () => this.connection.closeWrite());
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
    this.#reading.stop();
    this.#writing.stop();
    this.connection.close();
  }

  async #step<T>(timer: StepTimer, ms: number, action: () => Promise<T>): Promise<T> {
    this.#check();
    timer.begin(ms);
    try {
      return await action();
    } catch (error) {
      this.#check();
      throw new SessionEnded("Connection to the daemon lost", error);
    } finally {
      timer.end();
    }
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw httpError("ERR_DAEMON_SESSION", "Connection to the daemon is closed");
  }
}
