import { resolve } from "node:path";
import { attempt } from "../model/attempt.ts";
import {
  fileKey,
  type Infer,
  type Item,
  type Items,
  type Key,
  path,
  type Section,
  type Table,
  UnexpectedValue,
} from "./key.ts";
import { suggestion } from "./did_you_mean.ts";
import type { Origin } from "./service_config.ts";
import { type Properties, reason, type ResolvedEntry } from "./properties.ts";
import { openRegularFile, readRegularFileSync, utf8Text } from "../model/regular_file.ts";
import { type Diagnostic, InvalidFile, readableAt } from "../model/diagnostic.ts";

export interface EffectiveValue {
  readonly key: string;
  readonly section: string; // section title
  readonly value?: string; // variables replaced; absent without a value
  readonly secret: boolean;
  readonly file?: string; // absent for a default
  readonly line?: number;
}

const SECRET_FILE = path({ help: "File with a secret" });

/** Returns the added, changed and removed keys, sorted. */
export function changedKeys(before: readonly EffectiveValue[], after: readonly EffectiveValue[]): string[] {
  const [old, now] = [before, after].map((values) => new Map(values.map(({ key, value }) => [key, value])));
  const keys = new Set([...before, ...after].map(({ key }) => key));
  return [...keys].filter((key) => old?.get(key) !== now?.get(key)).sort();
}

/** Prefixes below which unknown keys are errors (rest-api.md 3.1). */
export const OWN_PREFIXES = ["container.", "authservice.", "share.", "persistence.", "notify."];

/** Reads values by section and collects diagnostics; call {@link KeyReader.reportUnknown} last. */
export class KeyReader {
  readonly #effective = new Map<string, EffectiveValue>();
  readonly #requested = new Set<string>(); // requested keys, as written
  readonly #known = new Set<string>(); // supported keys, present or not
  readonly #sections: Pick<Section, "prefix" | "unknown" | "elsewhere">[] = [];
  readonly #sources = new Set<string>();
  readonly #files: { key: string; path: string }[] = [];
  readonly #secrets = new Map<string, string>(); // first secret of each file

  constructor(
    readonly properties: Properties,
    readonly workingDirectory: string,
    readonly diagnostics: Diagnostic[],
  ) {}

  /** Reads a section; `undefined` with diagnostics if invalid. @param prefix With names in place of `<…>`. */
  read<T extends Table>(section: Section<T>, prefix: string = section.prefix): Infer<T> | undefined {
    this.#sections.push({ ...section, prefix });
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

  get effective(): readonly EffectiveValue[] {
    return [...this.#effective.values()];
  }

  #readOne<T>(key: Key<T>, full: string, prefix: string, section: Section): { value: T } | undefined {
    const { title } = section;
    const names = key.secret ? [full, fileKey(full)] : [full];
    for (const name of names) this.#known.add(name);
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
      const { file = this.properties.mainFile, line } = this.#near(prefix) ?? {};
      const expected = `missing, expected ${key.type}`;
      this.diagnostics.push({ severity: "error", file, line, key: full, expected });
    }
    return key.absent;
  }

