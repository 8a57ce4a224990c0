/** Subset of JSON Schema (2020-12). */
export interface Schema {
  readonly $ref?: string;
  readonly type?: "object" | "array" | "string" | "number" | "integer" | "boolean";
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
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema; // absent: permits any member
  readonly anyOf?: readonly Schema[];
  readonly examples?: readonly unknown[];
}

/** Looks up `#/components/schemas/…`. */
export type Lookup = (ref: string) => Schema;

/** Keywords that {@link mismatches} knows; a schema with an unknown keyword is an error. */
const KEYWORDS: ReadonlySet<string> = new Set<keyof Schema>([
  "$ref",
  "type",
  "description",
  "const",
  "enum",
  "pattern",
  "minLength",
  "maxLength",
  "format",
  "minimum",
  "maximum",
  "items",
  "maxItems",
  "properties",
  "required",
  "additionalProperties",
  "anyOf",
  "examples",
]);

/** Returns the differences between a value and its schema; empty if there are none. */
export function mismatches(value: unknown, schema: Schema, lookup: Lookup, at = ""): string[] {
  const unknown = Object.keys(schema).filter((keyword) => !KEYWORDS.has(keyword));
  if (unknown.length > 0) throw new TypeError(`${at}: keywords ${unknown} are not supported`);
  const found = `${at || "/"}: found ${JSON.stringify(value)?.slice(0, 80)}, expected`;
  const wrong: string[] = [];
  if (schema.$ref !== undefined) wrong.push(...mismatches(value, lookup(schema.$ref), lookup, at));
  if (schema.const !== undefined && value !== schema.const) wrong.push(`${found} ${schema.const}`);
  if (schema.anyOf && schema.anyOf.every((one) => mismatches(value, one, lookup, at).length > 0)) {
    wrong.push(
      `${found} one of: ${schema.anyOf.map((one) => mismatches(value, one, lookup, at)).join(" | ")}`,
    );
  }
  if (schema.type !== undefined && !isOfType(value, schema.type)) {
    return [...wrong, `${found} ${schema.type}`];
  }
  if (typeof value === "string") {
    if (schema.enum && !schema.enum.includes(value)) wrong.push(`${found} one of ${schema.enum}`);
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value)) {
      wrong.push(`${found} ${schema.pattern}`);
    }
    const { minLength = 0, maxLength = Infinity } = schema;
    if (value.length < minLength || value.length > maxLength) {
      wrong.push(`${found} ${minLength} to ${maxLength} characters`);
    }
  }
  if (typeof value === "number") {
    if (value < (schema.minimum ?? -Infinity)) wrong.push(`${found} at least ${schema.minimum}`);
    if (value > (schema.maximum ?? Infinity)) wrong.push(`${found} at most ${schema.maximum}`);
  }
  if (Array.isArray(value)) {
    const { items, maxItems = Infinity } = schema;
    if (value.length > maxItems) wrong.push(`${found} at most ${maxItems} items`);
    if (items) wrong.push(...value.flatMap((item, i) => mismatches(item, items, lookup, `${at}/${i}`)));
  } else if (typeof value === "object" && value !== null) {
    wrong.push(...memberMismatches(value, schema, lookup, at));
  }
  return wrong;
}

function memberMismatches(value: object, schema: Schema, lookup: Lookup, at: string): string[] {
  const { properties = {}, required = [], additionalProperties: more = true } = schema;
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => `${at}/${name}: is missing`),
    ...Object.entries(value).flatMap(([name, member]) => {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (known !== undefined) return mismatches(member, known, lookup, `${at}/${name}`);
      if (more === false) return [`${at}/${name}: is not described`];
      return more === true ? [] : mismatches(member, more, lookup, `${at}/${name}`);
    }),
  ];
}

function isOfType(value: unknown, type: NonNullable<Schema["type"]>): boolean {
  switch (type) {
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
  }
}
