import { foldCharacters, InvalidName, parseName } from "../model/distinguished_name.ts";

/** The user cannot be named; the message is for the log. */
export class NoIdentity extends Error {
  override readonly name = "NoIdentity";
}

/**
 * Asserts that a text names somebody: a distinguished name without empty values, under which everyone whose attribute
 * is empty would be the same user, without control characters, and in no disguise: names are compared without regard to
 * case and Unicode form, so whoever may choose a name at the provider could choose one that counts as another's.
 * @throws {NoIdentity}
 */
export function checkIdentity(text: string): string {
  const dn = text.trim();
  try {
    const values = parseName(dn).flatMap((part) => part.map(({ value }) => value));
    if (values.length === 0) throw new NoIdentity("the identity is an empty name");
    for (const value of values) {
      const written = value.kind === "text" ? value.text : value.der;
      if (written.trim() === "") throw new NoIdentity("the identity has an empty value");
      if (/\p{Cc}/u.test(written)) throw new NoIdentity("the identity has a control character");
      if ([...written].some(isDisguise)) throw new NoIdentity("the identity has a disguised ASCII character");
    }
  } catch (error) {
    if (error instanceof InvalidName) {
      throw new NoIdentity("the identity is no distinguished name", { cause: error });
    }
    throw error;
  }
  return dn;
}

/** Letters of names that people have, though they count as ASCII letters: so do sharp s, dotless i and ordinals. */
const NATURAL = "\u00DF\u1E9E\u0131\u00AA\u00BA";

/** Whether a character is compared as if it were an ASCII one: full width, mathematical, ligatures and the like. */
function isDisguise(character: string): boolean {
  return character > "\x7f" && !NATURAL.includes(character) && /^[!-~]+$/.test(foldCharacters(character));
}
