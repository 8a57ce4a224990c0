import { MAIN_FILE, placesOf } from "./configuration_places.ts";

/** Option: with `value` (its placeholder in the usage, such as `FILE`) it takes a text, else it is a flag. */
export interface OptionSpec {
  readonly help: string;
  readonly value?: string;
  readonly default?: string;
  /** Single letter. */
  readonly short?: string;
}

/** Command as a table, the source of usage, manual pages and completions; `bin/docs/` adds examples and output. */
export interface CommandSpec {
  /** One word, or several for nested commands, such as `passwd add`. */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs below the options. */
  readonly details?: readonly string[];
  /** In this order, with help texts; required, but for a last one whose name ends in `?`. */
  readonly operands: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, OptionSpec>>;
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
