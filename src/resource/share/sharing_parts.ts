import type { ScryptSemaphore } from "../../authentication/password/stored_hash.ts";
import type { Sink } from "../../logging/sink.ts";
import type { Clock } from "../../model/clock.ts";
import type { HttpError } from "../../model/http_error.ts";
import type { SessionClient } from "../../daemon/session/session_client.ts";
import type { ShareStore } from "../../sharing/store/share_store.ts";
import type { UnfinishedUploads } from "../access/drop/unfinished_uploads.ts";
import type { RunningUses } from "../access/running_uses.ts";
import type { Call } from "../call.ts";
import type { UnreadAnswers } from "../long_text.ts";
import type { ServerFacts } from "../server_facts.ts";
import type { People } from "./people.ts";
import type { PathLocks } from "./path_locks.ts";
import type { ShareOwners } from "./share_owners.ts";

export interface SharingParts {
  /** All logical servers; those without sharing are unknown here. */
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly sessions: ReadonlyMap<string, SessionClient>; // by name of the server
  readonly store: ShareStore;
  /** `share.allowWriteAccess`: permits access above `READ`, for existing shares too. */
  readonly allowWriteAccess: boolean;
  readonly maxLifetimeSeconds: number; // `share.maxLifetime`; 0 is unlimited
  readonly maxPerUser: number; // `share.maxPerUser`, per server; 0 is unlimited
  readonly people?: People | undefined; // `share.suggestPeople`; absent if nobody is suggested
  readonly owners: Pick<ShareOwners, "limits" | "mapped">;
  readonly unauthenticated: (reason: string) => HttpError; // creates the 401; the reason is for the log
  readonly uploads: {
    readonly locks: PathLocks;
    readonly unfinished: UnfinishedUploads;
  };
  /** Runs a check of a link password, throttled like logins. @throws {ERR_TOO_MANY_FAILURES} And as `look`. */
  readonly guess: (
    who: { readonly link: string; readonly clientAddress: string; readonly signal: AbortSignal },
    /** @param knownAs Name of callers who showed the right password from this address before; see `Attempt`. */
    look: (knownAs?: string) => Promise<void>,
  ) => Promise<void>;
  readonly hashing: ScryptSemaphore; // limits concurrent hashing of link passwords
  /** Stops the caller's work on a ban. @returns Ends the watch. */
  readonly watch: (
    call: Pick<Call, "caller" | "clientAddress" | "user" | "signIn">,
    end: (reason: unknown) => void,
  ) => () => void;
  readonly running: RunningUses;
  readonly unread: UnreadAnswers;
  readonly transferred?: (direction: "download" | "upload", bytes: number) => void;
  readonly uses: Sink; // records of uses that ended
  readonly mails: boolean; // whether owners can have mail about files that arrived
  readonly clock: Clock;
}
