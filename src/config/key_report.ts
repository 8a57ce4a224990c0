import { resolve } from "node:path";
import type { Diagnostic } from "../model/diagnostic.ts";
import { openRegularFile } from "../model/regular_file.ts";
import { didYouMean } from "./did_you_mean.ts";
import { type Properties, reason, type ResolvedEntry } from "./load_properties.ts";
import type { Section } from "./section.ts";
import type { Origin } from "./service_config.ts";

/** Prefixes below which unknown keys are errors (rest-api.md 3.1). */
export const OWN_PREFIXES = ["container.", "authservice.", "share.", "persistence.", "notify."];

/** Diagnostics of configuration keys, including unknown keys and unreadable files. */
export class KeyReport {
  /** Requested keys, as written. */
  protected readonly claimed = new Set<string>();
  /** Existing keys, present or not. */
  protected readonly known = new Set<string>();
  /** Sections read, which classify unknown keys. */
  protected readonly sections: Pick<Section, "prefix" | "unknown" | "elsewhere">[] = [];
  readonly #sources = new Set<string>();
  readonly #files: { key: string; path: string }[] = [];
  readonly #secrets = new Map<string, string>(); // first secret of each file

  constructor(
    readonly properties: Properties,
    readonly workingDirectory: string,
    readonly diagnostics: Diagnostic[],
  ) {}

  /** Returns a key's entry, if the operator wrote it. */
  entry(key: string): ResolvedEntry | undefined {
    return this.properties.entries.get(key);
  }

  /** Returns a key's place for later messages. */
  origin(key: string): Origin {
    const entry = this.entry(key) ?? this.anyCase(key)[0];
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
  leave(prefix: string, expected: string): void {
    const first = this.firstBelow(prefix);
    if (first === undefined) return;
    this.skip(prefix);
    this.warn(first.key, expected);
  }

  /** Ignores everything below a prefix, since a diagnostic exists. */
  skip(prefix: string): void {
    for (const key of this.properties.entries.keys()) if (key.startsWith(prefix)) this.claimed.add(key);
  }

  /** Adds a file that the configuration includes. */
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

  /** Expects a file; see `checkFiles`. */
  expectFile(key: string, path: string): void {
    this.#files.push({ key, path });
  }

  /** Reports unreadable files and public files with secrets. Returns the unreadable ones. */
  async checkFiles(): Promise<readonly string[]> {
    const unreadable: string[] = [];
    for (const [file, key] of this.#secrets) {
      const { mode } = await Deno.stat(resolve(this.workingDirectory, file)).catch(() => ({ mode: null }));
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

  /** @param found Value as written; omit if it may be secret. */
  error(key: string, expected: string, found?: string): void {
    this.#report("error", key, expected, found);
  }

  warn(key: string, expected: string, found?: string): void {
    this.#report("warning", key, expected, found);
  }

  /** Reports unread keys; call this last. @param worst `warning` if the file has other readers. */
  async reportUnknown(worst: Diagnostic["severity"]): Promise<void> {
    for (const { key } of this.properties.entries.values()) {
      if (this.claimed.has(key)) continue;
      const guess = didYouMean(key, this.known);
      const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
      if (OWN_PREFIXES.some((prefix) => key.startsWith(prefix))) {
        const severity = worst === "error" ? await this.#severityOf(key, guess !== undefined) : worst;
        this.#report(severity, key, `unknown key${hint}`);
      } else if (guess !== undefined) {
        this.warn(key, `not a key of this service${hint}`);
      }
    }
  }

  async #severityOf(key: string, isMistyped: boolean): Promise<"error" | "warning"> {
    const [nearest] = this.sections.filter(({ prefix }) => key.startsWith(prefix))
      .sort((a, b) => b.prefix.length - a.prefix.length);
    const severity = nearest?.unknown ?? "error";
    if (isMistyped || nearest?.elsewhere === undefined) return severity;
    const names = await nearest.elsewhere();
    return names.has(key.slice(nearest.prefix.length).toLowerCase()) ? "warning" : severity;
  }

  protected noteSecret({ key, file }: Pick<ResolvedEntry, "key" | "file">): void {
    if (!this.#secrets.has(file)) this.#secrets.set(file, key);
  }

  /** Returns entries of a key in any case. */
  protected anyCase(key: string): ResolvedEntry[] {
    const wanted = key.toLowerCase();
    return [...this.properties.entries.values()].filter((entry) => entry.key.toLowerCase() === wanted);
  }

  /** Returns an entry near which a missing one belongs. */
  protected near(prefix: string): ResolvedEntry | undefined {
    for (let below = prefix; below.includes("."); below = parentPrefix(below)) {
      const entry = this.firstBelow(below);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  #report(severity: "error" | "warning", key: string, expected: string, found?: string): void {
    this.diagnostics.push({ severity, ...this.origin(key), found, expected });
  }
}

function parentPrefix(prefix: string): string {
  return prefix.slice(0, prefix.slice(0, -1).lastIndexOf(".") + 1);
}
