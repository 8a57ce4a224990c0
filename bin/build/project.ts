import { fileURLToPath } from "node:url";

/** Root folder of the project, absolute, without a slash at the end. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** What the build takes from `deno.json`. */
export interface Project {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /**
   * Command line flags of the runtime: unstable features, settings of the JavaScript engine (which keep the memory small,
   * see docs/installation.md), permissions of the supervisor, no code but the given.
   */
  readonly runtimeFlags: readonly string[];
  /** Those of them that the program runs with also from source: engine settings and permissions. */
  readonly programFlags: readonly string[];
}

/**
 * What the task `start` allows and sets, the executable is allowed and has set.
 * @param root Of the project, or of another version of it.
 * @throws {TypeError} If something is missing there.
 */
export async function readProject(root = ROOT): Promise<Project> {
  const project = object(JSON.parse(await Deno.readTextFile(`${root}/deno.json`)), "deno.json");
  const { start } = object(project.tasks, "tasks");
  const command = text(object(start, "tasks.start").command, "tasks.start.command");
  const programFlags = command.split(" ").filter((word) => /^--(?:v8-flags|allow-[a-z]+)\b/.test(word));
  return {
    name: text(project.name, "name"),
    version: text(project.version, "version"),
    license: text(project.license, "license"),
    runtimeFlags: [
      ...list(project.unstable, "unstable").map((feature) => `--unstable-${feature}`),
      ...programFlags,
      "--deny-import",
      "--no-prompt",
      "--no-remote",
      "--no-npm",
    ],
    programFlags,
  };
}

function object(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new TypeError(`Expected an object as ${name}`);
}

function text(value: unknown, name: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`Expected a text as ${name} of deno.json`);
}

function list(value: unknown, name: string): string[] {
  if (Array.isArray(value) && value.length > 0 && value.every((item) => /^[\w.-]+$/.test(String(item)))) {
    return value.map(String);
  }
  throw new TypeError(`Expected a list of words as ${name} of deno.json`);
}
