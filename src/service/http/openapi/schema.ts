/** Subset of JSON Schema (2020-12). */
export interface Schema {
  readonly $ref?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "boolean";
  readonly description?: string;
  readonly const?: string | number | boolean;
  readonly enum?: readonly string[];
  readonly pattern?: string; // ECMA 262 regular expression
  readonly minLength?: number; // characters
  readonly maxLength?: number;
  readonly format?: "uri" | "date-time" | "int32" | "int64" | "byte" | "binary" | "uuid";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema; // absent: permits any member
  readonly anyOf?: readonly Schema[];
  readonly examples?: readonly unknown[];
}

/** Returns an object schema; a last `?` marks optional members. `more` describes further members; default: forbidden. */
export function object(members: Readonly<Record<string, Schema>>, more: boolean | Schema = false): Schema {
  const entries = Object.entries(members);
  const required = entries.map(([name]) => name).filter((name) => !name.endsWith("?"));
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ""), schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: more,
  };
}

/** Returns a string schema. */
export function text(description: string, more: Schema = {}): Schema {
  return { type: "string", description, ...more };
}

/** Returns a schema of safe integers from 0. */
export function integer(description: string, more: Schema = {}): Schema {
  return {
    type: "integer",
    format: "int64",
    description,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    ...more,
  };
}

/** Returns a boolean schema. */
export function flag(description: string): Schema {
  return { type: "boolean", description };
}

/** Returns an array schema. */
export function listOf(items: Schema, description?: string): Schema {
  return { type: "array", items, description };
}

/** String without description. */
export const TEXT: Schema = { type: "string" };
