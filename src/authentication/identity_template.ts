import { escapeNameValue, InvalidName, parseName } from "../model/distinguished_name.ts";
import { checkIdentity, NoIdentity } from "./check_identity.ts";
import { type Said, textsOf } from "./claims.ts";

/**
 * Why no names can be made by an `identityTemplate`, in which `%claim%` stands for the claim of that name.
 * @param example Of a claim, for the text.
 * @returns What was expected; `undefined` if it can be used.
 */
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

/**
 * The name that a template gives. Claims are escaped (RFC 4514, 2.4): none of them becomes more than the value it stands in.
 * Subjects (`sub`) that differ in case give names that differ.
 * @throws {NoIdentity} If a claim is missing, or no single text.
 */
export function fillIdentityTemplate(template: string, said: Said): string {
  return checkIdentity(fill(template, (claim) => {
    const [value, other] = textsOf(said(claim));
    if (value === undefined || value === "" || other !== undefined) {
      throw new NoIdentity(`the claim ${claim} is no text, as identityTemplate needs it`);
    }
    return escapeNameValue(claim === "sub" ? distinctByCase(value) : value);
  }));
}

/**
 * Returns a subject with `^` before each capital letter, which is then written small: names are compared without regard
 * to case, subjects with it (OIDC Core 1.0, 2). A `^` itself is written twice.
 */
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
