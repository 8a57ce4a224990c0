import type { PathLimits } from "../files/path_limits.ts";
import { isUserAccount } from "../model/account_name.ts";
import { canonicalDn, InvalidName } from "../model/distinguished_name.ts";

/** Terms of a share, set by its owner (rest-api.md 2.1). */
export interface ShareTerms {
  readonly path: string; // absolute; ends in `/` exactly for directories
  readonly access: Exclude<AccessLevel, "NONE">;
  readonly expires: number; // seconds since the epoch; 0 is never
  readonly oneTime: boolean; // bounds `usesLeft` by 1
  readonly usesLeft?: number; // absent if unlimited
  readonly sources: readonly string[]; // permitted client addresses and CIDR ranges; empty permits all
  readonly note?: string; // for the users of the share
  readonly password?: string; // as `formatScrypt()` writes it
  readonly quota?: Quota; // `DROP` only
  readonly targetName?: string; // distinguished name of the target as the owner wrote it
  readonly mail?: string; // the owner's address, for mail about files that arrived; absent: no mail
}

/** Upload quota; absent members are unlimited. */
export interface Quota {
  readonly files?: number;
  readonly bytes?: number;
}

/** Owner as the authenticator named them, to query it again. */
export interface NamedOwner {
  readonly dn: string; // exactly as authenticated: some sources are case-sensitive
  readonly via?: string; // configured authenticator, such as `PASSWORD`
  readonly login?: string; // user name
  readonly uid?: string; // account from the authenticator
  readonly name?: string; // display name, which proves nothing
}

/** Owner's rights when the share was created or last renewed, which limit it from then on. */
export interface CreationRights {
  readonly owner: NamedOwner;
  /** Whether the sources gave the share's group without the login's facts; they must continue to do so. */
  readonly mappedGroup: boolean;
  readonly mappedRole: boolean; // whether they gave a role that may share, without the login's role
  readonly atHome: boolean; // whether the path is in the account's home directory, as the daemon reports
  readonly limits: PathLimits;
}

/** New share without id. Names are canonical DNs (rest-api.md 2.6). */
export interface ShareDraft extends ShareTerms {
  readonly owner: string;
  readonly target: string; // as `parseTarget()` returns it
  readonly uid: string; // the owner's Unix account; all access runs under it
  readonly gid?: string; // Unix group, or several separated by `:`, as daemons accept them
  readonly made?: CreationRights; // absent for shares imported, given away by the operator, or older than this field
}

export interface Share extends ShareDraft {
  readonly id: string;
  readonly server: string;
  readonly accessCount: number;
  readonly received?: Required<Quota>; // quota in use, including current uploads
  readonly created: number; // milliseconds since the epoch
}

/** Reports whether a share is for a directory tree. */
export function isDirectory(share: Pick<ShareTerms, "path">): boolean {
  return share.path.endsWith("/");
}

/** Reports whether a share is expired or used up. */
export function isEnded(share: ShareTerms, now: number): boolean {
  return isExpired(share, now) || share.usesLeft === 0;
}

/** Reports whether the share ended before the current second (rest-api.md 2.4). @param now Milliseconds since the epoch. */
export function isExpired({ expires }: Pick<ShareTerms, "expires">, now: number): boolean {
  return expires > 0 && expires < Math.floor(now / 1000);
}

/** Kind of a use, in the words of the usage log (rest-api.md 5.1). */
export type UseKind = "HTTP-look" | "HTTP-download" | "HTTP-upload" | "UFTP";

export interface UseStart {
  readonly who: string; // canonical DN
  readonly address: string;
  readonly kind: UseKind;
  readonly path: string;
  /** Present for a download of a limited share: later requests can continue the use. */
  readonly continues?: Continuation;
}

/** Facts by which a request continues an earlier use instead of taking another one. */
export interface Continuation {
  readonly version: string; // version of the file, from its size and modification time
  readonly visitor: string; // digest of the browser's cookie for this share
  readonly ranged: boolean; // whether the request asks for a part of the file
}

export interface Use extends UseStart {
  readonly at: number; // milliseconds since the epoch
  readonly bytes?: number; // bytes over HTTP; absent for UFTP, in progress and after a crash
  readonly complete?: boolean; // absent if `bytes` is
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const LENGTH = 22; // 130.9 bits

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

/** Access that a share grants, in increasing order (rest-api.md 2.2), except `DROP`, which permits only uploads. */
const ACCESS_LEVELS = ["NONE", "READ", "WRITE", "MODIFY", "DROP"] as const;

export type AccessLevel = typeof ACCESS_LEVELS[number];

/** Parses the exact upper-case name. */
export function parseAccessLevel(text: string): AccessLevel | undefined {
  return ACCESS_LEVELS.find((level) => level === text);
}

/** Reports whether `granted` includes `wanted`. */
export function grants(granted: AccessLevel, wanted: AccessLevel): boolean {
  if (granted === "DROP" || wanted === "DROP") return granted === wanted || wanted === "NONE";
  return ACCESS_LEVELS.indexOf(wanted) <= ACCESS_LEVELS.indexOf(granted);
}

/** Target of shares for everybody: the anonymous caller's canonical DN. */
export const EVERYBODY = "cn=anonymous,o=unknown,ou=unknown";

/** Prefix of Unix groups; a canonical DN never has a colon in its first attribute name. */
export const GROUP_PREFIX = "group:";

/** Returns the target for a Unix group. */
export function groupTarget(group: string): string {
  return GROUP_PREFIX + group;
}

/** Returns the Unix group of a target; undefined for users and everybody. */
export function groupOf(target: string): string | undefined {
  return target.startsWith(GROUP_PREFIX) ? target.slice(GROUP_PREFIX.length) : undefined;
}

/** Expected input of {@link parseTarget}, for diagnostics. */
export const EXPECTED_TARGET = "expected a distinguished name, or group: and an unprivileged Unix group";

/** Parses a target: a distinguished name, or `group:` and an unprivileged Unix group. @throws {InvalidName} */
export function parseTarget(text: string): string {
  const given = text.trim();
  if (given.slice(0, GROUP_PREFIX.length).toLowerCase() !== GROUP_PREFIX) return canonicalDn(text);
  const group = given.slice(GROUP_PREFIX.length);
  if (isUserAccount(group)) return groupTarget(group);
  throw new InvalidName("expected the name of an unprivileged Unix group", GROUP_PREFIX.length + 1);
}

/** Ranks targets: a user before a group, a group before everybody. */
export function specificity(target: string): number {
  if (target === EVERYBODY) return 0;
  return groupOf(target) === undefined ? 2 : 1;
}
