import type { Variable, Variables } from "./expression/value.ts";
import { fillName } from "../model/name_template.ts";
import { checkIdentity, NoIdentity } from "./check_identity.ts";

/** Looks up a claim. */
export type Said = (name: string) => Variable | undefined;

/** Returns a claim by name or dotted path, such as `realm_access.roles`; a literal name such as `wlcg.groups` wins. */
export function claimAt(variables: Variables, path: string): Variable | undefined {
  const whole = variables.get(path);
  if (whole !== undefined) return whole;
  for (let dot = path.indexOf("."); dot >= 0; dot = path.indexOf(".", dot + 1)) {
    const inner = variables.get(path.slice(0, dot));
    const found = isVariables(inner) ? claimAt(inner, path.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns a claim's texts: a single one or a list. */
export function textsOf(variable: Variable | undefined): readonly string[] {
  if (typeof variable === "string") return [variable];
  if (variable === undefined || isVariables(variable)) return [];
  const items: string[] = [];
  for (const item of variable) if (typeof item === "string") items.push(item);
  return items;
}

function isVariables(variable: Variable | undefined): variable is Variables {
  return variable instanceof Map;
}

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
  // U+0130 in lower case is `i` with a dot, as an `I` with a dot is.
  return subject.replace(
    /[\p{Lu}\p{Lt}^]/gu,
    (found) => `^${found === "\u0130" ? "." : found.toLowerCase()}`,
  );
}
