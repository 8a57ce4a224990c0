import { realTime, type Schedule, type Stopwatch, stopwatch } from "../../../model/clock.ts";
import { httpError } from "../../../model/http_error.ts";
import { UPLOAD_LEASE_MS } from "../../../sharing/store/share_sql.ts";
import type { Upload, UploadId, UploadStore } from "../../../sharing/store/upload_store.ts";

const RENEW_MS = 3_000; // renewal of a hold, in milliseconds
const POLL_MS = 250; // poll for an upload held by another instance, in milliseconds

export interface HeldUpload {
  readonly id: UploadId;
  readonly holder: string;
  readonly signal: AbortSignal; // aborted when another request takes over, or the hold is lost
  readonly abort: (reason: Error) => void; // aborts it
  upload: Upload | undefined; // absent before the upload begins
  finished: boolean; // nothing is left to release
}

/** Serialises requests for an upload across all instances. */
export class UnfinishedUploads {
  readonly #running = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();

  constructor(
    readonly store: UploadStore,
    readonly schedule: Schedule = realTime,
    readonly elapsed: Stopwatch = stopwatch,
  ) {}

  /** Stops the request that holds the upload, then runs `work`. @param isNew Whether no other request can know the upload. */
  async runExclusive<T>(id: UploadId, isNew: boolean, work: (held: HeldUpload) => Promise<T>): Promise<T> {
    const name = `${id.server}/${id.share}/${id.key}`;
    for (let other = this.#running.get(name); other !== undefined; other = this.#running.get(name)) {
      other.stop.abort(httpError("ERR_UPLOAD_INCOMPLETE", "the rest of it comes by another request"));
      await other.done;
    }
    const stop = new AbortController();
    const { promise: done, resolve } = Promise.withResolvers<void>();
    this.#running.set(name, { stop, done });
    const held: HeldUpload = {
      id,
      holder: crypto.randomUUID(),
      signal: stop.signal,
      abort: (reason) => stop.abort(reason),
      upload: undefined,
      finished: false,
    };
    const renewed = this.#renewLease(held);
    try {
      if (!isNew) held.upload = await this.#acquire(held);
      return await work(held);
    } finally {
      renewed.end();
      // After an error, the hold expires.
      if (held.upload && !held.finished) await this.store.release(id, held.holder).catch(() => {});
      this.#running.delete(name);
      resolve();
    }
  }

  async #acquire({ id, holder, signal }: HeldUpload): Promise<Upload | undefined> {
    for (let waited = 0; waited <= 2 * UPLOAD_LEASE_MS; waited += POLL_MS) {
      const upload = await this.store.acquire(id, holder);
      if (upload !== "busy") return upload;
      await new Promise<void>((resolve) => this.schedule(POLL_MS, resolve));
      signal.throwIfAborted();
    }
    throw httpError("ERR_UPLOAD_INCOMPLETE", "another request does not release it");
  }

  #renewLease(held: HeldUpload): { end(): void } {
    let since = this.elapsed();
    let isOver = false;
    let cancel = () => {};
    const lost = (why: string) => held.abort(httpError("ERR_UPLOAD_INCOMPLETE", why));
    const renew = async () => {
      const requestedAt = this.elapsed();
      try {
        if (held.upload === undefined || await this.store.renew(held.id, held.holder)) since = requestedAt;
        else if (!held.finished) lost("another request has it");
      } catch {
        // The request continues without the database until the hold expires.
      }
      if (this.elapsed() - since > UPLOAD_LEASE_MS - 2 * RENEW_MS) lost("the hold could not be renewed");
      if (!isOver) cancel = this.schedule(RENEW_MS, renew);
    };
    cancel = this.schedule(RENEW_MS, renew);
    return {
      end: () => {
        isOver = true;
        cancel();
      },
    };
  }
}
