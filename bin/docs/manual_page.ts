import { operandWord, type OptionSpec } from "../../src/command/command.ts";
import type { DocumentedCommand } from "./documented_command.ts";

/** Manual page in man(7) format. */
interface ManualPage {
  /** For example `authserver-ban.1`. */
  readonly file: string;
  readonly text: string;
}

interface Program {
  readonly date: string;
  readonly version: string;
}

/** Returns the page of the program and a page per command. */
export function manualPages(commands: readonly DocumentedCommand[], program: Program): readonly ManualPage[] {
  return [overview(commands, program), ...commands.map((spec) => page(spec, program))];
}

function overview(commands: readonly DocumentedCommand[], program: Program): ManualPage {
  const list = commands.map(({ name, summary }) =>
    `.TP\n.BR authserver\\-${roff(name)} (1)\n${sentence(summary)}\n`
  );
  return {
    file: "authserver.1",
    text: `${header("authserver", program)}.SH NAME
authserver \\- Auth service for UFTP file transfer
.SH SYNOPSIS
.B authserver
.RI [ command ]
.RI [ options ]
.SH DESCRIPTION
Authenticates users over HTTPS and gives them access to transfer daemons.
Without a command it runs the service, as
.B authserver serve
does.
.SH COMMANDS
${list.join("")}${EXIT_STATUS}.SH FILES
${files()}${environment()}`,
  };
}

function page(spec: DocumentedCommand, program: Program): ManualPage {
  const name = `authserver-${spec.name}`;
  const inner = spec.commands;
  const described = inner.length === 0
    ? body(spec)
    : inner.map((command) =>
      `.SS authserver ${roff(command.name)}\n${sentence(command.summary)}\n${body(command)}`
    )
      .join("");
  const paragraphs = inner.length === 0 ? "" : paragraphsOf(spec);
  return {
    file: `${name}.1`,
    text: `${header(name, program)}.SH NAME
${text(`${name} - ${lowerFirst(spec.summary)}`)}
.SH SYNOPSIS
${(inner.length === 0 ? [spec] : inner).map(synopsis).join(".br\n")}.SH DESCRIPTION
${sentence(spec.summary)}
${paragraphs}${described}${examplesOf(spec)}${EXIT_STATUS}.SH SEE ALSO
.BR authserver (1)
`,
  };
}

function body(spec: DocumentedCommand): string {
  const operands = Object.entries(spec.operands).map(([name, help]) =>
    `.TP\n.I ${roff(operandWord(name).replace(/[<>]/g, ""))}\n${sentence(help)}\n`
  );
  return [...operands, ...Object.entries(spec.options).map(option)].join("") + paragraphsOf(spec) +
    jsonOf(spec);
}

function jsonOf({ json }: DocumentedCommand): string {
  const members = Object.entries(json).map(([path, meaning]) =>
    `.TP\n.B ${roff(path)}\n${sentence(meaning)}\n`
  );
  return members.length === 0
    ? ""
    : `.PP\nMembers of the output of \\-\\-json (? marks optional members):\n${members.join("")}`;
}

function option([name, spec]: [string, OptionSpec]): string {
  const flag = spec.value === undefined
    ? `.B \\-\\-${roff(name)}`
    : `.BI \\-\\-${roff(name)} " ${roff(spec.value)}"`;
  const standard = spec.default === undefined ? "" : `Default: ${text(spec.default)}.\n`;
  return `.TP\n${flag}\n${sentence(spec.help)}\n${standard}`;
}

/** Keeps line ends within a paragraph. */
function paragraphsOf({ details = [] }: DocumentedCommand): string {
  return details.map((paragraph) => {
    const lines = paragraph.split("\n").map(text);
    return `.PP\n${lines.join("\n.br\n")}\n`;
  }).join("");
}

function examplesOf(spec: DocumentedCommand): string {
  const all = [spec, ...spec.commands].flatMap(({ examples = {} }) => Object.entries(examples));
  const lines = all.map(([line, does]) => `.TP\n.B ${roff(line)}\n${sentence(does)}\n`);
  return lines.length === 0 ? "" : `.SH EXAMPLES\n${lines.join("")}`;
}

const FILES = [
  ["conf/container.properties", "/etc/authserver/container.properties", "Main configuration file."],
  ["logs/authserver.log", "/var/log/authserver/authserver.log", "Log; the journal has the same lines."],
  ["logs/audit.log", "/var/log/authserver/audit.log", "Decisions, one JSON object a line."],
  ["logs/control.sock", "/run/authserver/control.sock", "Where commands reach the running service."],
] as const;

function files(): string {
  return FILES.map(([own, system, what]) =>
    `.TP\n.I ${roff(own)}\n${text(`${what} Under systemd: ${system}.`)}\n`
  )
    .join("");
}

function synopsis({ name, operands, options }: DocumentedCommand): string {
  const flags = Object.keys(options).length > 0 ? "\n.RI [ options ]" : "";
  const words = Object.keys(operands).map((operand) =>
    `\n.I ${roff(operandWord(operand).replace(/[<>]/g, ""))}`
  ).join("");
  return `.B authserver ${roff(name)}${flags}${words}\n`;
}

const EXIT_STATUS = `.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
Failure; standard error has the reason.
.TP
.B 2
Wrong usage.
.PP
Some commands have further statuses, described above.
`;

function environment(): string {
  return `.SH ENVIRONMENT
.TP
.B RUNTIME_DIRECTORY
Folder of the control socket; set by systemd.
.TP
.B NOTIFY_SOCKET
Where the service manager is told how the service fares; set by systemd.
`;
}

function header(name: string, { date, version }: Program): string {
  return `.\\" Made from the table of commands; do not edit.
.TH ${roff(name.toUpperCase())} 1 "${date}" "authserver ${version}" "User Commands"
`;
}

function sentence(words: string): string {
  return `${text(words)}${/[.!?]$/.test(words) ? "" : "."}`;
}

function lowerFirst(words: string): string {
  return /^[A-Z][a-z]/.test(words) ? `${words.charAt(0).toLowerCase()}${words.slice(1)}` : words;
}

/** Characters of an input line, as mandoc recommends. */
const LINE = 78;

/** Protects leading control characters from being read as requests. */
function text(words: string): string {
  let lines = "";
  let line = "";
  for (const word of roff(words).split(/ +/)) {
    if (line !== "" && line.length + 1 + word.length > LINE) {
      lines += `${line}\n`;
      line = "";
    }
    line += line === "" ? word.replace(/^([.'])/, "\\&$1") : ` ${word}`;
  }
  return lines + line;
}

/** Escapes roff's special characters and non-ASCII. */
function roff(words: string): string {
  return words.replace(/\\/g, "\\e").replace(/-/g, "\\-").replace(/…/g, "...").replace(
    /[\u0080-\u{10ffff}]/gu,
    (c) => `\\[u${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );
}
