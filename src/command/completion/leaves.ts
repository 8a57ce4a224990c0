import type { CommandSpec, OptionSpec } from "../command_spec.ts";

/** Every command, and every command within one. */
export function leaves(commands: readonly CommandSpec[]): readonly CommandSpec[] {
  return commands.flatMap((spec) => [spec, ...leaves(spec.commands)]);
}

/** Whether an option's value is a file to complete. */
export function isFile({ value }: OptionSpec): boolean {
  return value === "FILE" || value === "PATH";
}
