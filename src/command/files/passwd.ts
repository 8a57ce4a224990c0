import { dirname, join } from "node:path";
import {
  hashWithScrypt,
  matchesStored,
  md5Digest,
  randomSalt,
  type StoredHash,
} from "../../authentication/password/stored_hash.ts";
import { nameDiagnostic, parsePasswordLine } from "../../authentication/password/password_table.ts";
import {
  CommandFailed,
  type CommandIo,
  defineCommand,
  defineCommands,
  type Given,
  readSecret,
  searchPath,
  STDIN,
  WrongUsage,
} from "../command.ts";
import { passwordFile } from "../../authentication/password/kind.ts";
import { withKinds } from "../../config/kind.ts";
import { KINDS } from "../../service/kinds.ts";
import { loadConfiguration } from "../../config/load.ts";
import { installedFile } from "../config_option.ts";
import { editFile, readText } from "../../model/edit_file.ts";
import { printable } from "../../model/text.ts";
import { lineFor, passwordLine, putLine, removeLines } from "./password_file_text.ts";
import { weakness } from "../weak_password.ts";

const NAME = "users.txt";
const FILE = {
  help: `Password file. If not given, the configured one, or else ${searchPath(NAME)}`,
  value: "FILE",
};
const MD5 = { help: "Write the old format (MD5), for services that support no other" };
const FORCE = { help: "Accept a short or common password" };
const DN = { help: "Distinguished name of the user, such as 'CN=Ann Example, O=Site'", value: "DN" };
const USER = { user: "User name" };

const MAX_PASSWORD = 1024; // bytes of UTF-8 that fit the request header of every client
const MAX_USER = 256; // characters, as in `parseCredentials`

const add = defineCommand({
  name: "passwd add",
  summary: "Add a user to the password file; creates the file if necessary",
  operands: USER,
  options: { file: FILE, dn: DN, stdin: STDIN, md5: MD5, force: FORCE },
}, async (given, io) => {
  const { file, user } = await targetOf(given, given.operand("user"));
  const dn = given.text("dn");
  if (dn === undefined) throw new WrongUsage("Expected --dn DN");
  checkName(dn);
  refuseKnown(await readText(file), file, user);
  const hash = await newHash(io, given);
  await edit(io, file, (text = "") => {
    refuseKnown(text, file, user);
    return putLine(text, user, passwordLine(user, hash, dn));
  });
  return { value: { file, user }, text: `User ${user} added to ${file}\n` };
});

const change = defineCommand({
  name: "passwd change",
  summary: "Change the password of a user",
  operands: USER,
  options: {
    file: FILE,
    dn: { ...DN, help: `${DN.help}; if not given, the name stays` },
    stdin: STDIN,
    md5: MD5,
    force: FORCE,
  },
}, async (given, io) => {
  const { file, user } = await targetOf(given, given.operand("user"));
  const dn = given.text("dn");
  if (dn !== undefined) checkName(dn);
  const dnIn = (text: string | undefined) => dn ?? nameIn(requireLine(text, file, user), user);
  dnIn(await readText(file));
  const hash = await newHash(io, given);
  await edit(io, file, (text) => putLine(text ?? "", user, passwordLine(user, hash, dnIn(text))));
  return { value: { file, user }, text: `Password of ${user} changed in ${file}\n` };
});

const verify = defineCommand({
  name: "passwd verify",
  summary: "Check a password as the service does; exit status 1 if it is wrong",
  operands: USER,
  options: { file: FILE, stdin: STDIN },
}, async (given, io) => {
  const { file, user } = await targetOf(given, given.operand("user"));
  const line = parsePasswordLine(requireLine(await readText(file), file, user));
  if (line.kind !== "entry") {
    throw new CommandFailed(
      `${user} cannot log in: ${"expected" in line ? line.expected : "the hash is empty"}`,
    );
  }
  const password = await readSecret(given, io, `Password of ${user}: `);
  if (!await matchesStored(line.hash, password)) throw new CommandFailed("The password is wrong");
  return { value: { user, dn: line.dn }, text: `The password is correct; ${user} is ${line.dn}\n` };
});

const remove = defineCommand({
  name: "passwd remove",
  summary: "Remove a user from the password file",
  operands: USER,
  options: { file: FILE },
}, async (given, io) => {
  const { file, user } = await targetOf(given, given.operand("user"));
  requireLine(await readText(file), file, user);
  await edit(io, file, (text = "") => {
    requireLine(text, file, user);
    return removeLines(text, user);
  });
  return { value: { file, user }, text: `User ${user} removed from ${file}\n` };
});

