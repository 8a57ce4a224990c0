import { httpError } from "../../model/http_error.ts";
import {
  type Database,
  DatabaseFailure,
  type Row,
  row,
  rows,
  type Values,
  type Work,
} from "../../store/database.ts";
import { SQL } from "./share_sql.ts";
import { number, text } from "./share_row.ts";

/** Uploads of a share that have begun and not ended, at most. */
const MOST_UNFINISHED = 500;

/** Names an upload; the key is a digest of the one that the client chose. */
export interface UploadId {
  readonly server: string;
  readonly share: string;
  readonly key: string;
}

/** A file that is being brought to a share, or was within a day, as its first request described it. */
export interface Upload extends UploadId {
  /** Account under which it is written, and its group. */
  readonly uid: string;
  readonly gid?: string;
  /** Absolute path of the file until it is whole. */
  readonly part: string;
  /** Name below the share that it is to have, with its directories. */
  readonly name: string;
  /** Bytes; absent: unknown. */
  readonly total?: number;
  /** What it takes of the share's quota now. */
  readonly files: number;
  readonly bytes: number;
  /** Absolute path that the file is about to get, or has; no other unfinished upload has it. */
  readonly target?: string;
  /** Whether the file has got that path. */
  readonly kept: boolean;
}

/**
 * The uploads to all shares, for all instances. One request at a time holds an upload, on whichever instance; it has to renew
 * that, and loses it otherwise. What an upload takes of a quota is changed in the transaction that changes the upload.
 * @throws {ERR_SHARE_STORE} Each method, if the database cannot do it.
 */
export class UploadStore {
  constructor(readonly database: Database) {}

  /** Takes an upload; "busy" asks the request that holds it to stop. */
  hold(id: UploadId, holder: string): Promise<Upload | "busy" | undefined> {
    return this.#change(function* () {
      const held = yield* first("holdUpload", { ...keyOf(id), holder });
      if (held !== undefined) return toUpload(held);
      return (yield* first("wantUpload", keyOf(id))) === undefined ? undefined : "busy";
    });
  }

  /** Takes an upload to which nothing has come for a day; undefined if a request has it, or something came. */
  holdDue(id: UploadId, holder: string): Promise<Upload | undefined> {
    return this.#change(function* () {
      const held = yield* first("holdDueUpload", { ...keyOf(id), holder });
      return held && toUpload(held);
    });
  }

  /**
   * Takes room in the quota of the share and notes the upload, both or neither.
   * @returns Undefined if another request has begun it meanwhile.
   * @throws {ERR_TOO_MANY_UPLOADS | ERR_QUOTA_USED}
   */
  begin(upload: Upload, holder: string): Promise<Upload | undefined> {
    const { server, share, uid, gid = null, part, name, total = null, files, bytes } = upload;
    return this.#change(function* () {
      const begun = { ...keyOf(upload), uid, gid, part, name, total, files, bytes, holder };
      const inserted = yield* first("insertUpload", begun);
      if (inserted === undefined) return undefined;
      const count = yield* first("unfinishedUploads", { server, id: share, most: MOST_UNFINISHED });
      if (count !== undefined) throw httpError("ERR_TOO_MANY_UPLOADS");
      const reserved = yield* first("reserve", { server, id: share, files, bytes });
      if (reserved === undefined) throw httpError("ERR_QUOTA_USED");
      return toUpload(inserted);
    }, `uploads to ${server}`);
  }

  /** Goes on holding an upload, to which bytes may have come. @returns False if it has to stop. */
  renew(id: UploadId, holder: string): Promise<boolean> {
    return this.#change(function* () {
      const renewed = yield* first("renewUpload", { ...keyOf(id), holder });
      return renewed !== undefined && number(renewed, "wanted") === 0;
    });
  }

  /** Lets others hold an upload. */
  leave(id: UploadId, holder: string): Promise<void> {
    return this.#change(function* () {
      yield* first("leaveUpload", { ...keyOf(id), holder });
    });
  }

  /** Changes what an upload takes of the quota. @throws {ERR_QUOTA_USED | ERR_UPLOAD_INCOMPLETE} Nothing is changed then. */
  resize(id: UploadId, holder: string, to: { files: number; bytes: number }): Promise<void> {
    const share = { server: id.server, id: id.share };
    return this.#change(function* () {
      const before = yield* first("uploadOf", keyOf(id));
      const resized = yield* first("resizeUpload", { ...keyOf(id), holder, ...to });
      if (before === undefined || resized === undefined) {
        throw httpError("ERR_UPLOAD_INCOMPLETE", "another request has it");
      }
      const more = [to.files - number(before, "files"), to.bytes - number(before, "bytes")] as const;
      const [lessFiles, lessBytes] = more.map((each) => Math.max(0, -each));
      yield* first("release", { ...share, files: lessFiles ?? 0, bytes: lessBytes ?? 0 });
      const [files = 0, bytes = 0] = more.map((each) => Math.max(0, each));
      if (files + bytes === 0) return;
      if ((yield* first("reserve", { ...share, files, bytes })) === undefined) {
        throw httpError("ERR_QUOTA_USED");
      }
    });
  }

  /**
   * Notes which path the file is about to get, before it does; undefined: none any more.
   * @returns False if another unfinished upload has that path, or another request holds this one.
   */
  name(id: UploadId, holder: string, target: string | undefined): Promise<boolean> {
    return this.#change(function* () {
      return (yield* first("nameUpload", { ...keyOf(id), holder, target: target ?? null })) !== undefined;
    }, `uploads to ${id.server}`);
  }

  /** Notes that the file has its path. @param remember Whether somebody may ask for it again. */
  finish(id: UploadId, remember: boolean): Promise<void> {
    return this.#change(function* () {
      yield* first(remember ? "keepUpload" : "forgetUpload", keyOf(id));
    });
  }

  /** Forgets an upload and gives back what it took of the quota, together and once. */
  forget(id: UploadId): Promise<void> {
    return this.#change(function* () {
      const gone = yield* first("forgetUpload", keyOf(id));
      if (gone === undefined || number(gone, "kept") === 1) return;
      const [files, bytes] = [number(gone, "files"), number(gone, "bytes")];
      yield* first("release", { server: id.server, id: id.share, files, bytes });
    });
  }

  /** Some uploads to which nothing has come for a day, and that no request holds. */
  due(): Promise<readonly Upload[]> {
    return this.database.read(() => rows(SQL.dueUploads, {})).then((found) => found.map(toUpload), refused);
  }

  #change<T>(work: () => Work<T>, alone?: string): Promise<T> {
    return this.database.change(work, { alone }).catch(refused);
  }
}

function refused(error: unknown): never {
  throw error instanceof DatabaseFailure ? httpError("ERR_SHARE_STORE", error.message, error) : error;
}

function first(name: keyof typeof SQL, values: Values): Work<Row | undefined> {
  return row(SQL[name], values);
}

function keyOf({ server, share, key }: UploadId): Values {
  return { server, id: share, key };
}

function toUpload(found: Row): Upload {
  const optional = (name: string) => found[name] === null ? undefined : text(found, name);
  return {
    server: text(found, "server"),
    share: text(found, "share"),
    key: text(found, "key"),
    uid: text(found, "uid"),
    gid: optional("gid"),
    part: text(found, "part"),
    name: text(found, "name"),
    total: found["total"] === null ? undefined : number(found, "total"),
    files: number(found, "files"),
    bytes: number(found, "bytes"),
    target: optional("target"),
    kept: number(found, "kept") === 1,
  };
}
