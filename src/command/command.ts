import { OperatorError } from "../model/diagnostic.ts";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { suggestion } from "../config/did_you_mean.ts";
import { counted, printable } from "../model/text.ts";

/** Name of the main configuration file. */
export const MAIN_FILE = "container.properties";

/** Folders of the configuration, in search order. */
export const FOLDERS = ["conf", "/etc/authserver"] as const;

/** Returns the search path of a configuration file for the help. */
export function searchPath(name: string): string {
  return FOLDERS.map((folder) => join(folder, name)).join(", or else ");
}

/** Environment of a command, injected for tests. */
export interface CommandIo {
  stdout(text: string): void;
  stderr(text: string): void;
  readInput(): Promise<string>;
  /** Reads a text without echo. @returns `undefined` without a terminal. @throws {CommandFailed} If the user cancels. */
  askSecret(question: string): Promise<string | undefined>;
}

export interface Command {
  readonly usage: string;
  readonly spec: CommandSpec;
  /** @param args Words after the command's name. @returns Exit status: 0 success, 2 wrong usage, else failure. */
  run(args: readonly string[], io: CommandIo): Promise<number>;
}

/** Error with a message for the user: exit status 1, or another. */
export class CommandFailed extends OperatorError {
  readonly status: number;

  constructor(message: string, { status = 1, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = status;
  }
}

/** Names the path of a failed access. @throws {CommandFailed} */
export function failedAt(path: string, error: unknown): never {
  if (!(error instanceof Error) || error instanceof CommandFailed) throw error;
  throw new CommandFailed(`${path}: ${error.message}`, { cause: error });
}

/** Prints a result as text, or with `--json` as JSON. */
export function printResult(
  given: Pick<Given<"json", never>, "flag">,
  io: CommandIo,
  { value, text }: Result,
): void {
  io.stdout(given.flag("json") ? `${JSON.stringify(value, undefined, 2)}\n` : text);
}

type Described = Pick<CommandSpec, "name" | "summary" | "details">;

/** Result of a command, printed as text, or with `--json` as JSON. */
interface Result {
  readonly value: unknown;
  readonly text: string;
  readonly status?: number; // default: 0
}

/** Creates a command from its table and its action. @param act Returns the result, or the exit status after {@link printResult}. */
export function defineCommand<Option extends string, Operand extends string>(
  { options, ...described }: Described & {
    readonly operands: Readonly<Record<Operand, string>>;
    /** In addition to {@link COMMON_OPTIONS}; may refine them. */
    readonly options: Readonly<Record<Option, OptionSpec>>;
  },
  act: (
    given: Given<Option | keyof typeof COMMON_OPTIONS, Operand>,
    io: CommandIo,
  ) => number | Result | Promise<number | Result>,
): Command {
  const spec = { ...described, options: { ...options, ...COMMON_OPTIONS, ...options }, commands: [] };
  return commandOf(spec, async (args, io, usage) => {
    let failed = (_message: string) => {};
    return await reportingErrors(spec, io, async () => {
      const given = readArguments(spec, args);
      if (given === "help") return showHelp(usage, io);
      failed = (error) => printResult(given, io, { value: { error }, text: "" });
      const done = await act(given, io);
      if (typeof done === "number") return done;
      printResult(given, io, done);
      return done.status ?? 0;
    }, (message) => failed(message));
  });
}

/** Groups commands by a first argument. */
export function defineCommands(
  { commands, ...described }: Described & {
    readonly commands: readonly Command[]; // nested commands, whose names begin with `name` and a blank
  },
): Command {
  const { name } = described;
  const specs = commands.map((command) => command.spec);
  const spec = { ...described, operands: {}, options: { help: HELP_OPTION }, commands: specs };
  return commandOf(spec, (args, io, usage) =>
    reportingErrors(spec, io, async () => {
      const [word, ...rest] = args;
      if (word === undefined) throw new WrongUsage(`Expected a command, one of ${namesOf(commands, name)}`);
      if (asksForHelp(word)) {
        const about = rest.length === 0 ? undefined : commandNamed(rest[0] ?? "", commands, name);
        return showHelp(about?.usage ?? usage, io);
      }
      return await commandNamed(word, commands, name).run(rest, io);
    }));
}

function commandOf(
  spec: CommandSpec,
  run: (args: readonly string[], io: CommandIo, usage: string) => Promise<number>,
): Command {
  const usage = formatUsage(spec);
  return { usage, spec, run: (args, io) => run(args, io, usage) };
}

/** Reports whether a word in place of a command requests help. */
export function asksForHelp(word: string): boolean {
  return word === "help" || word === "--help" || word === "-h";
}

/** Returns the command with this word. @param outer Name of the enclosing command. @throws {WrongUsage} With a suggestion. */
export function commandNamed(word: string, commands: readonly Command[], outer?: string): Command {
  const found = commands.find((command) => wordOf(command, outer) === word);
  if (found !== undefined) return found;
  const meant = suggestion(word, commands.map((command) => wordOf(command, outer)));
  const all = outer === undefined ? "" : `, expected one of ${namesOf(commands, outer)}`;
  throw new WrongUsage(`Unknown command ${JSON.stringify(word)}${meant === "" ? all : meant}`);
}

function wordOf({ spec: { name } }: Command, outer?: string): string {
  return outer === undefined ? name : name.slice(outer.length + 1);
}

function namesOf(commands: readonly Command[], outer: string): string {
  return commands.map((command) => wordOf(command, outer)).join(", ");
}

/** Runs a command and prints its error for the user. @returns Exit status. */
async function reportingErrors(
  { name }: CommandSpec,
  io: CommandIo,
  run: () => Promise<number>,
  failed: (message: string) => void = () => {},
): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof WrongUsage) {
      failed(error.message);
      io.stderr(`authserver ${name}: ${error.message}\nSee authserver ${name} --help\n`);
      return 2;
    }
    if (!(error instanceof OperatorError)) throw error;
    failed(error.message);
    io.stderr(`authserver ${name}: ${error.message}\n`);
    return error instanceof CommandFailed ? error.status : 1;
  }
}

