import type { DaemonSession } from "../../../daemon/session/daemon_session.ts";
import { openFiles, sizeOf } from "../../../files/files.ts";
import type { Logger } from "../../../logging/logger.ts";
import { parentOf } from "../../../model/absolute_path.ts";
import { mediatedScope } from "../../../files/session_scope.ts";
import { ofAccount, type Upload } from "../../../sharing/store/upload_store.ts";
import type { SharingParts } from "../../share/sharing_parts.ts";

type DeletingParts = Pick<SharingParts, "sessions" | "uploads">;

/** Per upload. */
const MAX_WAIT_MS = 30_000;

/** Deletes the part of a file that the caller holds, and returns its quota. @returns Whether it has its final name, and stays. */
export async function deletePart(upload: Upload, { sessions, uploads }: DeletingParts): Promise<boolean> {
  const { server, uid, gid, part } = upload;
  const { store } = uploads.unfinished;
  const client = sessions.get(server);
  if (!upload.kept && client !== undefined) {
    using session = await openFiles(client, {
      user: uid,
      group: gid,
      scope: mediatedScope(parentOf(part)),
      permission: "FULL",
      rateLimit: 0,
      limits: [],
    }, AbortSignal.timeout(MAX_WAIT_MS));
    if (await hasItsName(session, upload)) {
      await store.finish(upload, false);
      return true;
    }
    if (await sizeOf(session, part) !== undefined) await session.remove(part);
  }
  await store.forget(upload);
  return false;
}

/**
 * Runs work that writes a temporary file and may rename it. Deletes one that stays, even if the process dies meanwhile
 * ({@link deleteDue}).
 * @param work Calls `renamed` once the file has its name.
 */
export async function withTemporary<T>(
  { server, uid, gid, part }: Pick<Upload, "server" | "uid" | "gid" | "part">,
  work: (renamed: () => void) => Promise<T>,
  parts: DeletingParts,
): Promise<T> {
  const { unfinished } = parts.uploads;
  const id = { server, share: ofAccount(uid), key: crypto.randomUUID() };
  return await unfinished.alone(id, true, async (held) => {
    const upload = { ...id, uid, gid, part, name: part, files: 0, bytes: 0, kept: false };
    held.upload = await unfinished.store.begin(upload, held.holder);
    let isRenamed = false;
    try {
      return await work(() => isRenamed = true);
    } finally {
      held.over = true;
      // If that fails, it expires.
      await (isRenamed ? unfinished.store.forget(id) : deletePart(upload, parts)).catch(() => {});
    }
  });
}

/** Deletes uploads that are idle for a day and not held by a request. */
export async function deleteDue(parts: DeletingParts, log: Logger): Promise<void> {
  const { store } = parts.uploads.unfinished;
  for (;;) {
    const due = await store.due();
    let handled = 0;
    for (const { server, share, key, uid } of due) {
      const holder = crypto.randomUUID();
      try {
        const upload = await store.holdDue({ server, share, key }, holder);
        if (upload === undefined) continue;
        handled++;
        await deletePart(upload, parts);
      } catch (error) {
        log.warn("unfinished upload not deleted", { server, uid, error });
        // It is due again in a day: those that come behind it must not wait for it.
        await store.leave({ server, share, key }, holder).catch(() => {});
      }
    }
    if (handled === 0) return;
  }
}

/** Reports whether an earlier request renamed the file but could not record that. */
export async function hasItsName(session: DaemonSession, { part, target, total }: Upload): Promise<boolean> {
  if (target === undefined || await sizeOf(session, part) !== undefined) return false;
  const size = await sizeOf(session, target);
  return size !== undefined && (total === undefined || size === total);
}
