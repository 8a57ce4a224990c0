import type { SessionClient } from "../daemon/session/session_client.ts";
import { type FilesSession, openFiles } from "../files/files.ts";
import { mediatedScope } from "../files/session_scope.ts";
import { HttpError } from "../model/http_error.ts";

/**
 * Opens a session of an account in a group and closes it: the daemon checks the group only at a login.
 * @returns Why the daemon refuses the group; undefined if it does not.
 * @throws Refusals of the daemon for other reasons.
 */
export async function groupRefusal(
  sessions: Pick<SessionClient, "open">,
  { user, group, instance }: Pick<FilesSession, "user" | "group" | "instance">,
  signal: AbortSignal,
): Promise<"unknown" | "not a member" | undefined> {
  const rights = { scope: mediatedScope("/"), limits: [], permission: "INFO", rateLimit: 0 } as const;
  try {
    (await openFiles(sessions, { user, group, instance, ...rights }, signal)).close();
    return undefined;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (/unknown (?:primary|supplementary) group/.test(error.message)) return "unknown";
    if (/not a member of the group/.test(error.message)) return "not a member";
    throw error;
  }
}
