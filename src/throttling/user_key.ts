const MAX_LENGTH = 256; // characters; compatibility forms may lengthen a name

/** Returns a user's key for counting. Providers tend to ignore case, width and blanks, so it does too. */
export function userKey(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase().slice(0, MAX_LENGTH);
}