const list = defineCommand({
  name: "passwd list",
  summary: "List the users of the password file with hash type and distinguished name",
  operands: {},
  options: { file: FILE },
}, async (given, io) => {
  const file = await fileOf(given);
  const text = await readText(file);
  if (text === undefined) throw new CommandFailed(`There is no file ${file}`);
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/).map((line) => parsePasswordLine(line));
  const counts = new Map(lines.flatMap((line, index) => "user" in line ? [[line.user, index]] : []));
  const users: { readonly user: string; readonly hash?: string; readonly dn?: string }[] = [];
  for (const [index, line] of lines.entries()) {
    if ("expected" in line) io.stderr(`${file}:${index + 1}: ${line.expected}\n`);
    if (!("user" in line) || counts.get(line.user) !== index) continue;
    const { user } = line;
    users.push(line.kind === "entry" ? { user, hash: line.hash.kind, dn: line.dn } : { user });
  }
  const rows = users.map(({ user, hash, dn }) =>
    `${printable([user, ...hash === undefined ? ["disabled"] : [hash, dn]].join("\t"))}\n`
  );
  return { value: { file, users }, text: rows.join("") };
});

/** Command `authserver passwd`: edits a password file, see `parsePasswordLine`. */
export const passwd = defineCommands({
  name: "passwd",
  summary: "Manage the users of a password file",
  details: [
    "A new password needs at least 12 characters and must not be a common password. --force overrides these rules.",
    "The command stores new passwords with scrypt. The service reloads the changed file within two seconds.",
  ],
  commands: [add, change, verify, remove, list],
});

async function targetOf(given: Places, user: string) {
  if (user === "" || user.length > MAX_USER) {
    throw new WrongUsage(`Expected a user name of 1 to ${MAX_USER} characters`);
  }
  if (/^[\s#]|\s$|:|\p{Cc}|\p{Cs}/u.test(user)) {
    throw new WrongUsage(
      "Expected a user name without colon, control characters, and # or blanks at its ends",
    );
  }
  return { file: await fileOf(given), user };
}

type Places = Pick<Given<"file" | "config", never>, "text">;

/** Returns the given file, the configured one, or the default beside the configuration. */
async function fileOf(given: Places): Promise<string> {
  const file = given.text("file");
  if (file === "") throw new WrongUsage("Expected a file name behind --file");
  if (file !== undefined) return file;
  const main = given.text("config") ?? await installedFile();
  if (main === undefined) return join("conf", NAME);
  const environment = (name: string) => Deno.env.get(name);
  const { readable } = await loadConfiguration(main, { environment, kinds: KINDS });
  const ofKinds = await withKinds(readable.authentication?.authenticators ?? [], KINDS.authenticators);
  const [named, another] = ofKinds.flatMap(({ config, kind }) =>
    kind === passwordFile ? kind.files?.(config) ?? [] : []
  );
  if (another !== undefined && another !== named) {
    throw new WrongUsage(`Expected --file, one of those that ${main} names: ${named}, ${another}`);
  }
  return named ?? join(dirname(main), NAME);
}

function checkName(dn: string): void {
  const diagnostic = /[\p{Cc}\p{Cs}]/u.test(dn) ? "it has control characters" : nameDiagnostic(dn.trim());
  if (diagnostic !== undefined) {
    throw new WrongUsage(`Expected a distinguished name behind --dn: ${diagnostic}`);
  }
}

function refuseKnown(text: string | undefined, file: string, user: string): void {
  if (text === undefined || lineFor(text, user) === undefined) return;
  throw new CommandFailed(`${file} has a user ${user} already; use authserver passwd change`);
}

function requireLine(text: string | undefined, file: string, user: string): string {
  if (text === undefined) throw new CommandFailed(`There is no file ${file}`);
  const line = lineFor(text, user);
  if (line === undefined) throw new CommandFailed(`${file} has no user ${user}`);
  return line;
}

/** Includes disabled lines. */
function nameIn(line: string, user: string): string {
  const dn = line.split(":").slice(3).join(":").trim();
  if (nameDiagnostic(dn) === undefined) return dn;
  throw new CommandFailed(`${user} has no distinguished name yet, expected --dn DN`);
}

async function newHash(io: CommandIo, given: Given<"stdin" | "md5" | "force", "user">): Promise<StoredHash> {
  const password = await newPassword(io, given);
  if (!given.flag("md5")) return await hashWithScrypt(password);
  const salt = randomSalt();
  return { kind: "md5", salt, digest: md5Digest(salt, password) };
}

async function newPassword(io: CommandIo, given: Given<"stdin" | "force", "user">): Promise<string> {
  const password = await readSecret(given, io, "New password: ");
  if (password === "") throw new CommandFailed("Expected a password that is not empty");
  if (/[\0\r\n]/.test(password)) throw new CommandFailed("Expected a password without NUL and line ends");
  if (new TextEncoder().encode(password).length > MAX_PASSWORD) {
    throw new CommandFailed(`Expected a password of at most ${MAX_PASSWORD} bytes`);
  }
  const weak = given.flag("force") ? undefined : weakness(password);
  if (weak !== undefined) {
    throw new CommandFailed(`The password is easily guessed: ${weak}; use --force to accept it`);
  }
  if (!given.flag("stdin") && await readSecret(given, io, "The same again: ") !== password) {
    throw new CommandFailed("The passwords differ; nothing was changed");
  }
  return password;
}

async function edit(io: CommandIo, file: string, change: (text: string | undefined) => string) {
  const { remarks } = await editFile(file, change);
  for (const remark of remarks) io.stderr(`Note on ${file}: ${remark}\n`);
}
