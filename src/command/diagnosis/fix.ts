import { type Diagnostic, formatDiagnostic } from "../../model/diagnostic.ts";
import { printable } from "../../model/text.ts";

/** Reads what a remedy needs from a message; `undefined` if the rule does not apply. */
type Match = (expected: string) => readonly string[] | undefined;

/** Remedy for diagnostics whose message matches. */
type Rule = readonly [when: RegExp | Match, fix: (diagnostic: Diagnostic, ...groups: string[]) => string];

/** Matches the text after a marker. */
const after = (marker: string): Match => (expected) => {
  const at = expected.indexOf(marker);
  return at < 0 ? undefined : [expected.slice(at + marker.length)];
};

const lastWord = (text: string) => text.slice(text.lastIndexOf(" ") + 1);

/** Matches the first of these words that has a form. */
const firstOf = (words: (expected: string) => readonly string[], form: RegExp): Match => (expected) => {
  const found = words(expected).find((word) => form.test(word));
  return found === undefined ? undefined : [found];
};

const afterExpected = (expected: string, end: string) =>
  expected.split("expected ").slice(1).map((part) => part.split(end)[0] ?? "");

/** Matches `<certificate>, <key>: expected the certificate of the private key`. */
const pairOfFiles: Match = (expected) => {
  const [before = "", rest] = expected.split(": expected the certificate of the private key");
  const files = before.slice(before.lastIndexOf(": ") + 1).trim().split(", ");
  return rest === undefined || files.length !== 2 ? undefined : files;
};

/** Matches `<file>: expected a certificate` and similar. */
const fileAndContent: Match = (expected) => {
  const found = /: expected (an X\.509 certificate|a certificate|a private key|a key|a PKCS#12|a key store)\b/
    .exec(expected);
  const [, what] = found ?? [];
  return found === null || what === undefined ? undefined : [lastWord(expected.slice(0, found.index)), what];
};

/** Matches the first thing expected, up to a semicolon or an explanation. */
const whatIsExpected: Match = (expected) => {
  const [, first] = expected.split("expected ", 2);
  const at = first?.search(/; |: [a-z]/) ?? 0;
  return first === undefined || first === "" ? undefined : [at <= 0 ? first : first.slice(0, at)];
};

const place = ({ file, line }: Diagnostic) => line === undefined ? file : `${file}:${line}`;

const write = (what: string, diagnostic: Diagnostic) =>
  isProperty(diagnostic)
    ? `set ${diagnostic.key}=<${what}> at ${place(diagnostic)}`
    : `write ${what} at ${place(diagnostic)}`;

/** Reports whether a diagnostic concerns a property, not an entry of a map or list. */
function isProperty({ key = "" }: Diagnostic): boolean {
  return /^(?:container|authservice|share|persistence)\.[\w.-]+$/.test(key);
}

const OF_FILES: readonly Rule[] = [
  [
    /chmod [^\s)]+(?: [^\s)]+)?/,
    ({ file }, command) => command.split(" ")[2] === undefined ? `${command} ${file}` : command,
  ],
  [
    after("convert it: "),
    (diagnostic, command) =>
      diagnostic.key === undefined ? command : `${command} # then name the new file at ${place(diagnostic)}`,
  ],
  [
    /expected UTF-8 text/,
    ({ file }) => `iconv -f LATIN1 -t UTF-8 ${file} -o ${file}.utf8 && cat ${file}.utf8 > ${file}`,
  ],
  [
    /there is no such file|ENOENT|there is no file/,
    (diagnostic) =>
      `create the file${diagnostic.line === undefined ? "" : `, or name another at ${place(diagnostic)}`}`,
  ],
  [
    /(?:is a folder|no regular file)$/,
    (diagnostic) =>
      `put a file in its place${
        diagnostic.line === undefined ? "" : `, or name one at ${place(diagnostic)}`
      }`,
  ],
  [
    /bytes: expected at most (\d+)$/,
    (diagnostic, most) => `shorten the file to ${most} bytes, see ${place(diagnostic)}`,
  ],
  [
    /there are no files like|at least one trusted certificate|trusted certificate that is valid/,
    (diagnostic) => `put certificates of the authorities, PEM or DER, where ${place(diagnostic)} says`,
  ],
  [
    /no permission to read|EACCES/,
    (diagnostic) =>
      diagnostic.line === undefined
        ? "run this as root or as the account of the service, or let that read the file"
        : `let the account of the service read what ${place(diagnostic)} names`,
  ],
];

const OF_CERTIFICATES: readonly Rule[] = [
  [
    /in (\S+) (?:has expired|expires) on/,
    (_diagnostic, file) =>
      `renew ${file}, then authserver reload; see: openssl x509 -noout -dates -in ${file}`,
  ],
  [
    /in (\S+) is not valid before/,
    (_diagnostic, file) =>
      `set the clock right, or replace ${file}; see: date; openssl x509 -noout -dates -in ${file}`,
  ],
  [
    pairOfFiles,
    (_diagnostic, certificate, key) =>
      `put a pair there; compare: openssl x509 -noout -pubkey -in ${certificate}; openssl pkey -pubout -in ${key}`,
  ],
  [
    fileAndContent,
    (diagnostic, file, what) => `replace ${file} by ${what}, or name another at ${place(diagnostic)}`,
  ],
  [
    firstOf((expected) => {
      const [before = "", rest] = expected.split(": no trusted authority signed this revocation list");
      return rest === undefined ? [] : [lastWord(before)];
    }, /./),
    (_diagnostic, file) =>
      `trust the authority of ${file}, or remove the list; see: openssl crl -noout -issuer -in ${file}`,
  ],
  [
    /list of revoked keys|^line \d+: key is/,
    ({ file }) => `make the list anew: ssh-keygen -k -f ${file} <public keys>`,
  ],
  [
    /right password/,
    (diagnostic) =>
      `set container.security.credential.password to the password of what ${place(diagnostic)} names`,
  ],
  [
    /expected an X\.509 certificate|expected a certificate/,
    ({ file }) => `replace ${file} by a certificate in PEM`,
  ],
];

