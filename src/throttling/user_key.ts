/** Longest key, in characters: a name can grow by its compatibility forms. */
const MAX_LENGTH = 256;

/**
 * What a user counts as. Identity providers tend to take spellings that differ in case, width or blanks for one user, so
 * guesses under all of them are guesses at one.
 */
export function userKey(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase().slice(0, MAX_LENGTH);
}
