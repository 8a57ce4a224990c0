import type { KeyReader } from "./key_reader.ts";
import { ATTRIBUTES, DYNAMIC_ATTRIBUTES, SOURCE } from "./keys/attribute_keys.ts";
import type { KindList } from "./kind.ts";
import { readKinds } from "./read_kinds.ts";
import type { Known, Parts } from "./section_reader.ts";
import type { AttributesConfig } from "./service_config.ts";

/** Reads attribute sources (authentication.md 7.3). */
export async function readAttributes(reader: KeyReader, { kinds }: Known): Promise<Parts | undefined> {
  const attributes = await readChain(reader, ATTRIBUTES, kinds.sources);
  return attributes && { attributes };
}

/** Reads dynamic sources. */
export async function readDynamicAttributes(reader: KeyReader, { kinds }: Known): Promise<Parts | undefined> {
  const dynamicAttributes = await readChain(reader, DYNAMIC_ATTRIBUTES, kinds.sources);
  return dynamicAttributes && { dynamicAttributes };
}

async function readChain(
  reader: KeyReader,
  section: typeof ATTRIBUTES,
  list: KindList,
): Promise<AttributesConfig | undefined> {
  const keys = reader.read(section);
  const { prefix } = section;
  const sources = await readKinds(reader, { prefix, order: keys?.order, common: SOURCE, list });
  return keys && { sources, policy: keys.policy };
}
