/** The part of JSON Schema (2020-12) that our descriptions need. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "boolean";
  readonly description?: string;
  readonly const?: string | number | boolean;
  readonly enum?: readonly string[];
  /** ECMA 262 regular expression. */
  readonly pattern?: string;
  /** In characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: "uri" | "date-time" | "int32" | "int64" | "byte" | "binary" | "uuid";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** For members that `properties` does not name; absent: they may be anything. */
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly examples?: readonly unknown[];
}

/** An object; members whose name ends in `?` may be absent. No others may be there unless `more` says what they are. */
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

/** A text, described. */
export function text(description: string, more: Schema = {}): Schema {
  return { type: "string", description, ...more };
}

/** A whole number from 0 on that JSON carries exactly. */
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

/** True or false. */
export function flag(description: string): Schema {
  return { type: "boolean", description };
}

/** A list of what `items` describes. */
export function listOf(items: Schema, description?: string): Schema {
  return { type: "array", items, description };
}

/** A text whose name says all. */
export const TEXT: Schema = { type: "string" };
