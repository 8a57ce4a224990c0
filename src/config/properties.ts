import { attempt } from "../model/attempt.ts";
import { type Diagnostic, InvalidFile, readableAt } from "../model/diagnostic.ts";
import { messageOf, trimEndCharacters } from "../model/text.ts";
import { resolve } from "node:path";
import { readRegularFile, UTF16_MARK, utf8Text } from "../model/regular_file.ts";

interface PropertyEntry {
  readonly key: string;
  readonly value: string; // unescaped, with trailing blanks
  readonly file: string;
  readonly line: number; // from 1; the first line of a continued entry
}

/** Decodes UTF-8, or ISO-8859-1 as the fallback; drops a byte-order mark. */
export function decodeProperties(bytes: Uint8Array): string {
  const asLatin1 = () => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes), TypeError, asLatin1);
}

/** Parses like `java.util.Properties`; a repeated key is a warning, a bad `\u` escape an error. */
export function parseProperties(
  text: string,
  file: string,
): { readonly entries: readonly PropertyEntry[]; readonly diagnostics: readonly Diagnostic[] } {
  const entries = new Map<string, PropertyEntry>();
  const diagnostics: Diagnostic[] = [];
  for (const { content, line } of logicalLines(text)) {
    const { key: rawKey, value: rawValue } = splitEntry(content);
    const key = unescape(rawKey);
    const value = unescape(rawValue);
    if (key === undefined || value === undefined) {
      const expected = "expected four hexadecimal digits after \\u";
      const fix = `write / in paths, and \\\\ for a backslash, at ${file}:${line}`;
      diagnostics.push({ severity: "error", file, line, key: key ?? rawKey, expected, fix });
      continue;
    }
    const earlier = entries.get(key);
    if (earlier !== undefined) {
      const expected = `is also set in line ${earlier.line}; this line applies`;
      diagnostics.push({ severity: "warning", file, line, key, expected });
      entries.delete(key);
    }
    entries.set(key, { key, value, file, line });
  }
  return { entries: [...entries.values()], diagnostics };
}

/** Yields logical lines: continued lines joined, without comments; escapes unchanged. */
function* logicalLines(text: string): Generator<{ content: string; line: number }> {
  // Joined once per entry, to stay linear.
  let parts: string[] = [];
  let first = 0;
  let line = 0;
  for (const natural of text.split(/\r\n|\r|\n/)) {
    line += 1;
    const part = natural.replace(/^[ \t\f]+/, "");
    // Skips blank lines and comments before an entry, also after a lone backslash.
    if (parts.length === 0) {
      if (part === "" || part.startsWith("#") || part.startsWith("!")) continue;
      first = line;
    }
    if ((part.length - trimEndCharacters(part, "\\").length) % 2 === 1) {
      if (part.length > 1) parts.push(part.slice(0, -1));
      continue;
    }
    yield { content: parts.join("") + part, line: first };
    parts = [];
  }
  if (parts.length > 0) yield { content: parts.join(""), line: first };
}

/** Splits at the first unescaped `=`, `:` or blank. */
function splitEntry(content: string): { key: string; value: string } {
  const key = /^(?:\\.|[^\\=: \t\f])*/su.exec(content)?.[0] ?? "";
  const value = content.slice(key.length).replace(/^[ \t\f]*[=:]?[ \t\f]*/, "");
  return { key, value };
}

const ESCAPES: ReadonlyMap<string, string> = new Map([["t", "\t"], ["n", "\n"], ["r", "\r"], ["f", "\f"]]);

/** Returns `undefined` for a bad `\u`. */
function unescape(text: string): string | undefined {
  let valid = true;
  const plain = text.replace(
    /\\(?:u([0-9A-Fa-f]{4})|(.)|$)/gsu,
    (_, code: string | undefined, letter = "") => {
      if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
      valid &&= letter !== "u";
      return ESCAPES.get(letter) ?? letter;
    },
  );
  return valid ? plain : undefined;
}

/** Entry with variables replaced. */
export interface ResolvedEntry extends PropertyEntry {
  readonly written: string; // original value
}

/** Entries of the main file and its includes. */
export interface Properties {
  readonly entries: ReadonlyMap<string, ResolvedEntry>;
  readonly unusable: ReadonlySet<string>; // keys with unresolvable values, each with a diagnostic
  readonly mainFile: string;
  readonly files: readonly string[]; // absolute, the main file first
}

interface PropertiesContext {
  readonly environment: (name: string) => string | undefined;
  readonly workingDirectory: string; // base of relative paths, absolute
}

const INCLUDE = "$include.";
const VARIABLE = "$var.";

/** Reads a file with `$include.<any>=<file>`; replaces `${NAME}` by environment or `$var.NAME=…` (rest-api.md 3.1). */
export async function loadProperties(
  mainFile: string,
  context: PropertiesContext,
  diagnostics: Diagnostic[],
): Promise<Properties> {
  const loader = new PropertyLoader(context, diagnostics);
  await loader.read(mainFile, []);
  const entries = new Map<string, ResolvedEntry>();
  for (const entry of loader.entries.values()) {
    const value = loader.replaceVariables(entry);
    if (value === undefined) loader.unusable.add(entry.key);
    else entries.set(entry.key, { ...entry, value, written: entry.value });
  }
  return { entries, unusable: loader.unusable, mainFile, files: loader.files };
}

