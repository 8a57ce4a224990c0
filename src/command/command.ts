import { FileNotChanged } from "../model/edit_file.ts";
import { InvalidFile } from "../model/diagnostic.ts";
import { type Given, readArguments, WrongUsage } from "./arguments.ts";
import { suggestion } from "../config/did_you_mean.ts";
import {
  type CommandSpec,
  COMMON_OPTIONS,
  type CommonOption,
  HELP_OPTION,
  operandWord,
  type OptionSpec,
} from "./command_spec.ts";
import { textTable } from "./text_table.ts";

/** Environment of a command, injected for tests. */
export interface CommandIo {
  /** Writes results unchanged. */
  stdout(text: string): void;
  /** Writes messages unchanged. */
  stderr(text: string): void;
  /** Reads all of standard input as UTF-8. */
  readInput(): Promise<string>;
  /** Reads a text without echo. @returns `undefined` without a terminal. @throws {CommandFailed} If the user cancels. */
  askSecret(question: string): Promise<string | undefined>;
}

/** Command that can be run. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Text for `--help`. */
  readonly usage: string;
  readonly spec: CommandSpec;
  /** @param args Words behind the command's name. @returns Exit status: 0 success, 2 wrong usage, else failure. */
  run(args: readonly string[], io: CommandIo): Promise<number>;
}

/** Error with a message for the user: exit status 1, or another. */
export class CommandFailed extends Error {
  readonly status: number;

  constructor(message: string, { status = 1, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = status;
  }
}

/** Prints remarks about a changed file. */
export function printRemarks(io: CommandIo, file: string, remarks: readonly string[]): void {
  for (const remark of remarks) io.stderr(`Note on ${file}: ${remark}\n`);
}

/** Prints a result as text, or with `--json` as JSON. */
export function tell(
  given: Pick<Given<"json", never>, "flag">,
  io: CommandIo,
  { value, text }: { readonly value: unknown; readonly text: string },
): void {
  io.stdout(given.flag("json") ? `${JSON.stringify(value, undefined, 2)}\n` : text);
}

type Described = Pick<CommandSpec, "name" | "summary" | "details">;

/** Creates a command from its table and its action, which prints with {@link tell}. */
export function defineCommand<Option extends string, Operand extends string>(
  { options, ...described }: Described & {
    readonly operands: Readonly<Record<Operand, string>>;
    /** In addition to {@link COMMON_OPTIONS}; may refine them. */
    readonly options: Readonly<Record<Option, OptionSpec>>;
  },
  act: (given: Given<Option | CommonOption, Operand>, io: CommandIo) => number | Promise<number>,
): Command {
  const spec = { ...described, options: { ...options, ...COMMON_OPTIONS, ...options }, commands: [] };
  return commandOf(spec, async (args, io, usage) => {
    let failed = (_message: string) => {};
    return await explain(spec, io, async () => {
      const given = readArguments(spec, args);
      if (given === "help") return showHelp(usage, io);
      failed = (error) => tell(given, io, { value: { error }, text: "" });
      return await act(given, io);
    }, (message) => failed(message));
  });
}

/** Groups commands behind a first argument. */
export function defineCommands(
  { commands, ...described }: Described & {
    /** Their names begin with `name` and a blank. */
    readonly commands: readonly Command[];
  },
): Command {
  const { name } = described;
  const specs = commands.map((command) => command.spec);
  const spec = { ...described, operands: {}, options: { help: HELP_OPTION }, commands: specs };
  return commandOf(spec, (args, io, usage) =>
    explain(spec, io, async () => {
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
  const { name, summary } = spec;
  const usage = formatUsage(spec);
  return { name, summary, usage, spec, run: (args, io) => run(args, io, usage) };
}

/** Reports whether a word in the place of a command asks for help. */
export function asksForHelp(word: string): boolean {
  return word === "help" || word === "--help" || word === "-h";
}

/** Returns the command of a word. @param outer Name of the enclosing command. @throws {WrongUsage} With a suggestion. */
export function commandNamed(word: string, commands: readonly Command[], outer?: string): Command {
  const found = commands.find((command) => wordOf(command, outer) === word);
  if (found !== undefined) return found;
  const meant = suggestion(word, commands.map((command) => wordOf(command, outer)));
  const all = outer === undefined ? "" : `, expected one of ${namesOf(commands, outer)}`;
  throw new WrongUsage(`Unknown command ${JSON.stringify(word)}${meant === "" ? all : meant}`);
}

function wordOf({ name }: Command, outer?: string): string {
  return outer === undefined ? name : name.slice(outer.length + 1);
}

function namesOf(commands: readonly Command[], outer: string): string {
  return commands.map((command) => wordOf(command, outer)).join(", ");
}

async function explain(
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
    const isForUser = [CommandFailed, InvalidFile, FileNotChanged].some((kind) => error instanceof kind);
    if (!(error instanceof Error && isForUser)) throw error;
    failed(error.message);
    io.stderr(`authserver ${name}: ${error.message}\n`);
    return error instanceof CommandFailed ? error.status : 1;
  }
}

function showHelp(usage: string, io: CommandIo): number {
  io.stdout(usage);
  return 0;
}

function formatUsage(
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
