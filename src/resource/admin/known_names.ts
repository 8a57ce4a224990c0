import type { AttributeSource } from "../../attributes/attribute_source.ts";
import type { Authenticator } from "../../authentication/authenticator.ts";
import { accountStatusOf } from "../../authentication/account_status.ts";
import { canonicalDn, InvalidName, reversedForm } from "../../model/distinguished_name.ts";
import { HttpError } from "../../model/http_error.ts";

/** What an operator's word for a user stands for. */
interface KnownNames {
  /** Distinguished names in canonical DN: the word itself, if it is one, and those of the user who signs in by it. */
  readonly names: readonly string[];
  /** Nobody is known by the name that was given, but somebody by this one, with its parts in the other order. */
  readonly reversed?: string;
}

/** Looks up a user by login, account or distinguished name; as far as the sources know users who are not there. */
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

/** Who bans somebody needs no source that is out of order. */
async function ifAnswered(answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof HttpError) return false;
    throw error;
  }
}

/** The canonical DN of what is a distinguished name. */
function formOf(text: string): string | undefined {
  try {
    return canonicalDn(text) || undefined;
  } catch (error) {
    if (error instanceof InvalidName) return undefined;
    throw error;
  }
}
