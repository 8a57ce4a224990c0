import { isCommonPassword } from "./common_passwords.ts";

/** Fewest characters of a password that is taken without a word. */
const LEAST = 12;

/** Why a password is easily guessed; `undefined` if nothing speaks against it. */
export function weakness(password: string): string | undefined {
  const { length } = [...password];
  if (length < LEAST) {
    return `it has ${length} ${length === 1 ? "character" : "characters"}, expected ${LEAST}`;
  }
  return isCommonPassword(password) ? "it is one of the first that everybody tries" : undefined;
}
