import type { AttributeSource } from "../../attributes/attribute_source.ts";
import type { Authenticator } from "../../authentication/authenticator.ts";
import { accountStatusOf } from "../../authentication/account_status.ts";
import { canonicalDn, InvalidName, reversedForm } from "../../model/distinguished_name.ts";
import { HttpError } from "../../model/http_error.ts";

/** Users meant by an operator's word. */
interface KnownNames {
  readonly names: readonly string[]; // canonical DNs: the word itself, and those of a user name
  readonly reversed?: string; // known name with its parts in the other order, if the given one is unknown
}

/** Looks up a user by login, account or distinguished name, in sources that know absent users. */
export async function knownNames(user: string, parts: {
  readonly authenticators: readonly Authenticator[];
  readonly attributes: AttributeSource;
}): Promise<KnownNames> {
  const names = parts.authenticators.flatMap((authenticator) => authenticator.namesOf?.(user) ?? []).map(
    canonicalDn,
  );
  const form = formOf(user);
  if (form === undefined) return { names };
  const reversed = reversedForm(user);
  const isKnown = async (dn: string) => {
    const { signal } = new AbortController();
    const { standard, extra } = await parts.attributes.attributesOf({ dn, method: "", via: "" }, signal);
    if (standard.size > 0 || extra.size > 0) return true;
    return (await accountStatusOf(parts.authenticators, { dn }, signal)).kind === "known";
  };
  const suspect = reversed !== form && !await ifAnswered(isKnown(user)) &&
    await ifAnswered(isKnown(reversed));
  return { names: [...names, form], reversed: suspect ? reversed : undefined };
}

/** A source that is out of order must not prevent a ban. */
async function ifAnswered(answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof HttpError) return false;
    throw error;
  }
}

function formOf(text: string): string | undefined {
  try {
    return canonicalDn(text) || undefined;
  } catch (error) {
    if (error instanceof InvalidName) return undefined;
    throw error;
  }
}
