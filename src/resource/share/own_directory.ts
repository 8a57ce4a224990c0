import type { Entry } from "../../daemon/session/entry.ts";
import { withinLimits } from "../../sharing/rules/owner_limits.ts";
import { mediatedScope } from "../../sharing/rules/session_scope.ts";
import { ListingPart } from "../access/listing_part.ts";
import { parseListingQuery } from "../access/listing_query.ts";
import type { Call } from "../call.ts";
import { fullPath, shareAccount } from "./checked_path.ts";
import { sharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";

const MOST_ENTRIES = 500;

interface OwnDirectory {
  readonly path: string;
  /** Within the caller's limits, directories first. */
  readonly entries: readonly Entry[];
  /** Start of the next part. */
  readonly next: string | undefined;
}

/**
 * Lists one of the caller's directories under their account. @param path Empty is the home directory.
 * @throws {ERR_NOT_FOUND | ERR_INVALID_PATH | ERR_NOT_PERMITTED} And as sessions.
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
