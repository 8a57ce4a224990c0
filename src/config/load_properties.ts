import { resolve } from "node:path";
import type { Problem } from "../model/problem.ts";
import { decodeProperties, parseProperties, type PropertyEntry } from "./properties.ts";
import { readRegularFile } from "../model/regular_file.ts";

/** An entry whose variables were replaced. */
export interface ResolvedEntry extends PropertyEntry {
  /** Value before that. */
  readonly written: string;
}

/** All entries of a main file and the files it includes, with variables replaced. */
export interface Properties {
  readonly entries: ReadonlyMap<string, ResolvedEntry>;
  /** Keys whose value could not be made out; there is a problem for each. */
  readonly unusable: ReadonlySet<string>;
  /** As given. */
  readonly mainFile: string;
  /** Absolute paths: the main file first, then the included ones. */
  readonly files: readonly string[];
}

/** Where variables and relative paths come from. */
export interface PropertiesContext {
  /** Value of an environment variable. */
  readonly environment: (name: string) => string | undefined;
  /** Absolute path of the folder that relative paths start from. */
  readonly workingDirectory: string;
}

const INCLUDE = "$include.";
const VARIABLE = "$var.";

/**
 * Reads a property file with its `$include.<any>=<file>` lines and replaces `${NAME}` in every value: by the environment,
 * else by a `$var.NAME=…` line (rest-api.md 3.1). Problems are added to the list.
 */
export async function loadProperties(
  mainFile: string,
  { environment, workingDirectory }: PropertiesContext,
  problems: Problem[],
): Promise<Properties> {
  const entries = new Map<string, PropertyEntry>();
  const files: string[] = [];

  async function read(file: string, chain: readonly string[], included?: PropertyEntry): Promise<void> {
    const absolute = resolve(workingDirectory, file);
    if (included !== undefined && files.includes(absolute)) {
      const expected = chain.includes(absolute)
        ? `expected a file that does not include itself: ${[...chain, absolute].join(" > ")}`
        : `expected each file to be included once: ${absolute}`;
      problems.push({ severity: "error", ...place(included), found: file, expected });
      return;
    }
    files.push(absolute);
    let text: string;
    try {
      text = decodeProperties(await readRegularFile(absolute));
    } catch (error) {
      const where = included === undefined ? { file } : { ...place(included), found: file };
      problems.push({ severity: "error", ...where, expected: `cannot read ${absolute}: ${reason(error)}` });
      return;
    }
    const parsed = parseProperties(text, file);
    problems.push(...parsed.problems);
    const includes: PropertyEntry[] = [];
    for (const entry of parsed.entries) {
      if (entry.key.startsWith(INCLUDE)) includes.push(entry);
      else add(entry);
    }
    for (const entry of includes) {
      const value = replaceVariables(entry)?.trim();
      if (value !== undefined) await read(value, [...chain, absolute], entry);
    }
  }

  function add(entry: PropertyEntry): void {
    const earlier = entries.get(entry.key);
    if (earlier === undefined) {
      entries.set(entry.key, entry);
      return;
    }
    const expected = `expected each key in one file only, it is also set in ${earlier.file}:${earlier.line}`;
    problems.push({ severity: "error", ...place(entry), expected });
  }

  /** `undefined`, and a problem, if a variable is not defined. */
  function replaceVariables(entry: PropertyEntry, open: readonly string[] = []): string | undefined {
    let complete = true;
    const value = entry.value.replace(/\$\{([^{}]+)\}/g, (_, name: string) => {
      const replacement = variable(name, open);
      if (replacement === undefined) {
        complete = false;
        problems.push({
          severity: "error",
          ...place(entry),
          expected:
            `expected the variable ${name} to be defined, in the environment or as ${VARIABLE}${name}`,
        });
      }
      return replacement ?? "";
    });
    return complete ? value : undefined;
  }

  function variable(name: string, open: readonly string[]): string | undefined {
    const fromEnvironment = environment(name);
    if (fromEnvironment !== undefined) return fromEnvironment;
    const definition = entries.get(VARIABLE + name);
    if (definition === undefined || open.includes(name)) return undefined;
    return replaceVariables(definition, [...open, name]);
  }

  await read(mainFile, []);
  const result = new Map<string, ResolvedEntry>();
  const unusable = new Set<string>();
  for (const entry of entries.values()) {
    if (entry.key.startsWith(VARIABLE)) continue;
    const value = replaceVariables(entry);
    if (value === undefined) unusable.add(entry.key);
    else result.set(entry.key, { ...entry, value, written: entry.value });
  }
  return { entries: result, unusable, mainFile, files };
}

function place({ file, line, key }: PropertyEntry): { file: string; line: number; key: string } {
  return { file, line, key };
}

/** Why a file could not be read, in a few words. */
export function reason(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such file";
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
    return "no permission to read it";
  }
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder";
  return error instanceof Error ? error.message : String(error);
}
