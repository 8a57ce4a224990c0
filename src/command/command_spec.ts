import { MAIN_FILE, placesOf } from "./configuration_places.ts";

/** An option: with `value` (what stands for it in the usage, such as `FILE`) it takes a text, else it is a flag. */
export interface OptionSpec {
  readonly help: string;
  readonly value?: string;
  readonly default?: string;
  /** One letter that stands for it. */
  readonly short?: string;
}

/**
 * What a command prints with `--json`: paths of members -> what they are, with units. `bans[].until` is a member of each
 * object in a list, `edge.*` any member; `[]` and `*` may begin a path. One that ends in `?` is not always there.
 */
export type JsonMembers = Readonly<Record<string, string>>;

/** A command as a table: its usage is made from it, as are manual pages and completions. */
export interface CommandSpec {
  /** One word, or for one of several commands in one such as `passwd add` all of them. */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs below the options. */
  readonly details?: readonly string[];
  /** Lines as they are typed -> what they do; for the manual pages. */
  readonly examples?: Readonly<Record<string, string>>;
  /** Required, in this order: name -> help. */
  readonly operands: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Empty for one of several commands. */
  readonly json: JsonMembers;
  /** Commands within this one; it then has neither operands nor options of its own. */
  readonly commands: readonly CommandSpec[];
}

/** Every command has it. */
export const HELP_OPTION: OptionSpec = { help: "Show this text", short: "h" };

/** Every command that is run has these, whatever options it has besides. */
export const COMMON_OPTIONS = {
  config: {
    value: "FILE",
    help: `Main configuration file. If not given: ${placesOf(MAIN_FILE)}`,
  },
  json: { help: "Print one JSON value, as described in the manual" },
  help: HELP_OPTION,
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** Names of the options that every command has. */
export type CommonOption = keyof typeof COMMON_OPTIONS;

/** The commands that can be run: a command itself, or those within it. */
export function leavesOf(spec: CommandSpec): readonly CommandSpec[] {
  return spec.commands.length === 0 ? [spec] : spec.commands.flatMap(leavesOf);
}

/** Every command, and every command within one. */
export function leaves(commands: readonly CommandSpec[]): readonly CommandSpec[] {
  return commands.flatMap((spec) => [spec, ...leaves(spec.commands)]);
}

/** Whether an option's value is a file to complete. */
export function isFile({ value }: OptionSpec): boolean {
  return value === "FILE" || value === "PATH";
}
