import { ScryptSemaphore } from "../../authentication/password/stored_hash.ts";
import type { AttributeSource } from "../../attributes/attribute_source.ts";
import type { AccountLookup } from "../../authentication/account_status.ts";
import type { Recorder } from "../../notify/recorder.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Sinks } from "../../logging/sink.ts";
import { openShareStore, ShareStore } from "../../sharing/store/share_store.ts";
import { SHARE_DATABASE } from "../../sharing/store/schema.ts";
import { deleteDue } from "../access/drop/delete_part.ts";
import { UnfinishedUploads } from "../access/drop/unfinished_uploads.ts";
import type { Database } from "../../store/database.ts";
import type { Leases } from "../../store/leases.ts";
import { IN_MEMORY } from "../../store/sqlite_database.ts";
import { PathLocks } from "./path_locks.ts";
import type { SharingParts } from "./sharing_parts.ts";
import { RunningUses } from "../access/running_uses.ts";
import { UnreadAnswers } from "../long_text.ts";
import { ShareOwners } from "./share_owners.ts";

const PURGE_INTERVAL = 10 * 60 * 1000;

interface SharingOptions extends Pick<SharingParts, "sessions" | "clock"> {
  readonly place?: Database | string | undefined; // shared database, or an existing folder (`persistence.directory`); default: memory
  readonly leases?: Leases | undefined; // of all instances; absent for a single one
  readonly attributes: AttributeSource;
  readonly accountStatus: AccountLookup;
  readonly recorder?: Recorder | undefined;
  readonly sinks: Sinks;
  readonly log: Logger;
}

/**
 * Opens the store of shares and of uploads, also of uploads of own files, and deletes ended shares and unfinished uploads
 * regularly. @throws {UnknownDatabase} And file system errors.
 */
export function openSharing(
  { place, leases, attributes, accountStatus, recorder, sinks, log, ...given }: SharingOptions,
) {
  const { clock } = given;
  const file = place === undefined ? IN_MEMORY : `${place}/${SHARE_DATABASE}`;
  const store = typeof place === "object"
    ? new ShareStore(place, recorder)
    : openShareStore(file, clock, sinks.of("shares"), recorder);
  const purge = () => {
    store.purge().then(
      (ended) => ended > 0 && log.info("ended shares deleted", { shares: ended }),
      (error) => log.error("ended shares not deleted", { error }),
    );
  };
  const parts = {
    ...given,
    store,
    owners: new ShareOwners(attributes, accountStatus, log),
    uploads: { locks: new PathLocks(leases), unfinished: new UnfinishedUploads(store.uploads) },
    hashing: new ScryptSemaphore(),
    running: new RunningUses(store, clock),
    unread: new UnreadAnswers(),
    uses: sinks.of("share-uses").retriedBy(() => store.purge()),
    mails: recorder?.has("mail") ?? false,
  };
  const timer = setInterval(() => {
    purge();
    void deleteDue(parts, log).catch((error) => log.error("unfinished uploads not deleted", { error }));
  }, PURGE_INTERVAL);
  return {
    ...parts,
    close: () => {
      clearInterval(timer);
      parts.running.close();
      store.close();
    },
  };
}
