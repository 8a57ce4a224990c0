import { httpError } from "../../model/http_error.ts";
import type { ChangeOptions, Database, Row, SqlSteps, Values } from "../../store/database.ts";
import { rows } from "../../store/database.ts";
import { Recorder } from "../../notify/recorder.ts";
import { fileArrived, usedUp } from "./share_events.ts";
import { first, rethrow, SQL } from "./share_sql.ts";
import { number, numberOrNone, text, textOrNone, toShare } from "./share_row.ts";

const MAX_UNFINISHED = 500;
/** Most bytes of an upload whose beginning reaches the disk together with its name, which is recorded soon. */
const SMALL_UPLOAD = 1024 ** 2;

/** Identity of an upload; the key is a digest of the client's key. */
export interface UploadId {
  readonly server: string;
  readonly share: string; // or {@link ofAccount}
  readonly key: string;
}

/** Unfinished or recent upload, as its first request described it. */
export interface Upload extends UploadId {
  readonly uid: string; // account that writes the file
  readonly gid?: string;
  readonly part: string; // absolute path while incomplete
  readonly name: string; // requested below the share; or `part` itself, or the path that replaces the file set aside there
  readonly total?: number; // bytes, if known
  readonly files: number; // reserved quota; 0 if it cannot be resumed
  readonly bytes: number;
  readonly target?: string; // absolute final path; unique among unfinished uploads
  readonly finished: boolean; // whether the file was renamed to `target`
}

/** Returns the replacement of a share's id for an account's own files. */
export function ofAccount(uid: string): string {
  return `~${uid}`;
}

/** Uploads of all instances. One request holds an upload by a lease. Methods throw {@link ERR_SHARE_STORE}. */
export class UploadStore {
  constructor(readonly database: Database, readonly recorder: Recorder) {}

  /** Acquires an upload; returns "busy" after asking its present holder to stop. */
  async acquire(id: UploadId, holder: string): Promise<Upload | "busy" | undefined> {
    if (await this.database.read(() => first("uploadOf", keyOf(id))).catch(rethrow) === undefined) {
      return undefined;
    }
    return await this.change(function* () {
      const held = yield* first("acquireUpload", { ...keyOf(id), holder });
      if (held !== undefined) return toUpload(held);
      return (yield* first("wantUpload", keyOf(id))) === undefined ? undefined : "busy";
    });
  }

  /** Reports whether an upload has its final name. */
  async isFinished(id: UploadId): Promise<boolean> {
    const found = await this.database.read(() => first("uploadOf", keyOf(id))).catch(rethrow);
    return found !== undefined && number(found, "kept") === 1;
  }

  /** Acquires a due upload; undefined if that changed. */
  acquireDue(id: UploadId, holder: string): Promise<Upload | undefined> {
    return this.change(function* () {
      const held = yield* first("acquireDueUpload", { ...keyOf(id), holder });
      return held && toUpload(held);
    });
  }

  /** Reserves quota and records the upload. @throws {ERR_UPLOAD_INCOMPLETE | ERR_TOO_MANY_UPLOADS | ERR_QUOTA_USED} */
  begin(upload: Upload, holder: string, client?: string): Promise<void> {
    return this.change(() => this.beginning(upload, holder, client), this.changeOptions(upload));
  }

  /** As {@link begin}, within {@link changeOptions}. @param of 32 characters that tell clients apart; default: unique. */
  *beginning(upload: Upload, holder: string, of = holder): SqlSteps<void> {
    const { server, share: id, uid, gid = null, part, name, total = null, files, bytes, target = null } =
      upload;
    const touched = files > 0 || name === part ? null : 0; // a file that is set aside is due as soon as its hold ends
    const client = of.slice(0, 32).padEnd(32);
    const begun = { ...keyOf(upload), uid, gid, part, name, total, files, bytes, target, touched };
    if ((yield* first("insertUpload", { ...begun, holder, client })) === undefined) {
      throw httpError("ERR_UPLOAD_INCOMPLETE", "another request has just begun it");
    }
    const full = yield* first("unfinishedUploads", { server, id, client, most: MAX_UNFINISHED });
    if (full !== undefined) throw httpError("ERR_TOO_MANY_UPLOADS");
    yield* reserve({ server, id, files, bytes });
  }

  changeOptions({ server, total = Infinity }: Upload): ChangeOptions {
    return { lock: `uploads to ${server}`, asyncCommit: total <= SMALL_UPLOAD };
  }

