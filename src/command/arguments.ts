import { parseArgs } from "node:util";
import { suggestion } from "../config/did_you_mean.ts";
import { counted } from "../model/text.ts";
import { type CommandSpec, operandWord } from "./command_spec.ts";

/** Error for invalid arguments: exit status 2, with the usage. */
export class WrongUsage extends Error {}

/** Parsed arguments, by the names in the command's table. */
export interface Given<Option extends string, Operand extends string> {
  flag(name: Option): boolean;
  /** Returns the option's text, or its default. */
  text(name: Option): string | undefined;
  /** Returns the operand; empty if it is optional and not given. */
  operand(name: Operand): string;
}

/** Parses the words behind a command's name. @throws {WrongUsage} */
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

function optionName(word: string): string | undefined {
  return word.startsWith("--") && word.length > 2 ? word.slice(2).split("=", 1)[0] : undefined;
}
