import { InvalidName, parseName } from "../model/distinguished_name.ts";

/** The user cannot be named; the message is for the log. */
export class NoIdentity extends Error {
  override readonly name = "NoIdentity";
}

/**
 * Asserts that a text names somebody: a distinguished name without empty values, under which everyone whose attribute
 * is empty would be the same user, and without control characters.
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
    }
  } catch (error) {
    if (error instanceof InvalidName) {
      throw new NoIdentity("the identity is no distinguished name", { cause: error });
    }
    throw error;
  }
  return dn;
}
