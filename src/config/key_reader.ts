import { type Infer, type Item, type Items, type Key, path, type Table, UnexpectedValue } from "./key.ts";
import { KeyReport } from "./key_report.ts";
import type { ResolvedEntry } from "./load_properties.ts";
import { readSecretFile } from "./secret_file.ts";
import { fileKey, type Section } from "./section.ts";

/** Effective value of a key. */
export interface EffectiveValue {
  readonly key: string;
  readonly section: string; // section title
  readonly value?: string; // variables replaced; absent without a value
  readonly secret: boolean;
  readonly file?: string; // absent for a default
  readonly line?: number;
}

const SECRET_FILE = path({ help: "File with a secret" });

/** Returns the keys that changed, came or went, sorted. */
export function changedKeys(before: readonly EffectiveValue[], after: readonly EffectiveValue[]): string[] {
  const [old, now] = [before, after].map((values) => new Map(values.map(({ key, value }) => [key, value])));
  const keys = new Set([...before, ...after].map(({ key }) => key));
  return [...keys].filter((key) => old?.get(key) !== now?.get(key)).sort();
}

/** Reads values by section and collects diagnostics; {@link KeyReport.reportUnknown} comes last. */
export class KeyReader extends KeyReport {
  readonly #effective = new Map<string, EffectiveValue>();

  /** Reads a section; `undefined` with diagnostics if invalid. @param prefix With names in place of `<…>`. */
  read<T extends Table>(section: Section<T>, prefix: string = section.prefix): Infer<T> | undefined {
    this.sections.push({ ...section, prefix });
    const values: Record<string, unknown> = {};
    for (const [field, key] of Object.entries(section.keys)) {
      const full = prefix + (key.name ?? field);
      if (key.shape === "many") {
        const found = this.#readItems(key, `${full}.`, section.title);
        if (found !== undefined) values[field] = found;
      } else {
        const found = this.#readOne(key, full, prefix, section);
        if (found !== undefined) values[field] = found.value;
      }
    }
    this.#ignore(section, prefix);
    return isComplete(section.keys, values) ? values : undefined;
  }

  /** All keys read so far. */
  get effective(): readonly EffectiveValue[] {
    return [...this.#effective.values()];
  }

  #readOne<T>(
    key: Key<T>,
    full: string,
    prefix: string,
    section: Section,
  ): { value: T } | undefined {
    const { title } = section;
    const names = key.secret ? [full, fileKey(full)] : [full];
    for (const name of names) this.known.add(name);
    if (names.some((name) => this.properties.unusable.has(name))) return undefined;
    const [entry, named] = names.map((name) => this.#find(name, prefix, section));
    if (named !== undefined && entry !== undefined) {
      this.error(named.key, `expected either ${entry.key} or ${named.key}`);
      return undefined;
    }
    if (named !== undefined) return this.#readSecret(key, full, named, title);
    const isAbsent = key.absent !== undefined && key.emptyIsAbsent && entry?.value.trim() === "";
    if (entry !== undefined && !isAbsent) {
      this.#show(key, full, title, entry);
      if (key.secret && !entry.written.includes("${")) this.noteSecret(entry);
      return this.#parse(key, entry);
    }
    this.#show(key, full, title);
    if (key.absent === undefined) {
      const { file = this.properties.mainFile, line } = this.near(prefix) ?? {};
      const expected = `missing, expected ${key.type}`;
      this.diagnostics.push({ severity: "error", file, line, key: full, expected });
    }
    return key.absent;
  }

  #find(full: string, prefix: string, { anyCase = false }: Section): ResolvedEntry | undefined {
    const entry = anyCase ? this.#findAnyCase(full, prefix) : this.entry(full);
    if (entry !== undefined) this.claimed.add(entry.key);
    return entry;
  }

  #readSecret<T>(key: Key<T>, full: string, named: ResolvedEntry, section: string): { value: T } | undefined {
    this.#show(SECRET_FILE, named.key, section, named);
    const file = this.#parse(SECRET_FILE, named)?.value;
    if (file === undefined) return undefined;
    this.addSource(file);
    try {
      const value = readSecretFile(file);
      this.noteSecret({ key: named.key, file });
      this.#effective.set(full, { key: full, section, value, secret: true, file });
      return this.#parse(key, named, value);
    } catch (error) {
      if (!(error instanceof UnexpectedValue)) throw error;
      this.error(named.key, error.message);
      return undefined;
    }
  }

  #readItems<T>({ item }: Items<T>, start: string, title: string): readonly Item<T>[] | undefined {
    const found: Item<T>[] = [];
    let complete = true;
    for (const entry of this.properties.entries.values()) {
      if (!entry.key.startsWith(start) || entry.key.length === start.length) continue;
      this.claimed.add(entry.key);
      this.#show(item, entry.key, title, entry);
      const parsed = this.#parse(item, entry);
      if (parsed === undefined) complete = false;
      else found.push({ name: entry.key.slice(start.length), value: parsed.value });
    }
    found.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    return complete ? found : undefined;
  }

  #show(key: Key<unknown>, full: string, section: string, entry?: ResolvedEntry): void {
    // Hides passwords, which do not belong in URLs.
    const written = entry?.value.trim().replace(/\/\/[^/@\s]*@/g, "//***@");
    const value = written ?? defaultText(key.absent?.value);
    this.#effective.set(full, {
      key: entry?.key ?? full,
      section,
      value,
      secret: key.secret,
      file: entry?.file,
      line: entry?.line,
    });
  }

  #parse<T>(key: Key<T>, entry: ResolvedEntry, text = entry.value.trim()): { value: T } | undefined {
    try {
      const value = key.parse(text, { workingDirectory: this.workingDirectory });
      const doubt = key.doubt?.(text);
      if (doubt !== undefined) this.warn(entry.key, doubt, key.secret ? undefined : text);
      return { value };
    } catch (error) {
      if (!(error instanceof UnexpectedValue)) throw error;
      this.error(entry.key, error.message, key.secret || error.secret ? undefined : text);
      return undefined;
    }
  }

  #findAnyCase(full: string, prefix: string): ResolvedEntry | undefined {
    const [found, ...others] = this.anyCase(full).filter(({ key }) => key.startsWith(prefix));
    for (const { key } of others) {
      this.error(key, `is the same key as ${found?.key}, expected one of them`);
      this.claimed.add(key);
    }
    return found;
  }

  #ignore({ ignored = {}, anyCase }: Section, prefix: string): void {
    const fold = (name: string) => anyCase ? name.toLowerCase() : name;
    for (const [pattern, why] of Object.entries(ignored)) {
      const open = pattern.endsWith("*");
      const name = fold(open ? pattern.slice(0, -1) : pattern);
      if (!open) this.known.add(prefix + pattern);
      for (const key of this.properties.entries.keys()) {
        if (!key.startsWith(prefix) || this.claimed.has(key)) continue;
        const rest = fold(key.slice(prefix.length));
        if (open ? !rest.startsWith(name) : rest !== name) continue;
        this.claimed.add(key);
        this.warn(key, `ignored: ${why}`);
      }
    }
  }
}

function defaultText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.join(" ") : String(value);
}

function isComplete<T extends Table>(table: T, values: Record<string, unknown>): values is Infer<T> {
  return Object.keys(table).every((field) => field in values);
}