  #find(full: string, prefix: string, { anyCase = false }: Section): ResolvedEntry | undefined {
    const entry = anyCase ? this.#findAnyCase(full, prefix) : this.entry(full);
    if (entry !== undefined) this.#requested.add(entry.key);
    return entry;
  }

  #readSecret<T>(key: Key<T>, full: string, named: ResolvedEntry, section: string): { value: T } | undefined {
    this.#show(SECRET_FILE, named.key, section, named);
    const file = this.#parse(SECRET_FILE, named)?.value;
    if (file === undefined) return undefined;
    this.addSource(file);
    const value = attempt(() => readSecretFile(file), UnexpectedValue, ({ message }) => {
      this.#report("error", named.key, message, { fix: `write the secret alone into ${file}, in one line` });
    });
    if (value === undefined) return undefined;
    this.noteSecret({ key: named.key, file });
    this.#effective.set(full, { key: full, section, value, secret: true, file });
    return this.#parse(key, named, value);
  }

  #readItems<T>({ item }: Items<T>, start: string, title: string): readonly Item<T>[] | undefined {
    const found: Item<T>[] = [];
    let complete = true;
    for (const entry of this.properties.entries.values()) {
      if (!entry.key.startsWith(start) || entry.key.length === start.length) continue;
      this.#requested.add(entry.key);
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
    const value = written ??
      (key.absent?.value === undefined ? undefined : [key.absent.value].flat().join(" "));
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
    const parsed = attempt(() => ({ value: key.parse(text, this) }), UnexpectedValue, (error) => {
      this.error(entry.key, error.message, key.secret || error.secret ? undefined : text);
    });
    const warning = parsed && key.warning?.(text);
    if (warning !== undefined) this.warn(entry.key, warning, key.secret ? undefined : text);
    return parsed ?? undefined;
  }

  #findAnyCase(full: string, prefix: string): ResolvedEntry | undefined {
    const [found, ...others] = this.#anyCase(full).filter(({ key }) => key.startsWith(prefix));
    for (const { key } of others) {
      this.error(key, `is the same key as ${found?.key}, expected one of them`);
      this.#requested.add(key);
    }
    return found;
  }

  #ignore({ ignored = {}, anyCase }: Section, prefix: string): void {
    const fold = (name: string) => anyCase ? name.toLowerCase() : name;
    for (const [pattern, why] of Object.entries(ignored)) {
      const open = pattern.endsWith("*");
      const name = fold(open ? pattern.slice(0, -1) : pattern);
      if (!open) this.#known.add(prefix + pattern);
      for (const key of this.properties.entries.keys()) {
        if (!key.startsWith(prefix) || this.#requested.has(key)) continue;
        const rest = fold(key.slice(prefix.length));
        if (open ? !rest.startsWith(name) : rest !== name) continue;
        this.#requested.add(key);
        this.warn(key, `ignored: ${why}`);
      }
    }
  }

  entry(key: string): ResolvedEntry | undefined {
    return this.properties.entries.get(key);
  }

  /** Returns a key's place for later messages. */
  origin(key: string): Origin {
    const entry = this.entry(key) ?? this.#anyCase(key)[0];
    return { file: entry?.file ?? this.properties.mainFile, line: entry?.line, key };
  }

  firstBelow(prefix: string): ResolvedEntry | undefined {
    let first: ResolvedEntry | undefined;
    for (const entry of this.properties.entries.values()) {
      if (!entry.key.startsWith(prefix)) continue;
      if (first === undefined || (entry.file === first.file && entry.line < first.line)) first = entry;
    }
    return first;
  }

  /** Returns the distinct names after a prefix, up to the next dot. */
  namesBelow(prefix: string): ReadonlySet<string> {
    const names = new Set<string>();
    for (const key of this.properties.entries.keys()) {
      const dot = key.indexOf(".", prefix.length);
      const hasName = key.startsWith(prefix) && dot > prefix.length && dot < key.length - 1;
      if (hasName) names.add(key.slice(prefix.length, dot));
    }
    return names;
  }

  /** Ignores everything below a prefix, with one warning. */
  ignoreBelow(prefix: string, expected: string): void {
    const first = this.firstBelow(prefix);
    if (first === undefined) return;
    this.skip(prefix);
    this.warn(first.key, expected);
  }

  /** Ignores everything below a prefix, since a diagnostic exists. */
  skip(prefix: string): void {
    for (const key of this.properties.entries.keys()) if (key.startsWith(prefix)) this.#requested.add(key);
  }

  addSource(path: string): void {
    this.#sources.add(path);
  }

  /** Source files, absolute, the main file first. */
  get sources(): readonly string[] {
    return [...new Set([...this.properties.files, ...this.#sources])];
  }

  /** Files whose change requires a reload. */
  get dependsOn(): readonly string[] {
    return [...new Set([...this.sources, ...this.#files.map(({ path }) => path)])];
  }

  expectFile(key: string, path: string): void {
    this.#files.push({ key, path });
  }

  /** Reports unreadable files and public files with secrets. Returns the unreadable ones. */
  async checkFiles(): Promise<readonly string[]> {
    const unreadable: string[] = [];
    for (const [file, key] of this.#secrets) {
      const { mode } = await Deno.stat(resolve(this.workingDirectory, file)).catch(() => ({ mode: null }));
      if (mode === null || (mode & 0o004) === 0) continue;
      const fix = `chmod o-r ${file}`;
      this.#report("warning", key, `every user of this machine can read this secret, expected: ${fix}`, {
        fix,
      });
    }
    await Promise.all(this.#files.map(async ({ key, path }) => {
      try {
        await (await openRegularFile(path)).close();
      } catch (error) {
        unreadable.push(path);
        this.#report("error", key, `cannot read ${path}: ${reason(error)}`, { fix: readableAt(path) });
      }
    }));
    return unreadable;
  }

  /** @param found Value as written; omit if it may be secret. */
  error(key: string, expected: string, found?: string): void {
    this.#report("error", key, expected, { found });
  }

  warn(key: string, expected: string, found?: string): void {
    this.#report("warning", key, expected, { found });
  }

  /** Reports unread keys; call this last. @param worst `warning` if the file has other readers. */
  async reportUnknown(worst: Diagnostic["severity"]): Promise<void> {
    for (const { key } of this.properties.entries.values()) {
      if (this.#requested.has(key)) continue;
      const hint = suggestion(key, this.#known);
      if (OWN_PREFIXES.some((prefix) => key.startsWith(prefix))) {
        const severity = worst === "error" ? await this.#severityOf(key, hint !== "") : worst;
        this.#report(severity, key, `unknown key${hint}`);
      } else {
        const near = hint || suggestion(`${key.split(".", 1)}.`, [...OWN_PREFIXES, "$include.", "$var."]);
        if (near !== "" || key.startsWith("[")) this.warn(key, `not a key of this service${near}`);
      }
    }
  }

  async #severityOf(key: string, isMistyped: boolean): Promise<"error" | "warning"> {
    const [nearest] = this.#sections.filter(({ prefix }) => key.startsWith(prefix))
      .sort((a, b) => b.prefix.length - a.prefix.length);
    const severity = nearest?.unknown ?? "error";
    if (isMistyped || nearest?.elsewhere === undefined) return severity;
    const names = await nearest.elsewhere();
    return names.has(key.slice(nearest.prefix.length).toLowerCase()) ? "warning" : severity;
  }

  noteSecret({ key, file }: Pick<ResolvedEntry, "key" | "file">): void {
    if (!this.#secrets.has(file)) this.#secrets.set(file, key);
  }

  #anyCase(key: string): ResolvedEntry[] {
    const wanted = key.toLowerCase();
    return [...this.properties.entries.values()].filter((entry) => entry.key.toLowerCase() === wanted);
  }

  #near(prefix: string): ResolvedEntry | undefined {
    for (let below = prefix; below.includes(".");) {
      const entry = this.firstBelow(below);
      if (entry !== undefined) return entry;
      below = below.slice(0, below.slice(0, -1).lastIndexOf(".") + 1);
    }
    return undefined;
  }

  #report(
    severity: "error" | "warning",
    key: string,
    expected: string,
    more?: Pick<Diagnostic, "found" | "fix">,
  ): void {
    this.diagnostics.push({ severity, ...this.origin(key), expected, ...more });
  }
}

function isComplete<T extends Table>(table: T, values: Record<string, unknown>): values is Infer<T> {
  return Object.keys(table).every((field) => field in values);
}

const MAX_SECRET_BYTES = 64 * 1024;

/** Reads a secret: one line of UTF-8 text, without its line end. @throws {UnexpectedValue} */
export function readSecretFile(path: string): string {
  const secret = textOf(path).replace(/\r?\n$/, "");
  if (secret.trim() === "") {
    throw new UnexpectedValue(`expected a secret in ${path}, the file is empty`, false);
  }
  if (/[\r\n\0]/.test(secret)) {
    throw new UnexpectedValue(`expected the secret alone in ${path}, in one line`, false);
  }
  return secret;
}

function textOf(path: string): string {
  try {
    return utf8Text(readRegularFileSync(path, MAX_SECRET_BYTES), path);
  } catch (error) {
    const why = error instanceof InvalidFile ? error.diagnostics[0]?.expected : undefined;
    throw new UnexpectedValue(`cannot read ${path}: ${why ?? reason(error)}`, false);
  }
}