const OF_LINES: readonly Rule[] = [
  [
    /hexadecimal digits or \$scrypt|salt field|username:hash|user name before|scrypt costs/,
    (diagnostic) => `write ${place(diagnostic)} anew: authserver passwd <user>`,
  ],
  [
    /(?:key|authority) is not used|user:key:DN|public key between|DN (?:behind|without)/,
    (diagnostic) =>
      `write ${place(diagnostic)} anew with a public key as printed by: ssh-keygen -y -f <private key>`,
  ],
  [/^no xlogin/, (diagnostic) => `add "xlogin": "<account>" to the entry at ${place(diagnostic)}`],
  [/^no role/, (diagnostic) => `add "role": "user" to the entry at ${place(diagnostic)}`],
  [/a role without rights/, (diagnostic) => `write "role": "user" at ${place(diagnostic)}`],
  [
    after("only the last counts, expected one: "),
    (diagnostic, value) => `write ${value} alone at ${place(diagnostic)}`,
  ],
  [
    /no entry of the map file/,
    () =>
      "add entries for these users to the map file, or remove the users: authserver check --json lists them",
  ],
  [
    /found (?:the end|")|not complete|closing|root element|the element|document type|text only|quotes|begins? with [{[]/,
    (diagnostic) => `correct the syntax; see: sed -n ${diagnostic.line ?? 1}p ${diagnostic.file}`,
  ],
];

const OF_KEYS: readonly Rule[] = [
  [/did you mean (\S+?)\??$/, (diagnostic, word) => `write ${word} at ${place(diagnostic)}`],
  [/also set in (line \d+|[^\s;]+)/, (diagnostic, other) => `remove ${place(diagnostic)}, or ${other}`],
  [/is the same key as (\S+),/, (diagnostic, other) => `remove ${place(diagnostic)}, or ${other}`],
  [
    /(?:\bonce\b|there twice|does not include itself)/,
    (diagnostic) => `remove ${place(diagnostic)}, or the other`,
  ],
  [/^missing, expected (.*)$/, ({ file, key }, type) => `add ${key}=<${type}> to ${file}`],
  [/^expected (https:\/\/)/, (diagnostic, scheme) => write(`${scheme} and a host`, diagnostic)],
  [
    after("expected either this or "),
    (diagnostic, other) => `remove ${place(diagnostic)}, or ${other}`,
  ],
  [/^expected either (.*)$/, (diagnostic, both) => `remove ${place(diagnostic)} or the other: ${both}`],
  [
    firstOf((expected) => expected.split(/ too\b/).slice(0, -1).map(lastWord), /^\w+\.[\w.-]+$/),
    ({ file }, other) => `add ${other}=<value> to ${file}`,
  ],
  [
    firstOf(
      (expected) => afterExpected(expected, ","),
      /^(?:container|authservice|share|persistence)\.[\w.-]+$/,
    ),
    ({ file }, other) => `add ${other}=<value> to ${file}`,
  ],
  [
    /the variable CREDENTIALS_DIRECTORY to be/,
    () =>
      "systemd sets it for the service; as root: CREDENTIALS_DIRECTORY=/run/credentials/authserver.service authserver check",
  ],
  [/the variable (\S+) to be defined/, ({ file }, name) => `add $var.${name}=<value> to ${file}`],
  [
    firstOf((expected) => afterExpected(expected, " "), /^\w+\.[\w.-]+=\S+$/),
    ({ file }, line) => `write ${line} to ${file}`,
  ],
  [
    /^unknown key|\bignored\b|^not used|built-in rules are used|in memory alone/,
    (diagnostic) => `remove ${place(diagnostic)}`,
  ],
  [/for tests only/, (diagnostic) => `remove ${place(diagnostic)}, or set ${diagnostic.key}=true`],
  [
    /not encrypted|others can read|can impersonate the server/,
    (diagnostic) => write("an address that begins with https://", diagnostic),
  ],
  [/is no limit to the Java service/, (diagnostic) => write("milliseconds, at least 1", diagnostic)],
  [
    /\bholds?$/,
    (diagnostic) =>
      diagnostic.line === undefined
        ? `add ${diagnostic.key}=<value> to ${diagnostic.file}`
        : `remove ${place(diagnostic)}, or correct its value`,
  ],
];

const OF_EXPECTED: readonly Rule[] = [
  [whatIsExpected, (diagnostic, expected) => write(expected, diagnostic)],
];

const RULES = [...OF_FILES, ...OF_CERTIFICATES, ...OF_LINES, ...OF_KEYS, ...OF_EXPECTED];

/** Returns a one-line remedy; the first matching rule decides. */
export function fixOf(diagnostic: Diagnostic): string {
  if (diagnostic.fix !== undefined) return diagnostic.fix;
  for (const [when, fix] of RULES) {
    const match = typeof when === "function" ? when(diagnostic.expected) : when.exec(diagnostic.expected);
    if (!match) continue;
    return fix(diagnostic, ...match.slice(typeof when !== "function" && match.length > 1 ? 1 : 0));
  }
  return `change ${place(diagnostic)} to what is expected`;
}

/** Returns a diagnostic and its remedy, on a line each. */
export function withRemedy(diagnostic: Diagnostic): string {
  return `${diagnostic.severity}: ${formatDiagnostic(diagnostic)}\n  fix: ${printable(fixOf(diagnostic))}\n`;
}
