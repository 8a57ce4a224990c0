import type { CommandSpec, OptionSpec } from "./command_spec.ts";
import { textTable } from "./text_table.ts";

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
