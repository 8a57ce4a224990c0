import type { DaemonSession } from "../../../daemon/session/daemon_session.ts";
import { find, openFiles, removeTree, type Replacement, sizeOf } from "../../../files/files.ts";
import type { Logger } from "../../../logging/logger.ts";
import { parentOf } from "../../../model/absolute_path.ts";
import { httpError, isHttpError } from "../../../model/http_error.ts";
import { mediatedScope } from "../../../files/session_scope.ts";
import { ofAccount, type Upload } from "../../../sharing/store/upload_store.ts";
import type { SharingParts } from "../../share/sharing_parts.ts";

type DeletingParts = Pick<SharingParts, "sessions" | "uploads">;

const MAX_WAIT_MS = 300_000; // per upload; a directory may hold many files

/**
 * Deletes a partial file that the caller holds, and releases its quota. Ends a replacement that the caller holds.
 * @returns Whether the file already has its final name, and is kept.
 */
export async function deletePart(upload: Upload, { sessions, uploads }: DeletingParts): Promise<boolean> {
  const { server, uid, gid, part, name, target } = upload;
  const { store } = uploads.unfinished;
  const isDisplaced = upload.files === 0 && name !== part;
  const replacement = isDisplaced && target !== undefined ? { from: name, to: target } : undefined;
  const client = sessions.get(server);
  if (!upload.finished && client !== undefined) {
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    const open = (group?: string) =>
      openFiles(client, {
        user: uid,
        group,
        // From the root, since a directory that is gone would end the session.
        scope: { ...mediatedScope(replacement === undefined ? parentOf(part) : "/"), file: "/" },
        permission: "FULL",
        rateLimit: 0,
        limits: [],
      }, signal);
    using session = await open(gid).catch(() => open()); // the account may have left the group since
    if (replacement === undefined && await wasRenamed(session, upload)) {
      await store.finish(upload, false);
      return true;
    }
    const left = await find(session, part);
    const isRestored = left && replacement && await restore(session, part, replacement);
    if (left !== undefined && !isRestored) await removeTree(session, part, left.kind);
  }
  await store.delete(upload);
  return false;
}

/** Moves a target that was set aside back unless it is replaced. @throws {ERR_EXISTS} If another entry has its name now. */
async function restore(session: DaemonSession, part: string, { from, to }: Replacement): Promise<boolean> {
  const isFree = await find(session, to) === undefined;
  if (isFree) await session.rename(part, to);
  else if (await find(session, from) !== undefined) throw httpError("ERR_EXISTS", `${part} cannot go back`);
  return isFree;
}

/**
 * Runs work on a temporary path. Then deletes an entry that is left there, or moves it back if it was set aside and not
 * replaced, even if the process dies meanwhile ({@link deleteDue}).
 * @param work Calls `renamed` once the temporary file has its final name, or the entry that was set aside is replaced.
 */
export async function withTemporaryPath<T>(
  { server, uid, gid, part, replacement }: Pick<Upload, "server" | "uid" | "gid" | "part"> & {
    readonly replacement?: Replacement | undefined;
  },
  work: (renamed: () => void) => Promise<T>,
  parts: DeletingParts,
): Promise<T> {
  const { unfinished } = parts.uploads;
  const id = { server, share: ofAccount(uid), key: crypto.randomUUID() };
  return await unfinished.runExclusive(id, true, async (held) => {
    const left = { ...id, uid, gid, part, name: part, files: 0, bytes: 0, finished: false };
    const upload = { ...left, ...replacement && { name: replacement.from, target: replacement.to } };
    await unfinished.store.begin(upload, held.holder);
    held.upload = upload;
    let isRenamed = false;
    try {
      return await work(() => isRenamed = true);
    } finally {
      held.finished = true;
      // If that fails, it expires.
      const isGone = isRenamed && replacement === undefined;
      await (isGone ? unfinished.store.delete(id) : deletePart(isRenamed ? left : upload, parts))
        .catch(() => {});
    }
  });
}

/** Deletes uploads and temporary files that are idle for a day, and ends replacements, unless a request holds them. */
export async function deleteDue(parts: DeletingParts, log: Logger): Promise<void> {
  const { store } = parts.uploads.unfinished;
  for (;;) {
    const due = await store.due();
    let handled = 0;
    for (const idle of due) {
      const holder = crypto.randomUUID();
      try {
        const upload = await store.acquireDue(idle, holder);
        if (upload === undefined) continue;
        handled++;
        await deletePart(upload, parts);
      } catch (error) {
        log.warn("unfinished upload not deleted", { server: idle.server, uid: idle.uid, error });
        // It is due again in a day, so that later uploads do not wait for it. Some trees can never be deleted.
        const isHopeless = isHttpError(error, "ERR_NOT_EMPTY");
        await (isHopeless ? store.delete(idle) : store.release(idle, holder)).catch(() => {});
      }
    }
    if (handled === 0) return;
  }
}

/** Reports whether an earlier request renamed the file but could not record that. */
export async function wasRenamed(session: DaemonSession, { part, target, total }: Upload): Promise<boolean> {
  if (target === undefined || await sizeOf(session, part) !== undefined) return false;
  const size = await sizeOf(session, target);
  return size !== undefined && (total === undefined || size === total);
}
