import { resolve } from "node:path";
import type { Diagnostic } from "../model/diagnostic.ts";
import { openRegularFile } from "../model/regular_file.ts";
import { didYouMean } from "./did_you_mean.ts";
import { type Properties, reason, type ResolvedEntry } from "./load_properties.ts";
import type { Section } from "./section.ts";
import type { Origin } from "./service_config.ts";

/** Below these, a key that nobody knows stops the start (rest-api.md 3.1); other keys belong to somebody else. */
const OWN_PREFIXES = ["container.", "authservice.", "share.", "persistence."];

/**
 * What is wrong with the keys of the configuration, each problem with its place: said by those who read them, and, when
 * all is read, of keys that nobody asked for and of files that were named and cannot be used.
 */
export class KeyReport {
  /** Keys that somebody asked for, as written. */
  protected readonly claimed = new Set<string>();
  /** Keys that there are, written or not. */
  protected readonly known = new Set<string>();
  /** What was read: says what an unknown key among its own is. */
  protected readonly sections: Pick<Section, "prefix" | "unknown" | "elsewhere">[] = [];
  readonly #sources = new Set<string>();
  readonly #files: { key: string; path: string }[] = [];
  /** Secrets written in files, the first of each file. */
  readonly #secrets = new Map<string, string>();

  constructor(
    readonly properties: Properties,
    readonly workingDirectory: string,
    readonly diagnostics: Diagnostic[],
  ) {}

  /** The entry of a key, for messages; its presence says that the operator wrote it. */
  entry(key: string): ResolvedEntry | undefined {
    return this.properties.entries.get(key);
  }

  /** Where a key is set, for messages that come up later. */
  origin(key: string): Origin {
    const entry = this.entry(key) ?? this.anyCase(key)[0];
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
      const dot = key.indexOf(".", prefix.length);
      const hasName = key.startsWith(prefix) && dot > prefix.length && dot < key.length - 1;
      if (hasName) names.add(key.slice(prefix.length, dot));
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
    for (const key of this.properties.entries.keys()) if (key.startsWith(prefix)) this.claimed.add(key);
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
  reportUnknown(worst: Diagnostic["severity"]): void {
    for (const { key } of this.properties.entries.values()) {
      if (this.claimed.has(key)) continue;
      const guess = didYouMean(key, this.known);
      const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
      if (OWN_PREFIXES.some((prefix) => key.startsWith(prefix))) {
        const severity = worst === "error" ? this.#severityOf(key, guess !== undefined) : worst;
        this.#report(severity, key, `unknown key${hint}`);
      } else if (guess !== undefined) {
        this.warn(key, `not a key of this service${hint}`);
      }
    }
  }

  #severityOf(key: string, isMistyped: boolean): "error" | "warning" {
    const [nearest] = this.sections.filter(({ prefix }) => key.startsWith(prefix))
      .sort((a, b) => b.prefix.length - a.prefix.length);
    const isElsewhere = nearest?.elsewhere?.has(key.slice(nearest.prefix.length).toLowerCase());
    return isElsewhere && !isMistyped ? "warning" : nearest?.unknown ?? "error";
  }

  /** A secret stands in the file itself. */
  protected noteSecret({ key, file }: ResolvedEntry): void {
    if (!this.#secrets.has(file)) this.#secrets.set(file, key);
  }

  /** Entries of a key that may be written in any case. */
  protected anyCase(key: string): ResolvedEntry[] {
    const wanted = key.toLowerCase();
    return [...this.properties.entries.values()].filter((entry) => entry.key.toLowerCase() === wanted);
  }

  /** An entry near which a missing one belongs: below the same prefix, or else below a shorter one. */
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

/** `a.` for `a.b.`. */
function parentPrefix(prefix: string): string {
  return prefix.slice(0, prefix.slice(0, -1).lastIndexOf(".") + 1);
}
