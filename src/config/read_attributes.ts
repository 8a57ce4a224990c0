import type { KeyReader } from "./key_reader.ts";
import { type ATTRIBUTES, SOURCE } from "./keys/attribute_keys.ts";
import type { KindList } from "./kind.ts";
import { readKinds } from "./read_kinds.ts";
import type { AttributesConfig } from "./service_config.ts";

/** The attribute sources of a section, in order (authentication.md 7.3). */
export async function readAttributes(
  reader: KeyReader,
  section: typeof ATTRIBUTES,
  list: KindList,
): Promise<AttributesConfig | undefined> {
  const keys = reader.read(section);
  const { prefix } = section;
  const sources = await readKinds(reader, { prefix, order: keys?.order, common: SOURCE, list });
  return keys && { sources, policy: keys.policy };
}
