import { resolve } from "node:path";
import type { Problem } from "../model/problem.ts";
import { didYouMean } from "./did_you_mean.ts";
import { type Infer, type Item, type Items, type Key, type Table, UnexpectedValue } from "./key.ts";
import { type Properties, reason, type ResolvedEntry } from "./load_properties.ts";
import type { Section } from "./section.ts";
import type { Origin } from "./service_config.ts";
import { openRegularFile } from "../model/regular_file.ts";

/** Below these, a key that nobody knows stops the start (rest-api.md 3.1); other keys belong to somebody else. */
const OWN_PREFIXES = ["container.", "authservice.", "share.", "persistence."];

/** A key that was read: what holds for it, and why. */
export interface EffectiveValue {
  readonly key: string;
  /** Title of its section. */
  readonly section: string;
  /** As text, with variables replaced; absent if nothing holds. */
  readonly value?: string;
  /** Whether the value is not to be shown. */
  readonly secret: boolean;
  /** Where it is written; absent if the value is the key's default. */
  readonly file?: string;
  readonly line?: number;
}

interface ReadSection {
  readonly prefix: string;
  readonly unknown: "error" | "warning";
}

/**
 * Takes values out of properties, section by section, and collects what is wrong with them.
 * When all sections are read, {@link KeyReader.reportUnknown} tells which keys nobody asked for.
 */
export class KeyReader {
  readonly #claimed = new Set<string>();
  readonly #known = new Set<string>();
  readonly #sections: ReadSection[] = [];
  readonly #sources = new Set<string>();
  readonly #files: { key: string; path: string }[] = [];
  readonly #effective = new Map<string, EffectiveValue>();
  /** Secrets written in files, the first of each file. */
  readonly #secrets = new Map<string, string>();

  constructor(
    readonly properties: Properties,
    readonly workingDirectory: string,
    readonly problems: Problem[],
  ) {}

  /**
   * The values of a section; `undefined`, and problems, if one of them is wrong or missing.
   * @param prefix The section's, with names in place of `<…>`.
   */
  read<T extends Table>(section: Section<T>, prefix: string = section.prefix): Infer<T> | undefined {
    this.#sections.push({ prefix, unknown: section.unknown });
    const values: Record<string, unknown> = {};
    for (const [field, key] of Object.entries(section.keys)) {
      const full = prefix + (key.name ?? field);
      if (key.shape === "many") {
        const found = this.#readItems(key, `${full}.`, section.title);
        if (found !== undefined) values[field] = found;
      } else {
        this.#known.add(full);
        const found = this.#readOne(key, full, prefix, section);
        if (found !== undefined) values[field] = found.value;
      }
    }
    this.#ignore(section, prefix);
    return isComplete(section.keys, values) ? values : undefined;
  }

  /** The entry of a key, for messages; its presence says that the operator wrote it. */
  entry(key: string): ResolvedEntry | undefined {
    return this.properties.entries.get(key);
  }

  /** Where a key is set, for messages that come up later. */
  origin(key: string): Origin {
    const entry = this.entry(key) ?? this.#entryAnyCase(key);
    return { file: entry?.file ?? this.properties.mainFile, line: entry?.line, key };
  }

  /** First entry below a prefix. */
  firstBelow(prefix: string): ResolvedEntry | undefined {
    let first: ResolvedEntry | undefined;
    for (const entry of this.properties.entries.values()) {
      if (!entry.key.startsWith(prefix)) continue;
      if (first === undefined || (entry.file === first.file && entry.line < first.line)) first = entry;
    }
    return first;
  }

  /** The parts that follow a prefix up to the next dot, each once: the names an operator chose. */
  namesBelow(prefix: string): ReadonlySet<string> {
    const names = new Set<string>();
    for (const key of this.properties.entries.keys()) {
      const [name, rest] = key.startsWith(prefix) ? split(key.slice(prefix.length)) : ["", ""];
      if (name !== "" && rest !== "") names.add(name);
    }
    return names;
  }

