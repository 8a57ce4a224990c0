import { parseArgs } from "node:util";
import { didYouMean } from "../config/did_you_mean.ts";
import { FileNotChanged } from "../model/edit_file.ts";
import { textTable } from "./text_table.ts";
import { InvalidFile } from "../model/problem.ts";

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

/** An option: with `value` (what stands for it in the usage, such as `FILE`) it takes a text, else it is a flag. */
export interface OptionSpec {
  readonly help: string;
  readonly value?: string;
  readonly default?: string;
  /** One letter that stands for it. */
  readonly short?: string;
}

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
  /** Commands within this one; it then has neither operands nor options of its own. */
  readonly commands: readonly CommandSpec[];
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

/** The command was called as it cannot be called: exit status 2, with the usage. */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
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

/** What was given to a command, by the names in its table. */
export interface Given<Option extends string, Operand extends string> {
  flag(name: Option): boolean;
  /** The option's text, or its default. */
  text(name: Option): string | undefined;
  operand(name: Operand): string;
}

const HELP: OptionSpec = { help: "Show this text", short: "h" };

/** Makes a command of its table and what it does. */
export function defineCommand<Option extends string, Operand extends string>(
  { name, summary, details, examples, operands, options }: {
    readonly name: string;
    readonly summary: string;
    readonly details?: readonly string[];
    readonly examples?: CommandSpec["examples"];
    readonly operands: Readonly<Record<Operand, string>>;
    readonly options: Readonly<Record<Option, OptionSpec>>;
  },
  act: (given: Given<Option, Operand>, io: CommandIo) => Promise<number>,
): Command {
  const spec: CommandSpec = {
    name,
    summary,
    details,
    examples,
    operands,
    options: { ...options, help: HELP },
    commands: [],
  };
  const usage = formatUsage(spec);
  return {
    name,
    summary,
    usage,
    spec,
    run: (args, io) =>
      explain(spec, io, async () => {
        const given = readArguments(spec, args);
        if (given === "help") return showHelp(usage, io);
        return await act(given, io);
      }),
  };
}

/** Makes one command of several, told apart by the first argument. */
export function defineCommands(
  { name, summary, details, examples, commands }: {
    readonly name: string;
    readonly summary: string;
    readonly details?: readonly string[];
    readonly examples?: CommandSpec["examples"];
    /** Their names begin with `name` and a blank. */
    readonly commands: readonly Command[];
  },
): Command {
  const specs = commands.map((command) => command.spec);
  const spec: CommandSpec = {
    name,
    summary,
    details,
    examples,
    operands: {},
    options: { help: HELP },
    commands: specs,
  };
  const usage = formatUsage(spec);
  return {
    name,
    summary,
    usage,
    spec,
    run: (args, io) =>
      explain(spec, io, async () => {
        const [word, ...rest] = args;
        if (word === undefined) throw new WrongUsage("Expected a command");
        if (asksForHelp(word)) {
          const about = rest.length === 0 ? undefined : commandNamed(rest[0] ?? "", commands, name);
          return showHelp(about?.usage ?? usage, io);
        }
        return await commandNamed(word, commands, name).run(rest, io);
      }),
  };
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
  const wordOf = ({ name }: Command) => outer === undefined ? name : name.slice(outer.length + 1);
  const found = commands.find((command) => wordOf(command) === word);
  if (found !== undefined) return found;
  throw new WrongUsage(`Unknown command ${JSON.stringify(word)}${suggestion(word, commands.map(wordOf))}`);
}

function suggestion(typed: string, words: readonly string[], before = ""): string {
  const meant = didYouMean(typed, words);
  return meant === undefined ? "" : `, did you mean ${before}${meant}?`;
}

/** Turns what a command throws for its user into messages and exit status. */
async function explain({ name }: CommandSpec, io: CommandIo, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof WrongUsage) {
      io.stderr(`authserver ${name}: ${error.message}\nSee authserver ${name} --help\n`);
      return 2;
    }
    const isForUser = [CommandFailed, InvalidFile, FileNotChanged].some((kind) => error instanceof kind);
    if (!(error instanceof Error && isForUser)) throw error;
    io.stderr(`authserver ${name}: ${error.message}\n`);
    return error instanceof CommandFailed ? error.status : 1;
  }
}

function showHelp(usage: string, io: CommandIo): number {
  io.stdout(usage);
  return 0;
}

function readArguments(spec: CommandSpec, args: readonly string[]): "help" | Given<string, string> {
  const { values, positionals } = parse(spec, args);
  if (values.help === true) return "help";
  const names = Object.keys(spec.operands);
  if (positionals.length !== names.length) {
    const expected = names.length === 0 ? "no arguments" : names.map((name) => `<${name}>`).join(" ");
    throw new WrongUsage(`Expected ${expected} besides options, found ${positionals.length} arguments`);
  }
  return {
    flag: (name) => values[name] === true,
    text(name) {
      const value = values[name];
      return typeof value === "string" ? value : spec.options[name]?.default;
    },
    operand(name) {
      const operand = positionals[names.indexOf(name)];
      if (operand === undefined) throw new TypeError(`The command has no operand ${name}`);
      return operand;
    },
  };
}

/** @throws {WrongUsage} For unknown options, missing and unwanted values, and options given twice. */
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
      args.map(optionName).find((name) => name !== undefined && !Object.hasOwn(options, name));
    if (!unknown) throw new WrongUsage(error.message, { cause: error });
    const meant = suggestion(unknown, Object.keys(options), "--");
    throw new WrongUsage(`Unknown option --${unknown}${meant}`, { cause: error });
  }
}

/** Name of the long option that a word is. */
function optionName(word: string): string | undefined {
  return word.startsWith("--") && word.length > 2 ? word.slice(2).split("=", 1)[0] : undefined;
}

/** The text for `--help`, from the table. */
export function formatUsage(
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
