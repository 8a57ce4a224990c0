import type { GrantedLevel } from "./access_level.ts";
import type { OwnerLimits } from "./rules/owner_limits.ts";

/** What its owner decided about a share (rest-api.md 2.1). */
export interface ShareTerms {
  /** Absolute path on the daemon's host; ends in `/` exactly when it is a directory. */
  readonly path: string;
  readonly access: GrantedLevel;
  /** End of life in seconds since the epoch; 0 is never. */
  readonly expires: number;
  /** Whether the share is for a single use; `usesLeft` is then 1 at most. */
  readonly oneTime: boolean;
  /** Uses that remain; absent if unlimited. */
  readonly usesLeft?: number;
  /** Addresses and CIDR ranges the user may come from; empty is anywhere. */
  readonly sources: readonly string[];
  /** What the owner tells those who use it. */
  readonly note?: string;
  /** Hash of a password that is asked for besides, as `formatScrypt()` writes it. */
  readonly password?: string;
  /** How much can be brought, with `DROP`. */
  readonly quota?: Quota;
}

/** How much can be brought; what is absent is not limited. */
export interface Quota {
  readonly files?: number;
  readonly bytes?: number;
}

/** How an owner was known to the method that named them, so that it can be asked again. */
export interface NamedOwner {
  /** Distinguished name exactly as it was proved: some sources tell upper from lower case. */
  readonly dn: string;
  /** Name of the configured method, such as `PASSWORD`; absent if nobody knows. */
  readonly via?: string;
  /** What the owner signed in as. */
  readonly login?: string;
  /** Account by the method itself. */
  readonly uid?: string;
}

/** What was known about its owner when a share was made, or was last given new terms. It gives no more than that later. */
export interface Making {
  readonly owner: NamedOwner;
  /** Whether the attribute sources by themselves gave the owner the account; they then have to go on doing so. */
  readonly mappedAccount: boolean;
  /** Whether they by themselves gave the owner a role that may share. */
  readonly mappedRole: boolean;
  /** Whether the path lies in the home directory of the owner's account, by the word of the daemon. */
  readonly atHome: boolean;
  /** What the owner could reach. */
  readonly limits: OwnerLimits;
}

/** A new share, before the store gave it an id. Names are in canonical DN (rest-api.md 2.6). */
export interface ShareDraft extends ShareTerms {
  readonly owner: string;
  /** For whom it is, as `parseTarget()` gives it. */
  readonly target: string;
  /** The owner's Unix account and group; all access through the share runs as these. */
  readonly uid: string;
  readonly gid?: string;
  /** Absent for shares that were imported, given away by the operator, or made before this was remembered. */
  readonly made?: Making;
}

/** A stored share. */
export interface Share extends ShareDraft {
  readonly id: string;
  /** Logical server; shares of one server are unknown to all others. */
  readonly server: string;
  /** Uses so far. */
  readonly accessCount: number;
  /** What was brought and is being brought, with `DROP`; absent: nothing. */
  readonly received?: Required<Quota>;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

/** Whether a share is for a directory and what is below it. */
export function isDirectory(share: Pick<ShareTerms, "path">): boolean {
  return share.path.endsWith("/");
}

/** Whether nobody can use the share any more: expired, or used as often as allowed. */
export function isOver(share: ShareTerms, now: number): boolean {
  return isExpired(share, now) || share.usesLeft === 0;
}

/** Expired when the end lies before the current second (rest-api.md 2.4). `now` in milliseconds since the epoch. */
export function isExpired({ expires }: Pick<ShareTerms, "expires">, now: number): boolean {
  return expires > 0 && expires < Math.floor(now / 1000);
}

/** How a share was used; the words stand in the usage log (rest-api.md 5.1). */
export type UseKind = "HTTP-download" | "HTTP-upload" | "UFTP";

/** Who used a share, and how. */
export interface UseStart {
  /** Distinguished name of the caller, in canonical DN. */
  readonly who: string;
  readonly address: string;
  readonly kind: UseKind;
  /** Path that was asked for. */
  readonly path: string;
}

/** One use of a share, as its owner sees it. */
export interface Use extends UseStart {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Bytes moved over HTTP; absent while under way, for UFTP sessions, and if the service died meanwhile. */
  readonly bytes?: number;
  /** Whether all bytes arrived; absent as long as `bytes` is. */
  readonly complete?: boolean;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 22 base62 characters carry 130.9 bits. */
const LENGTH = 22;

/** A new share id: at least 128 random bits as base62 (rest-api.md D34). */
export function newShareId(): string {
  let id = "";
  while (id.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(32))) {
      // 248 is the largest multiple of 62 in a byte: dropping the rest keeps every character equally likely.
      if (byte < 248 && id.length < LENGTH) id += ALPHABET[byte % 62];
    }
  }
  return id;
}

/** Whether a text can be a share id: ours, or one of the Java service, with at most 11 characters, before 2024 a UUID. */
export function isShareId(text: string): boolean {
  return /^(?:[0-9A-Za-z]{1,22}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(text);
}
