import { fillName } from "../model/name_template.ts";
import { checkIdentity, NoIdentity } from "./check_identity.ts";
import { type Said, textsOf } from "./claims.ts";

/** Fills a template with claims. @throws {NoIdentity} If a claim is not one text. */
export function fillIdentityTemplate(template: string, said: Said): string {
  const filled = fillName(template, (claim) => {
    const [value, other] = textsOf(said(claim));
    if (value === undefined || value === "" || other !== undefined) {
      throw new NoIdentity(`the claim ${claim} is no text, as identityTemplate needs it`);
    }
    return claim === "sub" ? distinctByCase(value) : value;
  });
  return checkIdentity(filled ?? "");
}

/** Encodes case: subjects are case-sensitive (OIDC Core 1.0, 2), names are not. `A` becomes `^a`, `^` becomes `^^`. */
function distinctByCase(subject: string): string {
  return subject.replace(/[\p{Lu}\p{Lt}^]/gu, (found) => `^${found.toLowerCase()}`);
}
