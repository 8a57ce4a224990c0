import { invalidRequest } from "../../model/http_error.ts";
import type { Schema } from "./openapi/schema.ts";

/**
 * Checks the query against the operation's declaration: a misspelt `limited` must not yield an unlimited token. Operations
 * without declaration ignore the query.
 * @throws {ERR_INVALID_REQUEST} For unknown, repeated and mistyped parameters.
 */
export function checkQuery(
  query: URLSearchParams,
  declared: Readonly<Record<string, Schema>> | undefined,
): void {
  if (declared === undefined || query.size === 0) return;
  for (const name of query.keys()) {
    if (!Object.hasOwn(declared, name)) {
      const known = Object.keys(declared).join(", ");
      throw invalidRequest(`There is an unknown query parameter, expected ${known}`);
    }
  }
  for (const [name, schema] of Object.entries(declared)) {
    if (schema.type === "array") continue; // each is checked where the meaning of all is known
    const [value, ...more] = query.getAll(name);
    if (more.length > 0) throw invalidRequest(`${name}: expected once in the query`);
    if (value !== undefined) checkValue(name, value, schema);
  }
}

function checkValue(
  name: string,
  value: string,
  { type, minimum = -Infinity, maximum = Infinity }: Schema,
): void {
  if (type === "boolean" && !/^(?:true|false)$/i.test(value)) {
    throw invalidRequest(`${name}: expected true or false`);
  }
  if (type !== "integer") return;
  const number = /^-?\d{1,15}$/.test(value) ? Number(value) : NaN;
  if (number >= minimum && number <= maximum) return;
  const from = minimum === -Infinity ? "" : ` from ${minimum}`;
  const to = maximum === Infinity ? "" : ` to ${maximum}`;
  throw invalidRequest(`${name}: expected a whole number${from}${to}`);
}
