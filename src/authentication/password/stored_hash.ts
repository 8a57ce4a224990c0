import { matchesMd5, type Md5Hash } from "./md5_hash.ts";
import { formatScrypt, matchesScrypt, parseScrypt, type ScryptHash } from "./scrypt_hash.ts";

/** A password as the password file keeps it; the prefix of the hash field tells the kinds apart. */
export type StoredHash = Md5Hash | ScryptHash;

/** The fields `hash` and `salt` of a line of the password file. */
interface HashFields {
  readonly hash: string;
  readonly salt: string;
}

/** @returns What was expected, if the fields hold no hash that can be checked. */
export function parseStoredHash({ hash, salt }: HashFields): StoredHash | { readonly expected: string } {
  if (hash.startsWith("$scrypt$")) {
    return salt === "" ? parseScrypt(hash) : { expected: "expected an empty salt field beside $scrypt$…" };
  }
  if (!/^[0-9A-Fa-f]{32}$/.test(hash)) {
    return { expected: "expected a hash of 32 hexadecimal digits or $scrypt$…" };
  }
  return { kind: "md5", salt, digest: hash.toLowerCase() };
}

/** The fields of a line that {@link parseStoredHash} reads back. */
export function formatStoredHash(stored: StoredHash): HashFields {
  switch (stored.kind) {
    case "md5":
      return { hash: stored.digest, salt: stored.salt };
    case "scrypt":
      return { hash: formatScrypt(stored), salt: "" };
  }
}

/** Whether a password is the one that was stored; compares in constant time. */
export async function matchesStored(stored: StoredHash, password: string): Promise<boolean> {
  return stored.kind === "md5" ? matchesMd5(stored, password) : await matchesScrypt(stored, password);
}
