import type { CommandSpec, OptionSpec } from "../../src/command/command.ts";
import { EXAMPLES } from "./command_examples.ts";
import { type JsonMembers, OUTPUT } from "./command_output.ts";

/** Command with what only the manual says of it. */
export interface DocumentedCommand extends CommandSpec {
  readonly examples?: Readonly<Record<string, string>>;
  readonly json: JsonMembers; // empty for groups
  readonly commands: readonly DocumentedCommand[];
}

/** Adds examples and output. @throws {TypeError} For a command whose output is not documented. */
export function documented(spec: CommandSpec): DocumentedCommand {
  const json = spec.commands.length > 0 ? {} : OUTPUT[spec.name];
  if (json === undefined) throw new TypeError(`the output of ${spec.name} is not documented`);
  return { ...spec, examples: EXAMPLES[spec.name], json, commands: spec.commands.map(documented) };
}

/** Returns the commands that run: the command itself, or its nested commands. */
export function leavesOf<T extends { readonly commands: readonly T[] }>(spec: T): readonly T[] {
  return spec.commands.length === 0 ? [spec] : spec.commands.flatMap((inner) => leavesOf(inner));
}

/** Returns all commands with their nested commands. */
export function withNested(commands: readonly CommandSpec[]): readonly CommandSpec[] {
  return commands.flatMap((spec) => [spec, ...withNested(spec.commands)]);
}

/** Reports whether an option takes a file. */
export function isFile({ value }: OptionSpec): boolean {
  return value === "FILE" || value === "PATH";
}
