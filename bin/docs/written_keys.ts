import { fileKey, type Items, type Key, optional, path, type Section } from "../../src/config/key.ts";

/** Yields the keys of a section by their written names, and behind each secret the key of its file. */
export function* writtenKeys(
  { prefix, keys }: Pick<Section, "prefix" | "keys">,
): Generator<readonly [name: string, key: Key<unknown> | Items<unknown>]> {
  for (const [field, key] of Object.entries(keys)) {
    const name = prefix + (key.name ?? field);
    yield [name, key];
    if (key.shape === "many" || !key.secret) continue;
    const help = `File that contains only this secret (${
      key.name ?? field
    }), for example a systemd credential`;
    yield [fileKey(name), optional(path({ help, added: true }))];
  }
}
