import type { Key, Section } from "../../src/config/key.ts";
import { writtenKeys } from "./written_keys.ts";
import { OWN_PREFIXES } from "../../src/config/key_reader.ts";
import { DYNAMIC_ATTRIBUTES, SOURCE } from "../../src/config/keys/attribute_keys.ts";
import { NO_POSTGRES } from "../../src/config/keys/sharing_keys.ts";
import type { Kinds } from "../../src/config/kind.ts";
import { sections } from "./sections.ts";

/** JSON Schema of one value or of the whole object. */
type Schema = Readonly<Record<string, unknown>>;

const ANY_NAME = "[^.]+";

/**
 * Returns the JSON Schema (draft 2020-12) of a configuration as one object: keys to values, as text or, where JSON has
 * the type, as number or boolean. Requires no key, since included files may set it.
 */
export async function configurationSchema(kinds: Kinds): Promise<Schema> {
  const properties = new Map<string, Schema[]>();
  const patternProperties = new Map<string, Schema[]>();
  const add = (section: Section, name: string, rest: string, schema: Schema) => {
    const isFixed = rest === "" && !section.anyCase && !section.prefix.includes("<");
    const [map, key] = isFixed
      ? [properties, section.prefix + name]
      : [patternProperties, `^${prefixPattern(section.prefix)}${namePattern(name, section)}${rest}$`];
    map.set(key, [...map.get(key) ?? [], schema]);
  };
  for (const section of [...(await sections(kinds)).flatMap(withDynamic), NO_POSTGRES]) {
    for (const [full, key] of writtenKeys(section)) {
      const schema = key.shape === "many" ? valueSchema(key.item) : valueSchema(key);
      add(section, full.slice(section.prefix.length), key.shape === "many" ? "\\..+" : "", schema);
    }
    for (const [name, why] of Object.entries(section.ignored ?? {})) {
      const open = name.endsWith("*");
      const schema = { description: `Ignored: ${why}.`, deprecated: true };
      add(section, open ? name.slice(0, -1) : name, open ? ".*" : "", schema);
    }
  }
  const foreign = `^(?!${OWN_PREFIXES.map((prefix) => literal(prefix)).join("|")})`;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of authserver",
    description:
      "Keys of container.properties and the files it includes. Values may contain ${NAME} for variables.",
    type: "object",
    properties: merged(properties),
    patternProperties: { ...merged(patternProperties), [foreign]: true },
    additionalProperties: false,
  };
}

/** Adds the keys of a dynamic attribute source to those of a source. */
function withDynamic(section: Section): readonly Section[] {
  const dynamic = { ...section, prefix: `${DYNAMIC_ATTRIBUTES.prefix}<source>.` };
  return section.prefix === SOURCE.prefix ? [section, dynamic] : [section];
}

/** Combines the schemas of a key that several sections have. */
function merged(schemas: ReadonlyMap<string, readonly Schema[]>): Schema {
  return Object.fromEntries(
    [...schemas].map(([key, all]) => {
      const [first, ...others] = [...new Map(all.map((schema) => [JSON.stringify(schema), schema])).values()];
      return [key, others.length === 0 ? first : { anyOf: [first, ...others] }];
    }),
  );
}

function prefixPattern(prefix: string): string {
  return prefix.split(/(<\w+>)/).map((part) =>
    part === "<number>" ? "[1-9][0-9]*" : part.startsWith("<") ? ANY_NAME : literal(part)
  ).join("");
}

function namePattern(name: string, { anyCase = false }: Section): string {
  return anyCase ? inAnyCase(name) : literal(name);
}

/** Escapes the dots of a name, the only special characters in it. */
function literal(name: string): string {
  return name.replaceAll(".", "\\.");
}

function inAnyCase(word: string): string {
  return [...word].map((letter) => {
    const [low, up] = [letter.toLowerCase(), letter.toUpperCase()];
    return low === up ? literal(letter) : `[${low}${up}]`;
  }).join("");
}

function valueSchema(key: Key<unknown>): Schema {
  const { type, help, secret, absent, emptyIsAbsent, json: { type: jsonType, words, pattern, ...range } } =
    key;
  const maybeEmpty = emptyIsAbsent && absent !== undefined ? "|" : "";
  const form = words === undefined ? pattern : words.map(inAnyCase).join("|");
  const text = form === undefined ? {} : { pattern: `\\$\\{|^\\s*(?:${form}${maybeEmpty})\\s*$` };
  return {
    description: `${help}. Expects ${type}.`,
    type: jsonType === "string" ? "string" : [jsonType, "string"],
    ...range,
    ...(words === undefined || jsonType !== "string" ? text : { anyOf: [{ enum: words }, text] }),
    default: Array.isArray(absent?.value) ? absent.value.join(" ") : absent?.value,
    writeOnly: secret || undefined,
  };
}