function showHelp(usage: string, io: CommandIo): number {
  io.stdout(usage);
  return 0;
}

/** Returns the text of `--help`. */
export function formatUsage(
  { name, summary, details = [], operands, options, commands }: CommandSpec,
): string {
  const words = Object.keys(operands).map((operand) => ` ${operandWord(operand)}`).join("");
  const line = commands.length > 0 ? `${name} <command> …` : `${name} [options]${words}`;
  const sections = [
    `Usage: authserver ${line}\n\n${summary}\n`,
    formatTable("Commands", commands.map((command) => [command.name, command.summary])),
    formatTable("Arguments", Object.entries(operands).map(([operand, help]) => [operandWord(operand), help])),
    formatTable("Options", Object.entries(options).map(formatOption)),
    ...details.map((paragraph) => `${paragraph}\n`),
  ];
  return sections.filter((section) => section !== "").join("\n");
}

function formatOption([name, spec]: [string, OptionSpec]): [string, string] {
  const help = spec.default === undefined ? spec.help : `${spec.help} (default: ${spec.default})`;
  const long = spec.value === undefined ? `--${name}` : `--${name} ${spec.value}`;
  return [spec.short === undefined ? long : `-${spec.short}, ${long}`, help];
}

function formatTable(title: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return "";
  return `${title}:\n${textTable(rows, { indent: 2 })}`;
}

/** Option: with `value` (its placeholder in the usage, such as `FILE`) it takes a text, else it is a flag. */
export interface OptionSpec {
  readonly help: string;
  readonly value?: string;
  readonly default?: string;
  readonly short?: string;
}

/** Command as a table, the source of usage, manual pages and completions; `bin/docs/` adds examples and output. */
export interface CommandSpec {
  readonly name: string; // one word, or several for nested commands, such as `passwd add`
  readonly summary: string;
  readonly details?: readonly string[];
  /** Operands in this order, with help texts; all required except a last one whose name ends in `?`. */
  readonly operands: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly commands: readonly CommandSpec[]; // nested commands; excludes operands and options
}

const HELP_OPTION: OptionSpec = { help: "Show this text", short: "h" };

