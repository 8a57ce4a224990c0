import { matchesMd5, type Md5Hash } from "./md5_hash.ts";
import { formatScrypt, matchesScrypt, parseScrypt, type ScryptHash } from "./scrypt_hash.ts";

/** Stored password; a prefix distinguishes the kinds. */
export type StoredHash = Md5Hash | ScryptHash;

interface HashFields {
  readonly hash: string;
  readonly salt: string;
}

/** Returns the expectation if the fields hold no usable hash. */
export function parseStoredHash({ hash, salt }: HashFields): StoredHash | { readonly expected: string } {
  if (hash.startsWith("$scrypt$")) {
    return salt === "" ? parseScrypt(hash) : { expected: "expected an empty salt field beside $scrypt$…" };
  }
  if (!/^[0-9A-Fa-f]{32}$/.test(hash)) {
    return { expected: "expected a hash of 32 hexadecimal digits or $scrypt$…" };
  }
  return { kind: "md5", salt, digest: hash.toLowerCase() };
}

/** Formats the fields of a line. */
export function formatStoredHash(stored: StoredHash): HashFields {
  switch (stored.kind) {
    case "md5":
      return { hash: stored.digest, salt: stored.salt };
    case "scrypt":
      return { hash: formatScrypt(stored), salt: "" };
  }
}

/** Verifies a password in constant time. */
export async function matchesStored(stored: StoredHash, password: string): Promise<boolean> {
  return stored.kind === "md5" ? matchesMd5(stored, password) : await matchesScrypt(stored, password);
}
