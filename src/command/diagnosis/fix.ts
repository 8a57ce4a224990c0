import { formatProblem, type Problem } from "../../model/problem.ts";
import { printable } from "../../model/printable.ts";

/** What an operator does about a kind of problem. */
interface Rule {
  readonly when: RegExp;
  readonly fix: (problem: Problem, match: RegExpExecArray) => string;
}

const place = ({ file, line }: Problem) => line === undefined ? file : `${file}:${line}`;

/** The first that fits holds; by the words that readers of files use for what they expected. */
const RULES: readonly Rule[] = [
  {
    when: /chmod [^\s)]+(?: [^\s)]+)?/,
    fix: ({ file }, [command]) => command.split(" ")[2] ? command : `${command} ${file}`,
  },
  { when: /did you mean (\S+?)\??$/, fix: (problem, [, word]) => `write ${word} at ${place(problem)}` },
  {
    when: /^is also set in line (\d+)/,
    fix: ({ file }, [, line]) => `remove ${file}:${line}, or the one that counts`,
  },
  { when: /^missing, expected (.*)$/, fix: ({ file, key }, [, type]) => `add ${key}=<${type}> to ${file}` },
  {
    when: /there is no such file/,
    fix: (problem) =>
      problem.line === undefined
        ? "create the file, or name another"
        : `create the file, or name another at ${place(problem)}`,
  },
  {
    when: /there are no files like|at least one trusted certificate/,
    fix: (problem) => `put certificates of the authorities, PEM or DER, where ${place(problem)} says`,
  },
  {
    when: /no permission to read/,
    fix: (problem) =>
      problem.line === undefined
        ? "run this as root or as the account of the service, or let that read the file"
        : `let the account of the service read what ${place(problem)} names`,
  },
  { when: /^(?:unknown key|ignored|not used)/, fix: (problem) => `remove ${place(problem)}` },
];

/** What to do about a problem, in one line. */
export function fixOf(problem: Problem): string {
  if (problem.fix !== undefined) return problem.fix;
  for (const { when, fix } of RULES) {
    const match = when.exec(problem.expected);
    if (match) return fix(problem, match);
  }
  return `change ${place(problem)} to what is expected`;
}

/** A problem and its remedy, in a line each. */
export function withRemedy(problem: Problem): string {
  return `${problem.severity}: ${formatProblem(problem)}\n  fix: ${printable(fixOf(problem))}\n`;
}