class PropertyLoader {
  readonly entries = new Map<string, PropertyEntry>();
  readonly files: string[] = [];
  readonly unusable = new Set<string>();
  readonly #variables = new Map<string, PropertyEntry[]>(); // definitions by key, at most one of each file
  readonly #includers = new Map<string, string>(); // included file -> the file that names it

  constructor(readonly context: PropertiesContext, readonly diagnostics: Diagnostic[]) {}

  async read(file: string, chain: readonly string[], included?: PropertyEntry): Promise<void> {
    const absolute = resolve(this.context.workingDirectory, file);
    if (included !== undefined && this.files.includes(absolute)) {
      const expected = chain.includes(absolute)
        ? `expected a file that does not include itself: ${[...chain, absolute].join(" > ")}`
        : `expected each file to be included once: ${absolute}`;
      this.diagnostics.push({ severity: "error", ...place(included), found: file, expected });
      return;
    }
    this.files.push(absolute);
    if (included !== undefined) this.#includers.set(file, included.file);
    let text: string;
    try {
      const bytes = await readRegularFile(absolute);
      text = decodeProperties(bytes);
      if (UTF16_MARK.test(text)) utf8Text(bytes, absolute);
    } catch (error) {
      if (error instanceof InvalidFile) return void this.diagnostics.push(...error.diagnostics);
      const where = included === undefined ? { file } : { ...place(included), found: file };
      const expected = `cannot read ${absolute}: ${reason(error)}`;
      this.diagnostics.push({ severity: "error", ...where, expected, fix: readableAt(absolute) });
      return;
    }
    const parsed = parseProperties(text, file);
    this.diagnostics.push(...parsed.diagnostics);
    for (const { severity, key = "" } of parsed.diagnostics) if (severity === "error") this.unusable.add(key);
    const includes: PropertyEntry[] = [];
    for (const entry of parsed.entries) {
      const { key } = entry;
      if (key.startsWith(INCLUDE)) includes.push(entry);
      else if (key.startsWith(VARIABLE)) this.#variables.getOrInsertComputed(key, () => []).push(entry);
      else this.#add(entry);
    }
    for (const entry of includes) {
      const value = this.replaceVariables(entry)?.trim();
      if (value !== undefined) await this.read(value, [...chain, absolute], entry);
    }
  }

  #add(entry: PropertyEntry): void {
    const earlier = this.entries.get(entry.key);
    if (earlier === undefined) return void this.entries.set(entry.key, entry);
    const expected = `expected each key in one file only, it is also set in ${earlier.file}:${earlier.line}`;
    this.diagnostics.push({ severity: "error", ...place(entry), expected });
  }

  replaceVariables(entry: PropertyEntry, open: readonly PropertyEntry[] = []): string | undefined {
    let complete = true;
    if (/\$\{[^{}]*$/.test(entry.value)) {
      const expected = "has ${ without }, which stands for no variable; the value contains both characters";
      this.diagnostics.push({ severity: "warning", ...place(entry), expected });
    }
    const value = entry.value.replace(/\$\{([^{}]+)\}/g, (_, name: string) => {
      const replacement = this.#variable(name, entry.file, open);
      if (replacement === undefined) {
        complete = false;
        const made = this.#definition(VARIABLE + name, entry.file);
        const at = `${made?.file}:${made?.line}`;
        const expected = made === undefined
          ? `expected the variable ${name} to be defined, in the environment or as ${VARIABLE}${name}`
          : `expected ${at} to define ${name} by neither itself nor an undefined variable`;
        const change = made === undefined
          ? `add ${VARIABLE}${name}=<value> to ${entry.file}`
          : `change ${at}`;
        const fix = `${change}, or set ${name} in the environment`;
        this.diagnostics.push({ severity: "error", ...place(entry), expected, fix });
      }
      return replacement ?? "";
    });
    return complete ? value : undefined;
  }

  #variable(name: string, file: string, open: readonly PropertyEntry[]): string | undefined {
    const fromEnvironment = this.context.environment(name);
    if (fromEnvironment !== undefined) return fromEnvironment;
    const definition = this.#definition(VARIABLE + name, file);
    if (definition === undefined || open.includes(definition)) return undefined;
    return this.replaceVariables(definition, [...open, definition]);
  }

  /** Returns the definition in the file, else in the nearest file that includes it, else the only one. */
  #definition(key: string, file: string | undefined): PropertyEntry | undefined {
    const all = this.#variables.get(key) ?? [];
    if (file === undefined) return all.length === 1 ? all[0] : undefined;
    return all.find((each) => each.file === file) ?? this.#definition(key, this.#includers.get(file));
  }
}

function place({ file, line, key }: PropertyEntry): { file: string; line: number; key: string } {
  return { file, line, key };
}

/** Returns a short reason for an unreadable file. */
export function reason(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such file";
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
    return "no permission to read it";
  }
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder";
  return messageOf(error);
}
