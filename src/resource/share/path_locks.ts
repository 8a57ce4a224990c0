import { hash } from "node:crypto";
import { FairSemaphore } from "../../model/fair_semaphore.ts";
import { httpError } from "../../model/http_error.ts";
import { realTime, type Schedule } from "../../model/clock.ts";
import { DatabaseFailure } from "../../store/database.ts";
import type { Leases } from "../../store/leases.ts";

const LEASE_MS = 30_000; // other instances take over a path later, in milliseconds
const HOLD_MS = 25_000; // the holder stops earlier, in milliseconds
const POLL_MS = 100; // poll for a path that another instance holds, in milliseconds

/** Locks that make check and write of a path atomic, on all instances that share marks. */
export class PathLocks {
  // Each waiter holds one of the few daemon sessions, which bounds the queue.
  readonly #semaphore = new FairSemaphore({
    maxConcurrent: Infinity,
    maxConcurrentPerKey: 1,
    waiting: Infinity,
    perKey: Infinity,
  });

  constructor(readonly leases?: Leases, readonly schedule: Schedule = realTime) {}

  /** Waits for exclusive use of a path; `lost` is called if it ends early. @returns Idempotent release. @throws {ERR_SHARE_STORE} */
  async take(
    server: string,
    path: string,
    signal: AbortSignal,
    lost: (reason: Error) => void,
  ): Promise<() => void> {
    const end = await this.takeHere(server, path, signal);
    try {
      const release = await this.#takeShared(`${server}:${path}`, signal, lost);
      return () => {
        release();
        end();
      };
    } catch (error) {
      end();
      throw error instanceof DatabaseFailure ? httpError("ERR_SHARE_STORE", error.message, error) : error;
    }
  }

  /** Prepares {@link take}: returns a function that takes the path, and a signal that also aborts if the lock is lost. */
  prepare(server: string, path: string, end: AbortSignal) {
    const stop = new AbortController();
    return {
      signal: AbortSignal.any([end, stop.signal]),
      lock: (signal: AbortSignal) => this.take(server, path, signal, (reason) => stop.abort(reason)),
    };
  }

  /** As {@link take}, but only within this process. */
  async takeHere(server: string, path: string, signal: AbortSignal): Promise<() => void> {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin, reject } = Promise.withResolvers<void>();
    const work = () => {
      begin();
      return over;
    };
    this.#semaphore.run(work, { queueKey: `${server}:${path}`, known: true, signal }).catch(reject);
    await begun;
    return end;
  }

  async #takeShared(path: string, signal: AbortSignal, lost: (reason: Error) => void): Promise<() => void> {
    const { leases } = this;
    if (leases === undefined) return () => {};
    const held = { mark: hash("sha256", `path ${path}`, "base64"), holder: crypto.randomUUID() };
    const late = () => lost(httpError("ERR_UPLOAD_INCOMPLETE", "the path was not written in time"));
    for (let isHeld = false;;) {
      signal.throwIfAborted();
      const cancel = this.schedule(HOLD_MS, late);
      try {
        isHeld = await leases.acquire(held, LEASE_MS);
      } finally {
        if (!isHeld) cancel();
      }
      if (isHeld) {
        return () => {
          cancel();
          if (isHeld) void leases.release(held).catch(() => {}); // it ends by itself
          isHeld = false;
        };
      }
      await new Promise<void>((resolve) => this.schedule(POLL_MS, resolve));
    }
  }
}
