import type { RecordStore } from "../../../store/record_store.ts";
import type { Clock } from "../../../model/clock.ts";
import { httpError } from "../../../model/http_error.ts";
import type { Share } from "../../../sharing/share.ts";

/** Kind of the records, one for each file that is being brought, or was within a day. */
const KIND = "upload";

/** How long what was interrupted is kept, in seconds: a day. */
const KEPT = 24 * 3600;

/** How long a record lasts beyond that, in seconds, so that a daemon that is down can still be asked to delete. */
const MORE = 7 * 24 * 3600;

/** Unfinished uploads of a share at most. */
const MOST = 500;

/** A file that is being brought. */
export interface Upload {
  /** Chosen by whoever brings it. */
  readonly key: string;
  readonly server: string;
  readonly share: string;
  /** Account that brings it, the owner's of the share. */
  readonly uid: string;
  readonly gid?: string;
  /** Absolute path at which it is kept until it is whole. */
  readonly part: string;
  /** Name it is to have, with the directories that it comes in. */
  readonly name: string;
  /** Bytes; absent: unknown. */
  readonly total?: number;
  /** Bytes for which room was taken, if these are others. */
  readonly reserved?: number;
  /** Name that it got, once it is whole. */
  readonly kept?: string;
  /** From when on it is deleted, in seconds since the epoch. */
  readonly due: number;
}

/** What is known of files that are being brought to shares. */
export class UnfinishedUploads {
  readonly #records: () => RecordStore | undefined;
  readonly #clock: Clock;
  /** Those that a request brings right now. */
  readonly #running = new Map<string, { readonly stop: AbortController; readonly over: Promise<void> }>();

  constructor(records: () => RecordStore | undefined, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  /** @throws {ERR_RECORD_STORE} */
  async find(share: Share, key: string): Promise<Upload | undefined> {
    const record = await this.#store().get(KIND, recordKey(share.server, share.id, key));
    return record && readUpload(record.content);
  }

  /** @throws {ERR_TOO_MANY_UPLOADS | ERR_RECORD_STORE} */
  async begin(
    share: Share,
    upload: Pick<Upload, "key" | "part" | "name" | "total" | "reserved">,
  ): Promise<Upload> {
    const store = this.#store();
    if ((await store.list(KIND, ownerKey(share.server, share.id))).length >= MOST) {
      throw httpError("ERR_TOO_MANY_UPLOADS");
    }
    const { server, id, uid, gid } = share;
    const begun = { ...upload, server, share: id, uid, gid, due: this.#now() + KEPT };
    await this.#keep(begun);
    return begun;
  }

  /** It is whole; whoever has not heard of that can ask for a day. */
  async finish(upload: Upload, kept: string): Promise<void> {
    await this.#keep({ ...upload, kept });
  }

  /** Forgets one; whether it was there: of several that delete it, one has done it. */
  async forget({ server, share, key }: Upload): Promise<boolean> {
    return await this.#store().remove(KIND, recordKey(server, share, key));
  }

  /** Those whose time is over. */
  async due(): Promise<readonly Upload[]> {
    const all = await this.#records()?.list(KIND) ?? [];
    return all.flatMap(({ content }) => readUpload(content) ?? []).filter(({ due }) => due <= this.#now());
  }

  /**
   * Runs what brings a part of a file, after whoever brings another part of it has been stopped: a request whose
   * connection was lost may not know it yet.
   * @param work Is told to stop by the signal.
   */
  async alone<T>(share: Share, key: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const name = recordKey(share.server, share.id, key);
    for (let other = this.#running.get(name); other !== undefined; other = this.#running.get(name)) {
      other.stop.abort(httpError("ERR_UPLOAD_INCOMPLETE", "the rest of it comes by another request"));
      await other.over;
    }
    const stop = new AbortController();
    const { promise: over, resolve } = Promise.withResolvers<void>();
    this.#running.set(name, { stop, over });
    try {
      return await work(stop.signal);
    } finally {
      this.#running.delete(name);
      resolve();
    }
  }

  async #keep(upload: Upload): Promise<void> {
    const { server, share, key, due } = upload;
    await this.#store().put(KIND, {
      key: recordKey(server, share, key),
      owner: ownerKey(server, share),
      made: this.#now(),
      ends: due + MORE,
      content: upload,
    }, 2 * MOST);
  }

  #store(): RecordStore {
    const store = this.#records();
    if (store === undefined) throw httpError("ERR_RECORD_STORE", "nothing is kept: no persistence.directory");
    return store;
  }

  #now(): number {
    return Math.floor(this.#clock() / 1000);
  }
}

function ownerKey(server: string, share: string): string {
  return `${server}/${share}`;
}

function recordKey(server: string, share: string, key: string): string {
  return `${server}/${share}/${key}`;
}

/** What {@link UnfinishedUploads} has kept; undefined if it is something else. */
function readUpload(content: unknown): Upload | undefined {
  if (typeof content !== "object" || content === null) return undefined;
  const member = (name: keyof Upload): unknown => Reflect.get(content, name);
  const text = (name: keyof Upload) => {
    const value = member(name);
    return typeof value === "string" ? value : undefined;
  };
  const number = (name: keyof Upload) => {
    const value = member(name);
    return typeof value === "number" ? value : undefined;
  };
  const [key, server, share, uid, part, name, due] = [
    text("key"),
    text("server"),
    text("share"),
    text("uid"),
    text("part"),
    text("name"),
    number("due"),
  ];
  if (
    key === undefined || server === undefined || share === undefined || uid === undefined ||
    part === undefined || name === undefined || due === undefined
  ) return undefined;
  return {
    key,
    server,
    share,
    uid,
    part,
    name,
    due,
    gid: text("gid"),
    total: number("total"),
    reserved: number("reserved"),
    kept: text("kept"),
  };
}
