import type { Diagnostic } from "../../model/diagnostic.ts";

/** What an operator does about a kind of problem. */
interface Rule {
  readonly when: RegExp;
  readonly fix: (diagnostic: Diagnostic, match: RegExpExecArray) => string;
}

const place = ({ file, line }: Diagnostic) => line === undefined ? file : `${file}:${line}`;

/** The first that fits holds; by the words that readers of files use for what they expected. */
const RULES: readonly Rule[] = [
  {
    when: /chmod [^\s)]+(?: [^\s)]+)?/,
    fix: ({ file }, [command]) => command.split(" ")[2] ? command : `${command} ${file}`,
  },
  { when: /did you mean (\S+?)\??$/, fix: (diagnostic, [, word]) => `write ${word} at ${place(diagnostic)}` },
  {
    when: /^is also set in line (\d+)/,
    fix: ({ file }, [, line]) => `remove ${file}:${line}, or the one that counts`,
  },
  { when: /^missing, expected (.*)$/, fix: ({ file, key }, [, type]) => `add ${key}=<${type}> to ${file}` },
  {
    when: /there is no such file/,
    fix: (diagnostic) =>
      diagnostic.line === undefined
        ? "create the file, or name another"
        : `create the file, or name another at ${place(diagnostic)}`,
  },
  {
    when: /there are no files like|at least one trusted certificate/,
    fix: (diagnostic) => `put certificates of the authorities, PEM or DER, where ${place(diagnostic)} says`,
  },
  {
    when: /no permission to read/,
    fix: (diagnostic) =>
      diagnostic.line === undefined
        ? "run this as root or as the account of the service, or let that read the file"
        : `let the account of the service read what ${place(diagnostic)} names`,
  },
  { when: /^(?:unknown key|ignored|not used)/, fix: (diagnostic) => `remove ${place(diagnostic)}` },
];

/** What to do about a problem, in one line. */
export function fixOf(diagnostic: Diagnostic): string {
  if (diagnostic.fix !== undefined) return diagnostic.fix;
  for (const { when, fix } of RULES) {
    const match = when.exec(diagnostic.expected);
    if (match) return fix(diagnostic, match);
  }
  return `change ${place(diagnostic)} to what is expected`;
}
