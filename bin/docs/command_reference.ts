import { formatUsage } from "../../src/command/command.ts";
import { type DocumentedCommand, leavesOf } from "./documented_command.ts";

/** `docs/commands.md`: usage of every command, and what it prints with `--json`. */
export function commandReference(commands: readonly DocumentedCommand[]): string {
  return `${HEAD}\n${commands.flatMap((command) => leavesOf(command)).map(section).join("\n")}`;
}

const HEAD = `# Commands

<!-- Made from the table of commands by deno task docs; do not edit. -->

The usage is that of \`authserver COMMAND --help\`; the manual pages (\`docs/man\`) also have examples. Every command
has the option \`--json\`:

- With \`--json\` a command prints one JSON value on standard output. Messages go to standard error, and
  the exit status is the same.
- A command that fails before it has a result prints \`{"error": "…"}\`; after wrong usage it
  may print nothing.
- Later versions can add members; the changelog announces renamed or removed members. Ignore members that you
  do not know.

In the tables of this output, \`[]\` is each element of a list, \`*\` any name; members with ? are optional.
`;

function section(command: DocumentedCommand): string {
  const rows = Object.entries(command.json).map(([path, meaning]) => `| \`${path}\` | ${cell(meaning)} |`);
  const usage = `\`\`\`text\n${formatUsage(command)}\`\`\``;
  return `## ${command.name}\n\n${usage}\n\nOutput with \`--json\`:\n\n| Member | Meaning |\n| --- | --- |\n${
    rows.join("\n")
  }\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("*", "\\*");
}
