import { type Items, type Key, optional, path, type Table } from "./key.ts";

/** Keys with a common prefix, for reading and for the manual. */
export interface Section<T extends Table = Table> {
  readonly prefix: string; // with final dot; `<server>` stands for names
  readonly title: string;
  readonly keys: T;
  /** Keys of the Java service without effect, with the reason after `ignored: `. A final `*` matches any rest. */
  readonly ignored?: Readonly<Record<string, string>>;
  readonly unknown: "error" | "warning"; // severity of unknown keys
  /** Returns Java key names, in lower case, for which an unknown key is only a warning. */
  readonly elsewhere?: () => Promise<ReadonlySet<string>>;
  readonly anyCase?: boolean; // whether keys are case-insensitive
}

/** Declares a section and keeps its type. */
export function section<const T extends Table>(described: Section<T>): Section<T> {
  return described;
}

/** Returns the key that names the file of a secret. @param secret Key of the secret. */
export function fileKey(secret: string): string {
  return `${secret}File`;
}

/** Yields the keys of a section by their written names, and behind each secret the key of its file. */
export function* writtenKeys(
  { prefix, keys }: Pick<Section, "prefix" | "keys">,
): Generator<readonly [name: string, key: Key<unknown> | Items<unknown>]> {
  for (const [field, key] of Object.entries(keys)) {
    const name = prefix + (key.name ?? field);
    yield [name, key];
    if (key.shape === "many" || !key.secret) continue;
    const help = `File that contains ${key.name ?? field} alone, such as a credential of systemd`;
    yield [fileKey(name), optional(path({ help, added: true }))];
  }
}
