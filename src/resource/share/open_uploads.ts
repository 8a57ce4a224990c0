import type { Clock } from "../../model/clock.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Sinks } from "../../logging/sink.ts";
import type { Recorder } from "../../notify/recorder.ts";
import { SHARE_DATABASE } from "../../sharing/store/schema.ts";
import { openShareStore, ShareStore } from "../../sharing/store/share_store.ts";
import type { Database } from "../../store/database.ts";
import type { SharedMarks } from "../../store/shared_marks.ts";
import { IN_MEMORY } from "../../store/sqlite_database.ts";
import { deleteDue } from "../access/drop/delete_part.ts";
import { UnfinishedUploads } from "../access/drop/unfinished_uploads.ts";
import { UnreadAnswers } from "../long_text.ts";
import { PathLocks } from "./path_locks.ts";
import type { SharingParts } from "./sharing_parts.ts";

const CLEANING_INTERVAL = 10 * 60 * 1000;

interface UploadOptions extends Pick<SharingParts, "sessions"> {
  readonly place: Database | string | undefined; // shared database, or an existing folder; default: memory
  readonly marks: SharedMarks | undefined; // of all instances; absent for a single one
  readonly recorder: Recorder | undefined;
  readonly sinks: Sinks;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Opens the store of shares and uploads, and deletes unfinished uploads regularly. @throws {UnknownDatabase} And file system errors. */
export function openUploads({ place, marks, recorder, sinks, log, clock, sessions }: UploadOptions) {
  const file = place === undefined ? IN_MEMORY : `${place}/${SHARE_DATABASE}`;
  const store = typeof place === "object"
    ? new ShareStore(place, recorder)
    : openShareStore(file, clock, sinks.of("shares"), recorder);
  const parts = {
    sessions,
    store,
    clock,
    uploads: { locks: new PathLocks(marks), unfinished: new UnfinishedUploads(store.uploads) },
    unread: new UnreadAnswers(),
    uses: sinks.of("share-uses"),
  };
  const timer = setInterval(() => {
    void deleteDue(parts, log).catch((error) => log.error("unfinished uploads not deleted", { error }));
  }, CLEANING_INTERVAL);
  return {
    ...parts,
    close: () => {
      clearInterval(timer);
      store.close();
    },
  };
}
