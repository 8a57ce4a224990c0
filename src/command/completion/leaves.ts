import type { CommandSpec, OptionSpec } from "../command_spec.ts";

/** Returns all commands with their nested commands. */
export function leaves(commands: readonly CommandSpec[]): readonly CommandSpec[] {
  return commands.flatMap((spec) => [spec, ...leaves(spec.commands)]);
}

/** Reports whether an option takes a file. */
export function isFile({ value }: OptionSpec): boolean {
  return value === "FILE" || value === "PATH";
}
