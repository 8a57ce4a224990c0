import type { KeyReader } from "./key_reader.ts";
import type { KindConfig } from "./service_config.ts";
import type { Section } from "./key.ts";
import type { Known, Parts } from "./section_reader.ts";

/** Reads the destinations of notifications: each is configured if a key with its prefix is there. */
export async function readNotifications(
  reader: KeyReader,
  { kinds, sharing }: Known,
): Promise<Parts | undefined> {
  const notifications: KindConfig[] = [];
  for (const { classes, prefix = "", load } of kinds.destinations.kinds) {
    const [name = ""] = Object.keys(classes);
    const first = reader.firstBelow(prefix);
    if (first === undefined) continue;
    const { title, keys, read } = await load();
    const section: Section = { prefix, title, keys };
    const values = reader.read(section);
    const members = () => Promise.resolve([]);
    const config = values && await read(values, { reader, name, prefix, members });
    if (config === undefined) return undefined;
    notifications.push({ ...config, kind: name, name });
    if (sharing !== undefined && sharing.directory === undefined && sharing.database === undefined) {
      reader.error(first.key, "expected persistence.directory too, where notifications wait");
    }
  }
  return { notifications };
}
