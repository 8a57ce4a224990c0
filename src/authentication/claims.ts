import { isVariables, type Variable, type Variables } from "./expression/value.ts";
import { confusable } from "../model/confusables.ts";
import { fillName } from "../model/name_template.ts";
import { checkIdentity, NoIdentity } from "./check_identity.ts";
import { isJsonObject } from "../model/json_object.ts";

export type Claims = (name: string) => Variable | undefined;

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
  return variable.filter((item) => typeof item === "string");
}

/** Fills a template with claims. @throws {NoIdentity} If a claim is not one text. */
export function fillIdentityTemplate(template: string, claim: Claims): string {
  const filled = fillName(template, (name) => {
    const [value, other] = textsOf(claim(name));
    if (value === undefined || value === "" || other !== undefined) {
      throw new NoIdentity(`the claim ${name} is no text, as identityTemplate needs it`);
    }
    return name === "sub" && confusable(value) === undefined ? escapeCase(value) : value;
  });
  return checkIdentity(filled ?? "");
}

/** Encodes case: subjects are case-sensitive (OIDC Core 1.0, 2), names are not. `A` becomes `^a`, `^` becomes `^^`. */
function escapeCase(subject: string): string {
  // U+0130 in lower case is `i` with a combining dot, the same as `I` with a combining dot.
  return subject.replace(
    /[\p{Lu}\p{Lt}^]/gu,
    (found) => `^${found === "\u0130" ? "." : found.toLowerCase()}`,
  );
}

const MAX_DEPTH = 16;

/** Error for a reply outside the protocol, for the log. */
export class InvalidReply extends Error {}

/**
 * Parses a JSON object (credentials.md 5.3). Numbers stay as written: rounding could make identifiers
 * equal. Null members are omitted; objects in lists become JSON text. @throws {InvalidReply}
 */
export function parseReply(body: string): Variables {
  try {
    // ECMAScript 2026, "JSON.parse source text access".
    const reply: unknown = JSON.parse(
      body,
      (_, value, context?: { readonly source?: string }) =>
        typeof value === "number" ? context?.source ?? String(value) : value,
    );
    const variables = isJsonObject(reply) ? toVariable(reply, 0) : undefined;
    if (variables instanceof Map) return variables;
  } catch (error) {
    if (error instanceof InvalidReply) throw error;
    throw new InvalidReply("the reply is not JSON that can be read", { cause: error });
  }
  throw new InvalidReply("the reply is no JSON object");
}

function toVariable(value: unknown, depth: number): Variable | undefined {
  if (depth > MAX_DEPTH) throw new InvalidReply(`the reply is nested deeper than ${MAX_DEPTH} levels`);
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) {
    return value.filter((item) => item !== null)
      .map((item) => typeof item === "string" ? item : JSON.stringify(item));
  }
  if (!isJsonObject(value)) return undefined;
  const members = new Map<string, Variable>();
  for (const [name, member] of Object.entries(value)) {
    const variable = toVariable(member, depth + 1);
    if (variable !== undefined) members.set(name, variable);
  }
  return members;
}
