import { FileNotChanged } from "../model/edit_file.ts";
import { InvalidFile } from "../model/diagnostic.ts";
import { type Given, readArguments, suggestion, WrongUsage } from "./arguments.ts";
import {
  type CommandSpec,
  COMMON_OPTIONS,
  type CommonOption,
  HELP_OPTION,
  type JsonMembers,
  type OptionSpec,
} from "./command_spec.ts";
import { textTable } from "./text_table.ts";

/** What a command may do with the world around it; handed in, so that a test needs no terminal. */
export interface CommandIo {
  /** Writes results, as they are. */
  stdout(text: string): void;
  /** Writes messages, as they are. */
  stderr(text: string): void;
  /** All of standard input, as UTF-8. */
  readInput(): Promise<string>;
  /**
   * Asks for a text that is not shown while it is typed.
   * @returns `undefined` if there is no terminal to ask at.
   * @throws {CommandFailed} If the question is broken off.
   */
  askSecret(question: string): Promise<string | undefined>;
}

/** A command that can be run, with what its table says of it. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Text for `--help`. */
  readonly usage: string;
  readonly spec: CommandSpec;
  /**
   * @param args What follows the command's name.
   * @returns Exit status: 0 fine, 2 wrong usage, anything else a problem.
   */
  run(args: readonly string[], io: CommandIo): Promise<number>;
}

/** The command could not do what it was asked to, for a reason that its user understands: exit status 1, or another. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly status: number;

  constructor(message: string, { status = 1, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = status;
  }
}

/** Tells what the operator should know about a file that was changed. */
export function printRemarks(io: CommandIo, file: string, remarks: readonly string[]): void {
  for (const remark of remarks) io.stderr(`Note on ${file}: ${remark}\n`);
}

/** Says what came out: as text, or where `--json` was given as that. @param value What JSON can hold. */
export function tell(
  given: Pick<Given<"json", never>, "flag">,
  io: CommandIo,
  { value, text }: { readonly value: unknown; readonly text: string },
): void {
  io.stdout(given.flag("json") ? `${JSON.stringify(value, undefined, 2)}\n` : text);
}

/** What every command says of itself. */
type Described = Pick<CommandSpec, "name" | "summary" | "details" | "examples">;

/** Makes a command of its table and what it does. What it says, it says with {@link tell}. */
export function defineCommand<Option extends string, Operand extends string>(
  { options, ...described }: Described & {
    readonly operands: Readonly<Record<Operand, string>>;
    /** Besides {@link COMMON_OPTIONS}; one of these may say more of itself. */
    readonly options: Readonly<Record<Option, OptionSpec>>;
    readonly json: JsonMembers;
  },
  act: (given: Given<Option | CommonOption, Operand>, io: CommandIo) => Promise<number>,
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

/** Makes one command of several, told apart by the first argument. */
export function defineCommands(
  { commands, ...described }: Described & {
    /** Their names begin with `name` and a blank. */
    readonly commands: readonly Command[];
  },
): Command {
  const { name } = described;
  const specs = commands.map((command) => command.spec);
  const spec = { ...described, operands: {}, options: { help: HELP_OPTION }, json: {}, commands: specs };
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

/** Whether a word in the place of a command asks for help. */
export function asksForHelp(word: string): boolean {
  return word === "help" || word === "--help" || word === "-h";
}

/**
 * The command that a word means.
 * @param outer Name of the command that all of them are in; absent: none.
 * @throws {WrongUsage} With the one that was meant, if one is near enough.
 */
export function commandNamed(word: string, commands: readonly Command[], outer?: string): Command {
  const found = commands.find((command) => wordOf(command, outer) === word);
  if (found !== undefined) return found;
  const meant = suggestion(word, commands.map((command) => wordOf(command, outer)));
  const all = outer === undefined ? "" : `, expected one of ${namesOf(commands, outer)}`;
  throw new WrongUsage(`Unknown command ${JSON.stringify(word)}${meant === "" ? all : meant}`);
}

/** What is typed for a command that is in another one, or in none. */
function wordOf({ name }: Command, outer?: string): string {
  return outer === undefined ? name : name.slice(outer.length + 1);
}

function namesOf(commands: readonly Command[], outer: string): string {
  return commands.map((command) => wordOf(command, outer)).join(", ");
}

/** Turns what a command throws for its user into messages and exit status. @param failed Told of the message, too. */
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

/** The text for `--help`, from the table. */
function formatUsage(
  { name, summary, details = [], operands, options, commands }: CommandSpec,
): string {
  const words = Object.keys(operands).map((operand) => ` <${operand}>`).join("");
  const line = commands.length > 0 ? `${name} <command> …` : `${name} [options]${words}`;
  const sections = [
    `Usage: authserver ${line}\n\n${summary}\n`,
    formatTable("Commands", commands.map((command) => [command.name, command.summary])),
    formatTable("Arguments", Object.entries(operands).map(([operand, help]) => [`<${operand}>`, help])),
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
