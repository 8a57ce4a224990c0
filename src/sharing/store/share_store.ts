import type { Making, Share, ShareDraft, ShareTerms, Use, UseStart } from "../share.ts";

/** A use that was granted: to be given back if nothing came of it, or finished. */
export interface Claim {
  /** The share as it is after the claim. */
  readonly share: Share;
  /** Key of the use record. */
  readonly use: number;
  /** How often the share had been given new terms: a use of earlier terms is not given back to later ones. */
  readonly renewals: number;
}

/** What can be changed about a share while it is in use; an empty note or password is none from then on. */
export type ShareChange = Partial<Pick<ShareTerms, "path" | "expires" | "sources" | "note" | "password">> & {
  /** What is known about the owner now; with a new path. */
  readonly made?: Making;
};

/** A part of a list of shares. */
export interface Part {
  /** Share before it; absent: from the start. */
  readonly after?: Pick<Share, "created" | "id">;
  /** How many at most, default 1000. */
  readonly most?: number;
}

/** Which shares are listed; an absent server or owner means all of them. */
export interface Listed {
  readonly server?: string;
  /** In canonical DN. */
  readonly owner?: string;
}

/** A place in a list of all shares, behind one of them. */
export type Place = Pick<Share, "server" | "created" | "id">;

/** A page of a list: by server and id, or, of one owner, by server and age. */
export interface Page {
  readonly shares: readonly Share[];
  /** Where the next page begins; absent at the end of the list. */
  readonly next?: Place;
}

/**
 * The shares of all logical servers. Every change is one transaction and is on disk when its promise resolves. Names of
 * owners and targets are compared as text: hand in comparable forms (rest-api.md 2.6). Expired shares are invisible.
 */
export interface ShareStore {
  /**
   * Adds a share, or gives the owner's live share of exactly this path and target new terms (rest-api.md 2.3); id,
   * account and access count then stay. Uses that are under way are not given back to it.
   * @throws {ERR_SHARED_BY_ANOTHER} If it would get between an earlier share of another owner and its users. Not so in the
   *   owner's home directory.
   * @throws {ERR_TOO_MANY_SHARES} If it would be a new one, and the owner has as many as may be.
   * @param most Usable shares that the owner may have on the server; 0 is no bound. Of the used up ones, as many stay
   *   readable, those that were used last.
   */
  put(server: string, draft: ShareDraft, most?: number): Promise<Share>;
  /** A share, also one that is used up. */
  get(server: string, id: string): Promise<Share | undefined>;
  /** What an owner shares, oldest first, the first of them; used up shares are not among them. */
  ownedBy(server: string, owner: string, part?: Part): Promise<readonly Share[]>;
  /** What is shared with one of these targets, oldest first, the first of them; used up shares are not among them. */
  targetedAt(server: string, targets: readonly string[], part?: Part): Promise<readonly Share[]>;
  /** The first 1000 usable shares with one of these paths, of any owner, that are for one of these targets. */
  withPaths(server: string, paths: readonly string[], targets: readonly string[]): Promise<readonly Share[]>;
  /** Whether there are usable shares with one of these paths, for whomever. */
  anyWithPaths(server: string, paths: readonly string[]): Promise<boolean>;
  /**
   * Changes an existing share and leaves its uses alone; undefined if there is none.
   * @throws {ERR_SHARED_BY_ANOTHER} As {@link put}, for a new path.
   */
  change(server: string, id: string, change: ShareChange): Promise<Share | undefined>;
  /** Removes a share with its use records; whether there was one. */
  remove(server: string, id: string): Promise<boolean>;
  /** Removes the owner's shares of exactly this path and target; how many there were. */
  removeByPath(server: string, owner: string, path: string, target: string): Promise<number>;
  /**
   * Takes one use of a share and records it. Atomic: of any number of parallel claims on the last use one succeeds.
   * @returns Undefined if the share is unknown, expired or used up.
   */
  claim(server: string, id: string, use: UseStart): Promise<Claim | undefined>;
  /** Undoes a claim of which nothing came, together with its record; it is no use of terms that came after it. */
  giveBack(claim: Claim): Promise<void>;
  /** Completes the record of a use. */
  finish(claim: Claim, result: { readonly bytes: number; readonly complete: boolean }): Promise<void>;
  /** The latest uses of a share, newest first. */
  usesOf(server: string, id: string, limit: number): Promise<readonly Use[]>;
  /**
   * Lists a page of all shares that are not expired, for the operator. A page can be shorter than asked for, or empty, with
   * more to come.
   * @param part.look How many shares are looked at, expired ones too; default `most`.
   */
  page(
    of: Listed,
    part?: { readonly after?: Place | undefined; readonly most?: number; readonly look?: number },
  ): Promise<Page>;
  /** Finds the shares that have an id, one on each server at most. */
  withId(id: string): Promise<readonly Share[]>;
  /** How many shares are not expired; estimated where there are many. */
  count(): Promise<number>;
  /**
   * Makes what the operator says of a share; undefined if there is no such share. With another owner, account or path its
   * making is forgotten.
   */
  amend(
    server: string,
    id: string,
    to: Pick<Share, "owner" | "target" | "uid" | "gid" | "path">,
  ): Promise<Share | undefined>;
  /** Adds shares under given ids, as an import does: all that can be. @returns Those whose ids were not taken. */
  addAll(shares: readonly Share[]): Promise<readonly Share[]>;
  /** Deletes shares that expired, and those used up for longer than the time they stay readable; how many. */
  purge(): Promise<number>;
  close(): void;
}
