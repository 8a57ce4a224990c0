import { attempt } from "../model/attempt.ts";
import { confusable } from "../model/confusables.ts";
import { hasLooseBlanks, ifValidDn, InvalidName, parseName, sameName } from "../model/distinguished_name.ts";
import { ANONYMOUS_DN } from "../model/identity.ts";

/** Error for the lack of a usable identity; the message is for the log. */
export class NoIdentity extends Error {}

/**
 * Asserts that an external text is a DN without {@link confusable} values: case, Unicode form and blanks do
 * not distinguish users, so a chosen name could impersonate others. @throws {NoIdentity}
 */
export function checkIdentity(dn: string): string {
  const parts = attempt(() => parseName(dn), InvalidName, (cause) => {
    throw new NoIdentity("the identity is no distinguished name", { cause });
  });
  if (parts.length === 0) throw new NoIdentity("the identity is an empty name");
  if (sameName(dn, ANONYMOUS_DN)) throw new NoIdentity("the identity is the name of callers without one");
  if (hasLooseBlanks(dn)) throw new NoIdentity("the identity has blanks around its parts");
  for (const { value } of parts.flat()) {
    const reason = value.kind === "text" ? confusable(value.text) : undefined;
    if (reason !== undefined) throw new NoIdentity(`the identity has ${reason}`);
  }
  return dn;
}

/** Reports whether a DN is personal: not empty, anonymous or the server's own. */
export function isPersonalName(dn: string, serverName: string): boolean {
  const isNamed = ifValidDn(() => parseName(dn).length > 0) ?? false;
  return isNamed && !sameName(dn, ANONYMOUS_DN) && !sameName(dn, serverName);
}
