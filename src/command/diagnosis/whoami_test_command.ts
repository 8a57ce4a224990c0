import { onError } from "../../model/attempt.ts";
import { Buffer } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { createLogger } from "../../logging/logger.ts";
import { canonicalAddress } from "../../model/address.ts";
import { readRegularFile, utf8Text } from "../../model/regular_file.ts";
import { ifValidDn, parseName } from "../../model/distinguished_name.ts";
import { messageOf } from "../../model/text.ts";
import { CommandFailed, type CommandIo, defineCommand, type Given, WrongUsage } from "../command.ts";
import { explain, type ExplainedCaller, type Explanation } from "../../service/explanation/explain.ts";
import { configFile, unusableConfiguration } from "../config_option.ts";
import { explanationText } from "./explanation_text.ts";
import { listAt, numberAt, textAt } from "../running/answer.ts";
import { askRunning, SERVICE_OPTIONS } from "../running/ask_running.ts";
import type { Ban } from "../../throttling/ban.ts";
import { inspect } from "./inspect.ts";
import { PassphraseNeeded, readPrivateKey, signToken, UnusablePrivateKey } from "./ssh/private_key.ts";

const BANS_MS = 5000;

/** Command `authserver whoami-test`: explains whether a user can sign in. */
export const whoamiTestCommand = defineCommand({
  name: "whoami-test",
  summary: "Explain how the service authenticates and authorises a user",
  details: [
    "Uses the configuration and files of the service, and asks identity providers, attribute sources and daemons. The service need not run; if it runs, its bans and throttling apply. The command opens no session without --online, and its failures do not count as failed logins.",
    "Without --key, --certificate, --password or --token, the command skips authentication: the user is then a distinguished name, or a user name from a password or keys file.",
    "Exit status 0: a session is possible on the server (--server) or on at least one server; 1: no session is possible.",
  ],
  operands: { "user?": "User name or distinguished name; not needed with --token" },
  options: {
    ...SERVICE_OPTIONS,
    key: { value: "FILE", help: "Sign in with a token signed by this private SSH key" },
    password: { help: "Sign in with a password (prompt)" },
    token: { value: "TEXT", help: "Sign in with this bearer token; - reads it from standard input" },
    certificate: { value: "FILE", help: "Simulate a login with the key of this OpenSSH certificate" },
    from: { value: "ADDRESS", default: "127.0.0.1", help: "Client address of the user" },
    server: { value: "NAME", help: "Server for the exit status" },
    online: { help: "Log in to each daemon as the account and its groups, and log out" },
  },
}, async (given, io) => {
  const user = given.operand("user?");
  const token = given.text("token");
  if (user === "" && token === undefined) throw new WrongUsage("Expected <user>, or --token");
  const [from, server] = [given.text("from") ?? "", given.text("server")];
  const clientAddress = canonicalAddress(from);
  if (clientAddress === undefined) throw new WrongUsage(`--from: expected an IP address, found ${from}`);
  const proofs = [given.text("key"), given.text("certificate"), token].filter((proof) => proof !== undefined);
  if (proofs.length + Number(given.flag("password")) > 1) {
    throw new WrongUsage("Expected only one of --key, --certificate, --password and --token");
  }
  const file = await configFile(given);
  const { snapshot, diagnostics } = await inspect(file);
  if (snapshot === undefined) throw unusableConfiguration(file, diagnostics);
  const { servers, site } = snapshot.config;
  if (server !== undefined && !servers.some(({ name }) => name === server)) {
    throw new CommandFailed(
      `There is no server ${server}, expected one of ${servers.map(({ name }) => name)}`,
    );
  }
  const credentials = await credentialsOf(user, given, io);
  const log = createLogger((line) => io.stderr(`${line}\n`), { threshold: "warn" });
  const explanation = await explain({ ...snapshot, generation: 1, upSince: Date.now(), port: site.port }, {
    caller: { ...credentials, clientAddress },
    server,
    online: given.flag("online"),
    bans: await runningBans(given),
  }, { log, clock: Date.now });
  return {
    value: withoutMaps(explanation),
    text: explanationText(explanation),
    status: explanation.refusal === undefined ? 0 : 1,
  };
});

/** @returns `undefined` if no service runs. */
async function runningBans(given: Parameters<typeof askRunning>[0]): Promise<readonly Ban[] | undefined> {
  const answer = await askRunning(given, { command: "ban list" }, BANS_MS)
    .catch(onError(CommandFailed, () => undefined));
  if (answer === undefined) return undefined;
  return listAt(answer, "bans").flatMap((ban): Ban[] => {
    const [reason, until] = [textAt(ban, "reason"), Date.parse(textAt(ban, "until") ?? "")];
    if (Number.isNaN(until) || (reason !== "operator" && reason !== "passwords" && reason !== "tokens")) {
      return [];
    }
    const names = listAt(ban, "names").filter((name) => typeof name === "string");
    const failures = numberAt(ban, "failures") ?? 0;
    return [{ user: textAt(ban, "user"), address: textAt(ban, "address"), names, reason, until, failures }];
  });
}

async function credentialsOf(
  user: string,
  given: Given<"key" | "certificate" | "password" | "token", never>,
  io: CommandIo,
): Promise<Omit<ExplainedCaller, "clientAddress">> {
  const [key, certificate, typed] = [given.text("key"), given.text("certificate"), given.text("token")];
  if (key !== undefined) {
    return { authorization: `Bearer ${signToken(user, await readKey(key, io), Date.now())}` };
  }
  if (certificate !== undefined) {
    return { login: user, certificate: await readText(certificate, "certificate") };
  }
  if (given.flag("password")) {
    if (user.includes(":")) throw new CommandFailed("A user name cannot contain a colon");
    const password = await secret("Password: ", io);
    return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
  }
  if (typed !== undefined) {
    const token = (typed === "-" ? await firstLine(io) : typed).trim();
    if (!/^[!-~]+$/.test(token)) {
      throw new CommandFailed("Expected a token without blanks and of ASCII letters");
    }
    return { authorization: `Bearer ${token}` };
  }
  return (ifValidDn(() => parseName(user)) ?? []).length > 0 ? { dn: user } : { login: user };
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return utf8Text(await readRegularFile(file), file);
  } catch (cause) {
    throw new CommandFailed(`The ${what} in ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

async function readKey(file: string, io: CommandIo): Promise<KeyObject> {
  const text = await readText(file, "key");
  try {
    return await readPrivateKey(text);
  } catch (error) {
    if (!(error instanceof PassphraseNeeded)) throw unusable(file, error);
  }
  try {
    return await readPrivateKey(text, await secret(`Passphrase of ${file}: `, io));
  } catch (error) {
    throw unusable(file, error);
  }
}

function unusable(file: string, error: unknown): unknown {
  if (!(error instanceof UnusablePrivateKey || error instanceof PassphraseNeeded)) return error;
  return new CommandFailed(`The key in ${file} cannot be used: ${error.message}`, { cause: error });
}

async function secret(question: string, io: CommandIo): Promise<string> {
  return await io.askSecret(question) ?? await firstLine(io);
}

async function firstLine(io: CommandIo): Promise<string> {
  const [line = ""] = (await io.readInput()).split(/\r?\n/);
  return line;
}

function withoutMaps(explanation: Explanation): unknown {
  const text = JSON.stringify(
    explanation,
    (_key, value: unknown) => value instanceof Map ? Object.fromEntries(value) : value,
  );
  return JSON.parse(text);
}
