import type { Continuation, Making, Share, ShareDraft, ShareTerms, Use, UseStart } from "../share.ts";

/** Reserved use of a share, to be finished or given back. */
export interface Claim {
  readonly share: Share; // after the reservation
  readonly use: number; // key of the use record
  readonly renewals: number; // renewals of the terms: a use of earlier terms is not returned to later ones
  readonly continued: boolean; // whether it continues an earlier use, which stays taken
  readonly told: readonly string[] | undefined; // recorded notifications
}

/** Change of a share; an empty note, password or mail address removes it. */
export type ShareChange =
  & Partial<Pick<ShareTerms, "path" | "expires" | "sources" | "note" | "password" | "mail">>
  & {
    readonly made?: Making; // owner's current rights, for a new path
  };

/** Part of a list. */
export interface Part {
  readonly after?: Pick<Share, "created" | "id">; // preceding share
  readonly most?: number; // default 1000
}

/** Filter of a list; absent members match all. */
export interface Listed {
  readonly server?: string;
  readonly owner?: string; // canonical DN
}

/** Position behind a share in a list. */
export type Place = Pick<Share, "server" | "created" | "id">;

/** Page of a list, ordered by server and id, or for one owner by server and age. */
export interface Page {
  readonly shares: readonly Share[];
  readonly next?: Place; // start of the next page
}

/**
 * Shares of all servers. A change is one transaction and durable when its promise resolves. Names are canonical DNs,
 * compared as text (rest-api.md 2.6). Expired shares are invisible.
 */
export interface ShareStore {
  /**
   * Adds a share, or renews the owner's live share of exactly this path and target (rest-api.md 2.3), which keeps id,
   * account and access count; running uses are not returned to it.
   * @param most Usable shares per owner and server; 0 is unlimited. The same number of used-up shares stays readable.
   * @throws {ERR_SHARED_BY_ANOTHER} If it would intercept users of an earlier share of another owner, unless in the owner's
   * home.
   * @throws {ERR_TOO_MANY_SHARES}
   */
  put(server: string, draft: ShareDraft, most?: number): Promise<Share>;
  /** Includes used-up shares. */
  get(server: string, id: string): Promise<Share | undefined>;
  /** Returns an owner's usable shares, oldest first. */
  ownedBy(server: string, owner: string, part?: Part): Promise<readonly Share[]>;
  /** Returns usable shares with one of these targets, oldest first. */
  targetedAt(server: string, targets: readonly string[], part?: Part): Promise<readonly Share[]>;
  /** Returns the first 1000 usable shares with one of these paths and one of these targets. */
  withPaths(server: string, paths: readonly string[], targets: readonly string[]): Promise<readonly Share[]>;
  /** Reports whether usable shares have one of these paths. */
  anyWithPaths(server: string, paths: readonly string[]): Promise<boolean>;
  /** Changes a share but not its uses; undefined if it does not exist. @throws {ERR_SHARED_BY_ANOTHER} As {@link put}, for a new path. */
  change(server: string, id: string, change: ShareChange): Promise<Share | undefined>;
  /** Removes a share with its use records. @returns Whether it existed. */
  remove(server: string, id: string): Promise<boolean>;
  /** Removes the owner's shares of exactly this path and target. @returns Their number. */
  removeByPath(server: string, owner: string, path: string, target: string): Promise<number>;
  /**
   * Reserves and records one use, or continues the same person's use of the last hour, atomically.
   * @returns Undefined if the share is unknown, expired or used up.
   */
  claim(server: string, id: string, use: UseStart): Promise<Claim | undefined>;
  /** Records that a person looked at a page of the share, which takes no use. */
  recordLook(server: string, id: string, look: UseStart): Promise<void>;
  /** Reports whether the person downloaded from the share in the last hour and could continue. */
  canContinue(
    server: string,
    id: string,
    person: Pick<UseStart, "who" | "address"> & Omit<Continuation, "version">,
  ): Promise<boolean>;
  /** Undoes a reservation and its record, unless the share was renewed or the use continued since. */
  giveBack(claim: Claim): Promise<void>;
  /** Records the end of a use. @param result.arrived Whether a file was uploaded in place. */
  finish(
    claim: Claim,
    result: { readonly bytes: number; readonly complete: boolean; readonly arrived?: boolean },
  ): Promise<void>;
  /** Returns the latest uses, newest first. */
  usesOf(server: string, id: string, limit: number): Promise<readonly Use[]>;
  /**
   * Returns a page of unexpired shares; it can be shorter than requested, or empty, with more to come.
   * @param part.look Shares to read, expired ones too; default `most`.
   */
  page(
    of: Listed,
    part?: { readonly after?: Place | undefined; readonly most?: number; readonly look?: number },
  ): Promise<Page>;
  /** Returns the shares with an id, at most one per server. */
  withId(id: string): Promise<readonly Share[]>;
  /** Counts unexpired shares; estimates many. */
  count(): Promise<number>;
  /** Applies an operator's change; undefined if the share does not exist. A new owner, account or path clears `made`, a new owner `mail`. */
  amend(
    server: string,
    id: string,
    to: Pick<Share, "owner" | "target" | "uid" | "gid" | "path">,
  ): Promise<Share | undefined>;
  /** Imports shares with their ids. @returns Shares whose ids existed. */
  addAll(shares: readonly Share[]): Promise<readonly Share[]>;
  /** Deletes expired shares, and used-up ones after their time. @returns Their number. */
  purge(): Promise<number>;
  close(): void;
}
