import type { CommandSpec, OptionSpec } from "../../src/command/command.ts";
import { isFile } from "./documented_command.ts";

/** Returns the completion script for fish. */
export function fishCompletion(commands: readonly CommandSpec[]): string {
  const lines = commands.flatMap((spec) => [
    line("__fish_use_subcommand", `-a ${quote(spec.name)} -d ${quote(spec.summary)}`),
    ...linesOf(spec),
  ]);
  return `# Completion of authserver for fish, made by: authserver completion fish
complete -c authserver -f
${lines.join("\n")}
`;
}

function linesOf(spec: CommandSpec): string[] {
  const words = spec.name.split(" ");
  const here = words.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
  const inner = spec.commands.map(({ name }) => name.slice(name.lastIndexOf(" ") + 1));
  const undecided = `${here}; and not __fish_seen_subcommand_from ${inner.join(" ")}`;
  return [
    ...Object.entries(spec.options).map(([name, option]) => line(here, optionOf(name, option))),
    ...spec.commands.flatMap((command, i) => [
      line(undecided, `-a ${quote(inner[i] ?? "")} -d ${quote(command.summary)}`),
      ...linesOf(command),
    ]),
  ];
}

function optionOf(name: string, option: OptionSpec): string {
  const kind = option.value === undefined ? "" : isFile(option) ? " -r -F" : " -x";
  return `-l ${name}${kind} -d ${quote(option.help)}`;
}

function line(condition: string, rest: string): string {
  return `complete -c authserver -n ${quote(condition)} ${rest}`;
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
