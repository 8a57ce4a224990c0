import { escapeNameValue, InvalidName, parseName } from "../model/distinguished_name.ts";
import { checkIdentity, NoIdentity } from "./check_identity.ts";
import { type Said, textsOf } from "./claims.ts";

/** Returns what an `identityTemplate` should be; `undefined` if valid. @param example Claim for the text. */
export function templateDiagnostic(template: string, example: string): string | undefined {
  const { claims, even } = takeApart(template);
  if (!even) return `expected claims between two percent signs, such as %${example}%`;
  if (claims.length === 0) return `expected a claim such as %${example}%, or all users would have one name`;
  const odd = claims.find((claim) => !/^[A-Za-z0-9_.:\/-]{1,100}$/.test(claim));
  if (odd !== undefined) return `expected the name of a claim, found %${odd.slice(0, 100)}%`;
  try {
    parseName(fill(template, () => "x"));
    return undefined;
  } catch (error) {
    if (error instanceof InvalidName) return `expected a distinguished name: ${error.message}`;
    throw error;
  }
}

/** Fills a template, escaped (RFC 4514, 2.4). @throws {NoIdentity} If a claim is not one text. */
export function fillIdentityTemplate(template: string, said: Said): string {
  return checkIdentity(fill(template, (claim) => {
    const [value, other] = textsOf(said(claim));
    if (value === undefined || value === "" || other !== undefined) {
      throw new NoIdentity(`the claim ${claim} is no text, as identityTemplate needs it`);
    }
    return escapeNameValue(claim === "sub" ? distinctByCase(value) : value);
  }));
}

/** Encodes case: subjects are case-sensitive (OIDC Core 1.0, 2), names are not. `A` becomes `^a`, `^` becomes `^^`. */
function distinctByCase(subject: string): string {
  return subject.replace(/[\p{Lu}\p{Lt}^]/gu, (found) => `^${found.toLowerCase()}`);
}

function takeApart(template: string) {
  const parts = template.split("%");
  return { claims: parts.filter((_, i) => i % 2 === 1), even: parts.length % 2 === 1 };
}

function fill(template: string, value: (claim: string) => string): string {
  return template.split("%").map((part, i) => i % 2 === 0 ? part : value(part)).join("");
}
