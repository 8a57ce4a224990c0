import { type DocumentedCommand, leavesOf } from "./documented_command.ts";

/** `docs/commands.md`: what every command prints with `--json`. */
export function commandReference(commands: readonly DocumentedCommand[]): string {
  return `${HEAD}\n${commands.flatMap((command) => leavesOf(command)).map(section).join("\n")}`;
}

const HEAD = `# Commands and their JSON

<!-- Made from the table of commands by deno task docs; do not edit. -->

What the commands do and which options they have is in \`authserver COMMAND --help\` and in the manual pages
(\`docs/man\`). Every command takes \`--config FILE\` and \`--json\`:

- With \`--json\` a command prints one JSON value on standard output. Messages go to standard error, and
  the exit status is the same.
- A command that fails before it has a result prints \`{"error": "…"}\`; after wrong usage it
  may print nothing.
- Later versions can add members; the changelog announces renamed or removed members. Ignore members that you
  do not know.

In the tables \`[]\` is each element of a list, \`*\` any name; what is marked with ? is not always there.
`;

function section({ name, summary, json }: DocumentedCommand): string {
  const rows = Object.entries(json).map(([path, meaning]) => `| \`${path}\` | ${cell(meaning)} |`);
  return `## ${name}\n\n${summary}.\n\n| Member | Meaning |\n| --- | --- |\n${rows.join("\n")}\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("*", "\\*");
}
