import { formatProblem, type Problem } from "../../model/problem.ts";
import { printable } from "../../model/printable.ts";

/** What an operator does about problems whose message matches. */
type Rule = readonly [when: RegExp, fix: (problem: Problem, ...groups: string[]) => string];

const place = ({ file, line }: Problem) => line === undefined ? file : `${file}:${line}`;

const write = (what: string, problem: Problem) =>
  isProperty(problem)
    ? `set ${problem.key}=<${what}> at ${place(problem)}`
    : `write ${what} at ${place(problem)}`;

/** Whether a problem is about a key of the configuration, not about an entry of a map or a list. */
function isProperty({ key = "" }: Problem): boolean {
  return /^(?:container|authservice|share|persistence)\.[\w.-]+$/.test(key);
}

/** Remedies for files and places. */
const OF_FILES: readonly Rule[] = [
  [
    /chmod [^\s)]+(?: [^\s)]+)?/,
    ({ file }, command) => command.split(" ")[2] === undefined ? `${command} ${file}` : command,
  ],
  [/convert it: (.*)$/, (_problem, command) => command],
  [
    /expected UTF-8 text/,
    ({ file }) => `iconv -f LATIN1 -t UTF-8 ${file} -o ${file}.utf8 && cat ${file}.utf8 > ${file}`,
  ],
  [
    /there is no such file|ENOENT|there is no file/,
    (problem) =>
      `create the file${problem.line === undefined ? "" : `, or name another at ${place(problem)}`}`,
  ],
  [
    /(?:is a folder|no regular file)$/,
    (problem) =>
      `put a file in its place${problem.line === undefined ? "" : `, or name one at ${place(problem)}`}`,
  ],
  [
    /bytes: expected at most (\d+)$/,
    (problem, most) => `shorten the file to ${most} bytes, see ${place(problem)}`,
  ],
  [
    /there are no files like|at least one trusted certificate|trusted certificate that is valid/,
    (problem) => `put certificates of the authorities, PEM or DER, where ${place(problem)} says`,
  ],
  [
    /no permission to read/,
    (problem) =>
      problem.line === undefined
        ? "run this as root or as the account of the service, or let that read the file"
        : `let the account of the service read what ${place(problem)} names`,
  ],
];