  /** Leaves everything below a prefix alone, with one warning that says why. */
  leave(prefix: string, expected: string): void {
    const first = this.firstBelow(prefix);
    if (first === undefined) return;
    this.skip(prefix);
    this.warn(first.key, expected);
  }

  /** Leaves everything below a prefix alone, because something about it was reported already. */
  skip(prefix: string): void {
    for (const key of this.properties.entries.keys()) if (key.startsWith(prefix)) this.#claimed.add(key);
  }

  /** Every key that was read so far. */
  get effective(): readonly EffectiveValue[] {
    return [...this.#effective.values()];
  }

  /** Notes a file whose content became part of the configuration. */
  addSource(path: string): void {
    this.#sources.add(path);
  }

  /** Files that the configuration was made of, absolute, the main file first. */
  get sources(): readonly string[] {
    return [...new Set([...this.properties.files, ...this.#sources])];
  }

  /** Files whose change may make another configuration of it, or a good one of a bad one. */
  get dependsOn(): readonly string[] {
    return [...new Set([...this.sources, ...this.#files.map(({ path }) => path)])];
  }

  /** Notes a file that has to be there; see `checkFiles`. */
  expectFile(key: string, path: string): void {
    this.#files.push({ key, path });
  }

  /** Reports expected files that cannot be read, and files with secrets that everybody can. @returns The former. */
  async checkFiles(): Promise<readonly string[]> {
    const unreadable: string[] = [];
    for (const [file, key] of this.#secrets) {
      const { mode } = await Deno.stat(resolve(this.workingDirectory, file));
      if (mode === null || (mode & 0o004) === 0) continue;
      this.warn(key, `every user of this machine can read this secret, expected: chmod o-r ${file}`);
    }
    await Promise.all(this.#files.map(async ({ key, path }) => {
      try {
        await (await openRegularFile(path)).close();
      } catch (error) {
        unreadable.push(path);
        this.error(key, `cannot read ${path}: ${reason(error)}`);
      }
    }));
    return unreadable;
  }

  /** @param found What was written; leave it out where it may be secret. */
  error(key: string, expected: string, found?: string): void {
    this.#report("error", key, expected, found);
  }

  warn(key: string, expected: string, found?: string): void {
    this.#report("warning", key, expected, found);
  }

  /**
   * Reports keys that no section has read. To be called last.
   * @param worst `warning`: the file has other readers as well, whose keys may begin like ours.
   */
  reportUnknown(worst: Problem["severity"] = "error"): void {
    for (const { key } of this.properties.entries.values()) {
      if (this.#claimed.has(key)) continue;
      const guess = didYouMean(key, this.#known);
      const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
      if (OWN_PREFIXES.some((prefix) => key.startsWith(prefix))) {
        this.#report(worst === "error" ? this.#severityOf(key) : worst, key, `unknown key${hint}`);
      } else if (guess !== undefined) {
        this.warn(key, `not a key of this service${hint}`);
      }
    }
  }

  #severityOf(key: string): "error" | "warning" {
    let nearest: ReadSection | undefined;
    for (const section of this.#sections) {
      if (!key.startsWith(section.prefix)) continue;
      if (nearest === undefined || section.prefix.length > nearest.prefix.length) nearest = section;
    }
    return nearest?.unknown ?? "error";
  }

  /** `undefined` if there is no usable value. */
  #readOne<T>(
    key: Key<T>,
    full: string,
    prefix: string,
    { anyCase = false, title }: Section,
  ): { value: T } | undefined {
    if (this.properties.unusable.has(full)) return undefined;
    const entry = anyCase ? this.#findAnyCase(full, prefix) : this.entry(full);
    if (entry !== undefined) this.#claimed.add(entry.key);
    const isAbsent = key.absent !== undefined && key.emptyIsAbsent && entry?.value.trim() === "";
    if (entry !== undefined && !isAbsent) {
      this.#show(key, full, title, entry);
      return this.#parse(key, entry);
    }
    this.#show(key, full, title);
    if (key.absent === undefined) {
      const { file = this.properties.mainFile, line } = this.#relative(prefix) ?? {};
      const expected = `missing, expected ${key.type}`;
      this.problems.push({ severity: "error", file, line, key: full, expected });
    }
    return key.absent;
  }

  #readItems<T>({ item }: Items<T>, start: string, title: string): readonly Item<T>[] | undefined {
    const found: Item<T>[] = [];
    let complete = true;
    for (const entry of this.properties.entries.values()) {
      if (!entry.key.startsWith(start) || entry.key.length === start.length) continue;
      this.#claimed.add(entry.key);
      this.#show(item, entry.key, title, entry);
      const parsed = this.#parse(item, entry);
      if (parsed === undefined) complete = false;
      else found.push({ name: entry.key.slice(start.length), value: parsed.value });
    }
    found.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    return complete ? found : undefined;
  }

  #show(key: Key<unknown>, full: string, section: string, entry?: ResolvedEntry): void {
    // Passwords do not belong into URLs; where one is all the same, it is not shown.
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

  #parse<T>(key: Key<T>, entry: ResolvedEntry): { value: T } | undefined {
    const text = entry.value.trim();
    if (key.secret && !entry.written.includes("${") && !this.#secrets.has(entry.file)) {
      this.#secrets.set(entry.file, entry.key);
    }
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
    const wanted = full.slice(prefix.length).toLowerCase();
    let found: ResolvedEntry | undefined;
    for (const entry of this.properties.entries.values()) {
      if (!entry.key.startsWith(prefix) || entry.key.slice(prefix.length).toLowerCase() !== wanted) continue;
      if (found !== undefined) this.error(entry.key, `is the same key as ${found.key}, expected one of them`);
      this.#claimed.add(entry.key);
      found ??= entry;
    }
    return found;
  }

  #entryAnyCase(key: string): ResolvedEntry | undefined {
    const wanted = key.toLowerCase();
    for (const entry of this.properties.entries.values()) {
      if (entry.key.toLowerCase() === wanted) return entry;
    }
    return undefined;
  }

  #ignore({ ignored = {}, anyCase }: Section, prefix: string): void {
    const fold = (name: string) => anyCase ? name.toLowerCase() : name;
    for (const [pattern, why] of Object.entries(ignored)) {
      const open = pattern.endsWith("*");
      const name = fold(open ? pattern.slice(0, -1) : pattern);
      if (!open) this.#known.add(prefix + pattern);
      for (const key of this.properties.entries.keys()) {
        if (!key.startsWith(prefix) || this.#claimed.has(key)) continue;
        const rest = fold(key.slice(prefix.length));
        if (open ? !rest.startsWith(name) : rest !== name) continue;
        this.#claimed.add(key);
        this.warn(key, `ignored: ${why}`);
      }
    }
  }

  /** An entry near which a missing one belongs: below the same prefix, or else below a shorter one. */
  #relative(prefix: string): ResolvedEntry | undefined {
    for (let below = prefix; below.includes("."); below = parentPrefix(below)) {
      const entry = this.firstBelow(below);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  #report(severity: "error" | "warning", key: string, expected: string, found?: string): void {
    this.problems.push({ severity, ...this.origin(key), found, expected });
  }
}

function defaultText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.join(" ") : String(value);
}

function split(text: string): [string, string] {
  const dot = text.indexOf(".");
  return dot < 0 ? [text, ""] : [text.slice(0, dot), text.slice(dot + 1)];
}

function isComplete<T extends Table>(table: T, values: Record<string, unknown>): values is Infer<T> {
  return Object.keys(table).every((field) => field in values);
}

/** `a.` for `a.b.`. */
function parentPrefix(prefix: string): string {
  return prefix.slice(0, prefix.slice(0, -1).lastIndexOf(".") + 1);
}
