import type { GrantedLevel } from "./access_level.ts";
import type { OwnerLimits } from "./rules/owner_limits.ts";

/** Terms of a share, set by its owner (rest-api.md 2.1). */
export interface ShareTerms {
  /** Absolute; ends in `/` exactly for directories. */
  readonly path: string;
  readonly access: GrantedLevel;
  /** Seconds since the epoch; 0 is never. */
  readonly expires: number;
  /** Bounds `usesLeft` by 1. */
  readonly oneTime: boolean;
  /** Absent if unlimited. */
  readonly usesLeft?: number;
  /** Permitted client addresses and CIDR ranges; empty permits all. */
  readonly sources: readonly string[];
  /** For the users of the share. */
  readonly note?: string;
  /** As `formatScrypt()` writes it. */
  readonly password?: string;
  /** `DROP` only. */
  readonly quota?: Quota;
}

/** Upload quota; absent members are unlimited. */
export interface Quota {
  readonly files?: number;
  readonly bytes?: number;
}

/** Owner as the authenticator named them, to query it again. */
export interface NamedOwner {
  /** Exactly as authenticated: some sources are case-sensitive. */
  readonly dn: string;
  /** Configured authenticator, such as `PASSWORD`. */
  readonly via?: string;
  /** User name. */
  readonly login?: string;
  /** Account from the authenticator. */
  readonly uid?: string;
}

/** Owner's rights when the share was created or last renewed; they bound it for ever. */
export interface Making {
  readonly owner: NamedOwner;
  /** Whether the attribute sources alone gave the account; they must continue to. */
  readonly mappedAccount: boolean;
  /** Whether they alone gave a role that may share. */
  readonly mappedRole: boolean;
  /** Whether the path is in the account's home directory, as the daemon reports. */
  readonly atHome: boolean;
  readonly limits: OwnerLimits;
}

/** New share without id. Names are canonical DNs (rest-api.md 2.6). */
export interface ShareDraft extends ShareTerms {
  readonly owner: string;
  /** As `parseTarget()` returns it. */
  readonly target: string;
  /** The owner's Unix account; all access runs under it. */
  readonly uid: string;
  readonly gid?: string;
  /** Absent for shares imported, given away by the operator, or older than this field. */
  readonly made?: Making;
}

/** Stored share. */
export interface Share extends ShareDraft {
  readonly id: string;
  readonly server: string;
  readonly accessCount: number;
  /** Quota in use, including current uploads. */
  readonly received?: Required<Quota>;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

/** Reports whether a share is for a directory tree. */
export function isDirectory(share: Pick<ShareTerms, "path">): boolean {
  return share.path.endsWith("/");
}

/** Reports whether a share is expired or used up. */
export function isOver(share: ShareTerms, now: number): boolean {
  return isExpired(share, now) || share.usesLeft === 0;
}

/** Reports whether the end lies before the current second (rest-api.md 2.4). @param now Milliseconds since the epoch. */
export function isExpired({ expires }: Pick<ShareTerms, "expires">, now: number): boolean {
  return expires > 0 && expires < Math.floor(now / 1000);
}

/** Kind of a use, in the words of the usage log (rest-api.md 5.1). */
export type UseKind = "HTTP-look" | "HTTP-download" | "HTTP-upload" | "UFTP";

/** Beginning of a use. */
export interface UseStart {
  /** Canonical DN. */
  readonly who: string;
  readonly address: string;
  readonly kind: UseKind;
  readonly path: string;
  /** Present for a download of a limited share: later requests can continue the use. */
  readonly continues?: Continuation;
}

/** Facts by which a request continues an earlier use instead of taking another one. */
export interface Continuation {
  /** Version of the file, from its size and modification time. */
  readonly version: string;
  /** Digest of the browser's cookie for this share. */
  readonly visitor: string;
  /** Whether the request asks for a part of the file. */
  readonly ranged: boolean;
}

/** Use of a share. */
export interface Use extends UseStart {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Bytes over HTTP; absent for UFTP, in progress and after a crash. */
  readonly bytes?: number;
  /** Absent if `bytes` is. */
  readonly complete?: boolean;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 130.9 bits. */
const LENGTH = 22;

/** Returns a random id of at least 128 bits in base62 (rest-api.md D34). */
export function newShareId(): string {
  let id = "";
  while (id.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(32))) {
      // 248 is the largest multiple of 62 in a byte: dropping the rest avoids bias.
      if (byte < 248 && id.length < LENGTH) id += ALPHABET[byte % 62];
    }
  }
  return id;
}

/** Reports whether a text can be a share id, ours or of the Java service (at most 11 characters, a UUID before 2024). */
export function isShareId(text: string): boolean {
  return /^(?:[0-9A-Za-z]{1,22}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(text);
}