/** Remedies for certificates and keys of servers. */
const OF_CERTIFICATES: readonly Rule[] = [
  [
    /in (\S+) (?:has expired|expires) on/,
    (_problem, file) => `renew ${file}, then authserver reload; see: openssl x509 -noout -dates -in ${file}`,
  ],
  [
    /in (\S+) is not valid before/,
    (_problem, file) =>
      `set the clock right, or replace ${file}; see: date; openssl x509 -noout -dates -in ${file}`,
  ],
  [
    /(?:^|: )(\S+), (\S+): expected the certificate of the private key/,
    (_problem, certificate, key) =>
      `put a pair there; compare: openssl x509 -noout -pubkey -in ${certificate}; openssl pkey -pubout -in ${key}`,
  ],
  [
    /(\S+): expected (an X\.509 certificate|a certificate|a private key|a key|a PKCS#12|a key store)\b/,
    (problem, file, what) => `replace ${file} by ${what}, or name another at ${place(problem)}`,
  ],
  [
    /right password/,
    (problem) => `set container.security.credential.password to the password of what ${place(problem)} names`,
  ],
  [
    /expected an X\.509 certificate|expected a certificate/,
    ({ file }) => `replace ${file} by a certificate in PEM`,
  ],
];

/** Remedies for lines of users and keys, and for entries of maps. */
const OF_LINES: readonly Rule[] = [
  [
    /hexadecimal digits or \$scrypt|salt field|username:hash|user name before|scrypt costs/,
    (problem) => `write ${place(problem)} anew: authserver passwd <user>`,
  ],
  [
    /(?:key|authority) is not used|user:key:DN|public key between|DN (?:behind|without)/,
    (problem) =>
      `write ${place(problem)} anew with a public key as printed by: ssh-keygen -y -f <private key>`,
  ],
  [/^no xlogin/, (problem) => `add "xlogin": "<account>" to the entry at ${place(problem)}`],
  [/^no role/, (problem) => `add "role": "user" to the entry at ${place(problem)}`],
  [/a role without rights/, (problem) => `write "role": "user" at ${place(problem)}`],
  [
    /only the last counts, expected one: (.*)$/,
    (problem, value) => `write ${value} alone at ${place(problem)}`,
  ],
  [
    /no entry of the map file/,
    () =>
      "add entries for these users to the map file, or remove the users: authserver check --json lists them",
  ],
  [
    /found (?:the end|")|not complete|closing|root element|the element|document type|text only|quotes|begins? with [{[]/,
    (problem) => `correct the syntax; see: sed -n ${problem.line ?? 1}p ${problem.file}`,
  ],
];

/** Remedies for keys of the configuration. */
const OF_KEYS: readonly Rule[] = [
  [/did you mean (\S+?)\??$/, (problem, word) => `write ${word} at ${place(problem)}`],
  [/also set in (line \d+|[^\s;]+)/, (problem, other) => `remove ${place(problem)}, or ${other}`],
  [/is the same key as (\S+),/, (problem, other) => `remove ${place(problem)}, or ${other}`],
  [/(?:\bonce\b|there twice|does not include itself)/, (problem) => `remove ${place(problem)}, or the other`],
  [/^missing, expected (.*)$/, ({ file, key }, type) => `add ${key}=<${type}> to ${file}`],
  [/^expected (https:\/\/)/, (problem, scheme) => write(`${scheme} and a host`, problem)],
  [
    /expected (?:either|this or) .*?\bthis or (.*)$/,
    (problem, other) => `remove ${place(problem)}, or ${other}`,
  ],
  [/^expected either (.*)$/, (problem, both) => `remove ${place(problem)} or the other: ${both}`],
  [/(\w+\.[\w.-]+) too\b/, ({ file }, other) => `add ${other}=<value> to ${file}`],
  [
    /expected ((?:container|authservice|share|persistence)\.[\w.-]+)(?:,|$)/,
    ({ file }, other) => `add ${other}=<value> to ${file}`,
  ],
  [/the variable (\S+) to be defined/, ({ file }, name) => `add $var.${name}=<value> to ${file}`],
  [/expected (\w+\.[\w.-]+=\S+)/, ({ file }, line) => `write ${line} to ${file}`],
  [
    /^unknown key|\bignored\b|^not used|built-in rules are used|in memory alone/,
    (problem) => `remove ${place(problem)}`,
  ],
  [/for tests only/, (problem) => `remove ${place(problem)}, or set ${problem.key}=true`],
  [
    /not encrypted|others can read|can answer in place|others .*read and change/,
    (problem) => write("an address that begins with https://", problem),
  ],
  [/is no limit to the Java service/, (problem) => write("milliseconds, at least 1", problem)],
];

/** Remedies from what the message says was expected. */
const OF_EXPECTED: readonly Rule[] = [
  [/expected (.+?)(?:; |: (?=[a-z])|$)/, (problem, expected) => write(expected, problem)],
];

const RULES = [...OF_FILES, ...OF_CERTIFICATES, ...OF_LINES, ...OF_KEYS, ...OF_EXPECTED];

/** Returns what to do about a problem, in one line; the first rule that matches decides. */
export function fixOf(problem: Problem): string {
  if (problem.fix !== undefined) return problem.fix;
  for (const [when, fix] of RULES) {
    const match = when.exec(problem.expected);
    if (match) return fix(problem, ...match.slice(match.length > 1 ? 1 : 0));
  }
  return `change ${place(problem)} to what is expected`;
}

/** Returns a problem and its remedy, in a line each. */
export function withRemedy(problem: Problem): string {
  return `${problem.severity}: ${formatProblem(problem)}\n  fix: ${printable(fixOf(problem))}\n`;
}
