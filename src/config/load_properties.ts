import { resolve } from "node:path";
import type { Diagnostic } from "../model/diagnostic.ts";
import { decodeProperties, parseProperties, type PropertyEntry } from "./properties.ts";
import { readRegularFile } from "../model/regular_file.ts";

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
  const unusable = new Set<string>();
  for (const entry of loader.entries.values()) {
    if (entry.key.startsWith(VARIABLE)) continue;
    const value = loader.replaceVariables(entry);
    if (value === undefined) unusable.add(entry.key);
    else entries.set(entry.key, { ...entry, value, written: entry.value });
  }
  return { entries, unusable, mainFile, files: loader.files };
}

class PropertyLoader {
  readonly entries = new Map<string, PropertyEntry>();
  readonly files: string[] = [];

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
    let text: string;
    try {
      text = decodeProperties(await readRegularFile(absolute));
    } catch (error) {
      const where = included === undefined ? { file } : { ...place(included), found: file };
      const expected = `cannot read ${absolute}: ${reason(error)}`;
      this.diagnostics.push({ severity: "error", ...where, expected });
      return;
    }
    const parsed = parseProperties(text, file);
    this.diagnostics.push(...parsed.diagnostics);
    const includes: PropertyEntry[] = [];
    for (const entry of parsed.entries) {
      if (entry.key.startsWith(INCLUDE)) includes.push(entry);
      else this.#add(entry);
    }
    for (const entry of includes) {
      const value = this.replaceVariables(entry)?.trim();
      if (value !== undefined) await this.read(value, [...chain, absolute], entry);
    }
  }

  #add(entry: PropertyEntry): void {
    const earlier = this.entries.get(entry.key);
    if (earlier === undefined) {
      this.entries.set(entry.key, entry);
      return;
    }
    const expected = `expected each key in one file only, it is also set in ${earlier.file}:${earlier.line}`;
    this.diagnostics.push({ severity: "error", ...place(entry), expected });
  }

  /** Returns `undefined` with a diagnostic for an unknown variable. */
  replaceVariables(entry: PropertyEntry, open: readonly string[] = []): string | undefined {
    let complete = true;
    const value = entry.value.replace(/\$\{([^{}]+)\}/g, (_, name: string) => {
      const replacement = this.#variable(name, open);
      if (replacement === undefined) {
        complete = false;
        const expected =
          `expected the variable ${name} to be defined, in the environment or as ${VARIABLE}${name}`;
        this.diagnostics.push({ severity: "error", ...place(entry), expected });
      }
      return replacement ?? "";
    });
    return complete ? value : undefined;
  }

  #variable(name: string, open: readonly string[]): string | undefined {
    const fromEnvironment = this.context.environment(name);
    if (fromEnvironment !== undefined) return fromEnvironment;
    const definition = this.entries.get(VARIABLE + name);
    if (definition === undefined || open.includes(name)) return undefined;
    return this.replaceVariables(definition, [...open, name]);
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
  return error instanceof Error ? error.message : String(error);
}
