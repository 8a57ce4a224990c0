import type { ScryptSemaphore } from "../../authentication/password/scrypt_semaphore.ts";
import type { UserAttributes } from "../../attributes/user_attributes.ts";
import type { Clock } from "../../model/clock.ts";
import type { Caller } from "../../model/identity.ts";
import type { HttpError } from "../../model/http_error.ts";
import type { SessionClient } from "../../daemon/session/session_client.ts";
import type { ShareStore } from "../../sharing/store/share_store.ts";
import type { UnfinishedUploads } from "../access/drop/unfinished_uploads.ts";
import type { RunningUses } from "../access/running_uses.ts";
import type { UnreadAnswers } from "../long_text.ts";
import type { ServerFacts } from "../server_facts.ts";
import type { ShareOwners } from "./share_owners.ts";
import { FairSemaphore } from "../../model/fair_semaphore.ts";

/** What the share and access resources work with. */
export interface SharingParts {
  /** All logical servers; those without sharing are unknown here. */
  readonly servers: ReadonlyMap<string, ServerFacts>;
  /** Session clients of the servers with sharing, by name. */
  readonly sessions: ReadonlyMap<string, SessionClient>;
  readonly store: ShareStore;
  /** `share.allowWriteAccess`: whether anything above `READ` is granted at all, now and for existing shares. */
  readonly allowWriteAccess: boolean;
  /** Longest life of a share in seconds, `share.maxLifetime`; 0 is no bound. */
  readonly maxLifetimeSeconds: number;
  /** Shares that a user may have on a server, `share.maxPerUser`; 0 is no bound. */
  readonly maxPerUser: number;
  /** What is known of owners who are not there: it can have changed since a share was made. */
  readonly owners: Pick<ShareOwners, "limits" | "mapped">;
  /** The error that asks a caller without credentials for some; the reason is for the log. */
  readonly unauthenticated: (reason: string) => HttpError;
  readonly uploads: {
    readonly semaphore: PathLocks;
    readonly unfinished: UnfinishedUploads;
  };
  /** Has the password of a link looked at, as slowly as those of users. @throws {ERR_TOO_MANY_FAILURES} What the look throws. */
  readonly guess: (
    who: { readonly link: string; readonly clientAddress: string; readonly signal: AbortSignal },
    /** @param knownAs Name for who has shown the right one from this address before; see `Attempt`. */
    look: (knownAs?: string) => Promise<void>,
  ) => Promise<void>;
  /** Where passwords of links wait to be hashed. */
  readonly hashing: ScryptSemaphore;
  /** Has what a caller has under way ended once the operator bans them. @returns To be called when it is over. */
  readonly watch: (
    call: { readonly caller: Caller; readonly clientAddress: string; readonly user: UserAttributes },
    end: (reason: unknown) => void,
  ) => () => void;
  /** Ends transfers in progress with their shares. */
  readonly running: RunningUses;
  /** Long lists on their way to their readers. */
  readonly unread: UnreadAnswers;
  /** Told of the bytes that passed through the service; absent: nobody counts them. */
  readonly transferred?: (direction: "download" | "upload", bytes: number) => void;
  readonly clock: Clock;
}

/** Lets one at a time look at a path and begin to write there, so that what it saw still holds. */
export class PathLocks {
  // Who waits has a session of the daemon already, and of these there are few.
  readonly #semaphore = new FairSemaphore({
    atOnce: Infinity,
    atOncePerKey: 1,
    waiting: Infinity,
    perKey: Infinity,
  });

  /**
   * Waits for the turn at a path of a server.
   * @returns Ends the turn; may be called any number of times.
   * @throws The signal's reason.
   */
  async take(server: string, path: string, signal: AbortSignal): Promise<() => void> {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin, reject } = Promise.withResolvers<void>();
    const work = () => {
      begin();
      return over;
    };
    this.#semaphore.run(work, { queueKey: `${server}:${path}`, known: true, signal }).catch(reject);
    await begun;
    return end;
  }
}