const COMMON_OPTIONS = {
  config: { value: "FILE", help: `Main configuration file. If not given: ${searchPath(MAIN_FILE)}` },
  json: { help: "Print one JSON value, as described in the manual" },
  help: HELP_OPTION,
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** Returns an operand as in a usage: `<user>`, or `[<user>]` if it is optional. */
export function operandWord(name: string): string {
  return name.endsWith("?") ? `[<${name.slice(0, -1)}>]` : `<${name}>`;
}

/** Error for invalid arguments: exit status 2, with the usage. */
export class WrongUsage extends Error {}

/** Parsed arguments, by the names in the command's table. */
export interface Given<Option extends string, Operand extends string> {
  flag(name: Option): boolean;
  text(name: Option): string | undefined;
  operand(name: Operand): string; // returns the operand; empty if it is optional and not given
}

/** Parses the words after a command's name. @throws {WrongUsage} */
export function readArguments(spec: CommandSpec, args: readonly string[]): "help" | Given<string, string> {
  const { values, positionals } = parse(spec, args);
  if (values.help === true) return "help";
  const names = Object.keys(spec.operands);
  const required = names.filter((name) => !name.endsWith("?")).length;
  if (positionals.length < required || positionals.length > names.length) {
    const expected = names.length === 0 ? "no arguments" : names.map(operandWord).join(" ");
    const found = counted(positionals.length, "argument", "arguments");
    throw new WrongUsage(`Expected ${expected} besides options, found ${found}`);
  }
  return {
    flag: (name) => values[name] === true,
    text(name) {
      const value = values[name];
      return typeof value === "string" ? value : spec.options[name]?.default;
    },
    operand(name) {
      const operand = positionals[names.indexOf(name)] ?? (name.endsWith("?") ? "" : undefined);
      if (operand === undefined) throw new TypeError(`the command has no operand ${name}`);
      return operand;
    },
  };
}

/** Option of commands that {@link readSecret}. */
export const STDIN = { help: "Read the password from the first line of standard input instead of a prompt" };

/** Reads a password from a prompt, or with `--stdin` from the input. @throws {WrongUsage} If there is no terminal. */
export async function readSecret(
  given: Pick<Given<"stdin", never>, "flag">,
  io: CommandIo,
  question: string,
): Promise<string> {
  const secret = given.flag("stdin")
    ? (await io.readInput()).split("\n", 1)[0]?.replace(/\r$/, "")
    : await io.askSecret(question);
  if (secret === undefined) throw new WrongUsage("No terminal to prompt for the password, expected --stdin");
  return secret;
}

function parse({ options }: CommandSpec, args: readonly string[]) {
  const known = Object.entries(options).map(([name, { value, short }]) =>
    [
      name,
      { type: value === undefined ? "boolean" : "string", ...(short !== undefined && { short }) },
    ] as const
  );
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: Object.fromEntries(known),
      allowPositionals: true,
      strict: true,
      tokens: true,
    });
    const given = tokens.flatMap((token) => token.kind === "option" ? [token.name] : []);
    const twice = given.find((name, i) => given.indexOf(name) !== i);
    if (twice !== undefined) throw new WrongUsage(`Option --${twice} is given twice`);
    return { values, positionals };
  } catch (error) {
    if (!(error instanceof TypeError && "code" in error)) throw error;
    const unknown = error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" &&
      args.flatMap((word) => /^--([^=]+)/s.exec(word)?.[1] ?? []).find((name) =>
        !Object.hasOwn(options, name)
      );
    if (!unknown) throw new WrongUsage(error.message, { cause: error });
    const meant = suggestion(unknown, Object.keys(options), "--");
    throw new WrongUsage(`Unknown option --${unknown}${meant}`, { cause: error });
  }
}

/**
 * Formats rows in columns, two blanks apart.
 * @param options.indent Leading blanks. @param options.widest Wider cells do not widen their column.
 * @param options.widths Minimum widths, updated in place: for a table in several parts.
 */
export function textTable(
  rows: readonly (readonly string[])[],
  { indent = 0, widest = Infinity, widths = [] }: {
    readonly indent?: number;
    readonly widest?: number;
    readonly widths?: number[];
  } = {},
): string {
  const shown = rows.map((row) => row.map(printable));
  for (const row of shown) {
    for (const [i, cell] of row.entries()) {
      widths[i] = Math.max(widths[i] ?? 0, Math.min(cell.length, widest));
    }
  }
  return shown.map((row) => {
    const line = row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ");
    return `${" ".repeat(indent)}${line.trimEnd()}\n`;
  }).join("");
}
