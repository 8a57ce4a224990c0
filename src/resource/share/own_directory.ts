import type { Entry } from "../../daemon/session/entry.ts";
import { withinLimits } from "../../sharing/rules/owner_limits.ts";
import { mediatedScope } from "../../sharing/rules/session_scope.ts";
import { ListingPart } from "../access/listing_part.ts";
import { parseListingQuery } from "../access/listing_query.ts";
import type { Call } from "../call.ts";
import { fullPath, shareAccount } from "./checked_path.ts";
import { sharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";

/** Entries of a part of a directory. */
const MOST_ENTRIES = 500;

/** A directory that the caller may share something of. */
interface OwnDirectory {
  /** Absolute, with a slash at its end. */
  readonly path: string;
  /** Those that the caller's limits leave, directories first. */
  readonly entries: readonly Entry[];
  /** Where the next part begins; absent behind the last one. */
  readonly next: string | undefined;
}

/**
 * One of the caller's own directories, as the daemon shows it to their account.
 * @param path Empty is the home directory. Order and part are those of a listing of shared files, by the query of the call.
 * @throws {ERR_NOT_FOUND | ERR_INVALID_PATH | ERR_NOT_PERMITTED} and what sessions throw.
 */
export async function ownDirectory(call: Call, path: string, parts: SharingParts): Promise<OwnDirectory> {
  const server = sharedServer(call, parts);
  const account = shareAccount(call, server.name);
  const directory = await fullPath(
    path === "" || path.endsWith("/") ? path : `${path}/`,
    () => account.uid,
    server,
    call.signal,
  );
  const part = new ListingPart(parseListingQuery(call.query), MOST_ENTRIES);
  const session = await server.sessions.open({
    user: account.uid,
    group: account.gid,
    scope: mediatedScope(directory),
    permission: "INFO",
    rateLimit: 0,
    instance: server.instance,
  }, call.signal);
  try {
    await session.list(directory, (entry) => {
      const { name, kind } = entry;
      const full = `${directory}${name}${kind === "directory" ? "/" : ""}`;
      if (kind !== "special" && withinLimits(account, full)) part.add(entry);
    });
  } finally {
    session.close();
  }
  const { entries, next } = part.finish();
  return { path: directory, entries, next };
}
