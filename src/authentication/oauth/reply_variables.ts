import { isJsonObject } from "../json_object.ts";
import type { Variable, Variables } from "../expression/value.ts";

const MAX_DEPTH = 16;

/** Error for a reply outside the protocol, for the log. */
export class InvalidReply extends Error {}

/**
 * Parses a JSON object (authentication.md 5.3). Numbers stay as written: rounding could make identifiers
 * equal. Null members are omitted; objects in lists become JSON text. @throws {InvalidReply}
 */
export function parseReply(body: string): Variables {
  try {
    const reply: unknown = JSON.parse(body, keepDigits);
    const variables = isJsonObject(reply) ? toVariable(reply, 0) : undefined;
    if (variables instanceof Map) return variables;
  } catch (error) {
    if (error instanceof InvalidReply) throw error;
    throw new InvalidReply("the reply is not JSON that can be read", { cause: error });
  }
  throw new InvalidReply("the reply is no JSON object");
}

/** Reviver (ECMAScript 2026, "JSON.parse source text access"). */
function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" ? context?.source ?? String(value) : value;
}

function toVariable(value: unknown, depth: number): Variable | undefined {
  if (depth > MAX_DEPTH) throw new InvalidReply(`the reply is nested deeper than ${MAX_DEPTH} levels`);
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(itemText);
  if (!isJsonObject(value)) return undefined;
  const members = new Map<string, Variable>();
  for (const [name, member] of Object.entries(value)) {
    const variable = toVariable(member, depth + 1);
    if (variable !== undefined) members.set(name, variable);
  }
  return members;
}

function itemText(item: unknown): string {
  return typeof item === "string" ? item : JSON.stringify(item);
}