  /** Renews the lease. @returns False if the request must stop. */
  renew(id: UploadId, holder: string): Promise<boolean> {
    return this.change(function* () {
      const renewed = yield* first("renewUpload", { ...keyOf(id), holder });
      return renewed !== undefined && number(renewed, "wanted") === 0;
    });
  }

  release(id: UploadId, holder: string): Promise<void> {
    return this.change(function* () {
      yield* first("releaseUpload", { ...keyOf(id), holder });
    });
  }

  /** Changes the reserved quota. @throws {ERR_QUOTA_USED | ERR_UPLOAD_INCOMPLETE} Without a change. */
  resize(id: UploadId, holder: string, to: { files: number; bytes: number }): Promise<void> {
    const share = { server: id.server, id: id.share };
    return this.change(function* () {
      const before = yield* first("uploadOf", keyOf(id));
      const resized = yield* first("resizeUpload", { ...keyOf(id), holder, ...to });
      if (before === undefined || resized === undefined) {
        throw httpError("ERR_UPLOAD_INCOMPLETE", "another request has it");
      }
      const more = { files: to.files - number(before, "files"), bytes: to.bytes - number(before, "bytes") };
      yield* first("release", { ...share, files: Math.max(0, -more.files), bytes: Math.max(0, -more.bytes) });
      const [files, bytes] = [Math.max(0, more.files), Math.max(0, more.bytes)];
      if (files + bytes === 0) return;
      yield* reserve({ ...share, files, bytes });
    });
  }

  /**
   * Records the final path before the rename; undefined clears it.
   * @param replaces Whether to clear that path from an upload without a holder. @returns False if another upload has it.
   */
  setTarget(id: UploadId, holder: string, target: string | undefined, replaces = false): Promise<boolean> {
    return this.change(function* () {
      if (replaces) yield* first("clearTarget", { server: id.server, target: target ?? null });
      return (yield* first("setTarget", { ...keyOf(id), holder, target: target ?? null })) !== undefined;
    }, { lock: `uploads to ${id.server}` });
  }

  finish(id: UploadId, remember: boolean): Promise<void> {
    return this.change(() => this.finishing(id, remember), { asyncCommit: true });
  }

  /** Records that an upload has its final name. If that is lost, the next request infers it from the file's name. */
  *finishing(id: UploadId, remember: boolean): SqlSteps<void> {
    const { recorder } = this;
    const found = yield* first(remember ? "finishUpload" : "deleteUpload", keyOf(id));
    if (found === undefined || (!remember && number(found, "kept") === 1) || !recorder.isActive) return;
    const row = yield* first("lock", { server: id.server, id: id.share });
    if (row === undefined) return;
    const [share, { target, name, total, bytes }] = [toShare(row), toUpload(found)];
    const file = target ?? `${share.path}${name}`;
    yield* recorder.record(fileArrived(share, file, total ?? bytes), ...usedUp(share));
  }

  /** Deletes an upload and releases its quota, once. Directories created for it keep their quota. */
  delete(id: UploadId): Promise<void> {
    return this.change(function* () {
      const gone = yield* first("deleteUpload", keyOf(id));
      if (gone === undefined || number(gone, "kept") === 1) return;
      const [files, bytes] = [Math.min(number(gone, "files"), 1), number(gone, "bytes")];
      yield* first("release", { server: id.server, id: id.share, files, bytes });
    });
  }

  /** Returns some uploads without a holder that are idle for a day, or whose file is set aside. */
  due(): Promise<readonly Upload[]> {
    return this.database.read(() => rows(SQL.dueUploads, {})).then((found) => found.map(toUpload), rethrow);
  }

  change<T>(work: () => SqlSteps<T>, options?: ChangeOptions): Promise<T> {
    return this.database.change(work, options).catch(rethrow);
  }
}

/** Reserves quota; own files have no quota. @throws {ERR_QUOTA_USED} */
function* reserve(wanted: { server: string; id: string; files: number; bytes: number }): SqlSteps<void> {
  if (wanted.id.startsWith(ofAccount("")) || (yield* first("reserve", wanted)) !== undefined) return;
  throw httpError("ERR_QUOTA_USED");
}

function keyOf({ server, share, key }: UploadId): Values {
  return { server, id: share, key };
}

function toUpload(found: Row): Upload {
  return {
    server: text(found, "server"),
    share: text(found, "share"),
    key: text(found, "key"),
    uid: text(found, "uid"),
    gid: textOrNone(found, "gid"),
    part: text(found, "part"),
    name: text(found, "name"),
    total: numberOrNone(found, "total"),
    files: number(found, "files"),
    bytes: number(found, "bytes"),
    target: textOrNone(found, "target"),
    finished: number(found, "kept") === 1,
  };
}
