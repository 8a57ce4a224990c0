import { MAIN_FILE, placesOf } from "./configuration_places.ts";

/** Option: with `value` (its placeholder in the usage, such as `FILE`) it takes a text, else it is a flag. */
export interface OptionSpec {
  readonly help: string;
  readonly value?: string;
  readonly default?: string;
  /** Single letter. */
  readonly short?: string;
}

/**
 * Output with `--json`: paths of members with descriptions and units. `bans[].until` is a member of each object in a list,
 * `edge.*` any member; `[]` and `*` may begin a path. A last `?` marks optional members.
 */
export type JsonMembers = Readonly<Record<string, string>>;

/** Command as a table, the source of usage, manual pages and completions. */
export interface CommandSpec {
  /** One word, or several for nested commands, such as `passwd add`. */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs below the options. */
  readonly details?: readonly string[];
  /** Descriptions of command lines, for the manual pages. */
  readonly examples?: Readonly<Record<string, string>>;
  /** In this order, with help texts; required, but for a last one whose name ends in `?`. */
  readonly operands: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Empty for command groups. */
  readonly json: JsonMembers;
  /** Nested commands; excludes operands and options. */
  readonly commands: readonly CommandSpec[];
}

/** Option of every command. */
export const HELP_OPTION: OptionSpec = { help: "Show this text", short: "h" };

/** Options of every command that runs. */
export const COMMON_OPTIONS = {
  config: {
    value: "FILE",
    help: `Main configuration file. If not given: ${placesOf(MAIN_FILE)}`,
  },
  json: { help: "Print one JSON value, as described in the manual" },
  help: HELP_OPTION,
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** Name of a common option. */
export type CommonOption = keyof typeof COMMON_OPTIONS;

/** Returns an operand as in a usage: `<user>`, or `[<user>]` if it is optional. */
export function operandWord(name: string): string {
  return name.endsWith("?") ? `[<${name.slice(0, -1)}>]` : `<${name}>`;
}

/** Returns the commands that run: the command itself, or its nested commands. */
export function leavesOf(spec: CommandSpec): readonly CommandSpec[] {
  return spec.commands.length === 0 ? [spec] : spec.commands.flatMap(leavesOf);
}

/** Returns all commands with their nested commands. */
export function leaves(commands: readonly CommandSpec[]): readonly CommandSpec[] {
  return commands.flatMap((spec) => [spec, ...leaves(spec.commands)]);
}

/** Reports whether an option takes a file. */
export function isFile({ value }: OptionSpec): boolean {
  return value === "FILE" || value === "PATH";
}
