import { Buffer } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { createLogger } from "../../logging/logger.ts";
import { canonicalAddress } from "../../model/address.ts";
import { readRegularFile, utf8Text } from "../../model/regular_file.ts";
import { InvalidName, parseName } from "../../model/distinguished_name.ts";
import { CommandFailed, type CommandIo, defineCommand, tell } from "../command.ts";
import { WrongUsage } from "../arguments.ts";
import type { Explanation } from "../../service/explanation/explanation.ts";
import type { ExplainedCaller } from "../../service/explanation/explain.ts";
import { configFile, unusableConfiguration } from "../config_option.ts";
import { explanationText } from "./explanation_text.ts";
import { askRunning, SERVICE_OPTIONS } from "../running/ask_running.ts";
import { listAt, numberAt, textAt } from "../running/reply_value.ts";
import type { Ban } from "../../throttling/ban.ts";
import { NotRunning } from "../../workers/control/ask_service.ts";
import { inspect } from "./inspect.ts";
import { PassphraseNeeded, readPrivateKey, UnusablePrivateKey } from "./ssh/private_key.ts";
import { signToken } from "./ssh/sign_token.ts";

/** Members of `Explanation`. */
const EXPLANATION_MEMBERS = {
  "authenticators[]":
    "Methods of authentication in the order they are asked; none if authentication was left out",
  "authenticators[].authenticator?": "Name of the method",
  "authenticators[].outcome?":
    "accepted, refused, skipped (not its kind of credentials), failed or not asked",
  "authenticators[].reason?": "Why it refused or failed",
  "caller.dn?": "Distinguished name of the user",
  "caller.method?": "Method that recognised them; ASSUMED if authentication was left out",
  "caller.*?": "What else authentication knows: login, uid, role, groups, the token",
  "sources[].source?": "An attribute source, in the order they are asked",
  "sources[].entry.file?": "Where the entry is that is about this user",
  "sources[].entry.line?": "Counted from 1",
  "sources[].entry.key?": "Name or pattern, as written",
  "sources[].attributes.*[]?": "Values by attribute, the default first",
  "sources[].failure?": "Why it gave no answer",
  "sources[].elsewhere?": "true: the answer holds where the account that authentication found is not proven",
  "user.*?": "What the answers come to: role, uid, group, and what else is available",
  "mayAsk?": "Whether the role may ask for sessions",
  "servers[].server?": "A logical server, and what a session there would be",
  "servers[].refusal?": "Why there would be none",
  "servers[].requires?": "What it requires of logins; missing if every login will do",
  "servers[].uid?": "Unix account",
  "servers[].gid?": "Unix group",
  "servers[].availableGroups[]?": "Groups that the user may ask for",
  "servers[].rateLimit?": "Bytes per second; missing if there is no limit",
  "servers[].reservationLimit?": "How much of it reservations are the cause of",
  "servers[].includes?": "Patterns of the only paths that can be reached",
  "servers[].excludes?": "Patterns of paths that cannot",
  "servers[].reservations[]?": "Reservations that name the account",
  "bans[].user?":
    "Of the running service: a ban or waiting time that concerns the user; bans is missing if none answers",
  "bans[].address?": "IP address; of IPv6 a /64",
  "bans[].names[]?": "Of a ban by hand: distinguished names of the user",
  "bans[].reason": "passwords, tokens or operator (by hand)",
  "bans[].failures": "Failed logins that were counted",
  "bans[].until": "Time of the end, in milliseconds since 1970",
  "refusal?": "The first reason why no session would be opened; missing if one would",
} as const;

/** Milliseconds to wait for the bans of the running service. */
const BANS_MS = 5000;

/** Command `authserver whoami-test`: explains whether a user can sign in. */
export const whoamiTestCommand = defineCommand({
  name: "whoami-test",
  summary: "Explain step by step what the service makes of a user",
  details: [
    "Decides as the service does, with its configuration and files, and asks identity providers, attribute sources and daemons; the service need not run; where it does, its bans and waiting times count. Opens no session, and failures do not count as failed logins.",
    "Without --key, --certificate, --password and --token authentication is left out: the user is then a distinguished name, or a user name of a password or keys file.",
    "Exit status 0: a session would be opened, with --server on that server, otherwise on one of them; 1: none would.",
  ],
  examples: {
    "authserver whoami-test 'CN=Ann Example, O=Site'": "Account, groups and limits of a name on each server",
    "authserver whoami-test ann": "The same of whoever signs in by this name",
    "authserver whoami-test ann --password --server HPC":
      "Whether a user gets in with a password, and why not",
  },
  operands: { user: "User name, or distinguished name; not looked at with --token" },
  options: {
    ...SERVICE_OPTIONS,
    key: { value: "FILE", help: "Sign in with a token signed by this private SSH key" },
    password: { help: "Sign in with a password, which is asked for" },
    token: { value: "TEXT", help: "Sign in with this bearer token; - reads it from standard input" },
    certificate: { value: "FILE", help: "Take the key of this OpenSSH certificate to be proved" },
    from: { value: "ADDRESS", default: "127.0.0.1", help: "Address the user comes from" },
    server: { value: "NAME", help: "The server that counts" },
  },
  json: EXPLANATION_MEMBERS,
}, async (given, io) => {
  const user = given.operand("user");
  const [from, server] = [given.text("from") ?? "", given.text("server")];
  const clientAddress = canonicalAddress(from);
  if (clientAddress === undefined) throw new WrongUsage(`--from: expected an IP address, found ${from}`);
  const proof = proofOf({
    key: given.text("key"),
    certificate: given.text("certificate"),
    password: given.flag("password"),
    token: given.text("token"),
  });
  const file = await configFile(given);
  const { snapshot, diagnostics } = await inspect(file);
  if (snapshot === undefined) throw unusableConfiguration(file, diagnostics);
  const { servers, site } = snapshot.config;
  if (server !== undefined && !servers.some(({ name }) => name === server)) {
    throw new CommandFailed(
      `There is no server ${server}, expected one of ${servers.map(({ name }) => name)}`,
    );
  }
  const credentials = await credentialsOf(user, proof, io);
  const log = createLogger((line) => io.stderr(`${line}\n`), { threshold: "warn" });
  // Imported on use: the serving process loads all commands.
  const { explain } = await import("../../service/explanation/explain.ts");
  const explanation = await explain({ ...snapshot, generation: 1, upSince: Date.now(), port: site.port }, {
    caller: { ...credentials, clientAddress },
    server,
    bans: await runningBans(given),
  }, { log, clock: Date.now });
  tell(given, io, { value: withoutMaps(explanation), text: explanationText(explanation) });
  return explanation.refusal === undefined ? 0 : 1;
});

/** @returns `undefined` if no service runs. */
async function runningBans(given: Parameters<typeof askRunning>[0]): Promise<readonly Ban[] | undefined> {
  let answer: unknown;
  try {
    answer = await askRunning(given, { command: "ban list" }, BANS_MS);
  } catch (error) {
    if (error instanceof NotRunning || error instanceof CommandFailed) return undefined;
    throw error;
  }
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

type Proof =
  | { readonly kind: "key"; readonly file: string }
  | { readonly kind: "certificate"; readonly file: string }
  | { readonly kind: "password" }
  | { readonly kind: "token"; readonly text: string }
  | { readonly kind: "none" };

function proofOf(
  { key, certificate, password, token }: {
    readonly key: string | undefined;
    readonly certificate: string | undefined;
    readonly password: boolean;
    readonly token: string | undefined;
  },
): Proof {
  const proofs: Proof[] = [
    ...key === undefined ? [] : [{ kind: "key", file: key } as const],
    ...certificate === undefined ? [] : [{ kind: "certificate", file: certificate } as const],
    ...password ? [{ kind: "password" } as const] : [],
    ...token === undefined ? [] : [{ kind: "token", text: token } as const],
  ];
  const [proof, other] = proofs;
  if (other !== undefined) {
    throw new WrongUsage("Expected only one of --key, --certificate, --password and --token");
  }
  return proof ?? { kind: "none" };
}

async function credentialsOf(
  user: string,
  proof: Proof,
  io: CommandIo,
): Promise<Omit<ExplainedCaller, "clientAddress">> {
  switch (proof.kind) {
    case "key":
      return { authorization: `Bearer ${signToken(user, await readKey(proof.file, io), Date.now())}` };
    case "certificate":
      return { login: user, certificate: await readText(proof.file, "certificate") };
    case "password": {
      if (user.includes(":")) throw new CommandFailed("No user name has a colon in it");
      const password = await secret("Password: ", io);
      return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
    }
    case "token": {
      const token = (proof.text === "-" ? await firstLine(io) : proof.text).trim();
      if (!/^[!-~]+$/.test(token)) {
        throw new CommandFailed("Expected a token without blanks and of ASCII letters");
      }
      return { authorization: `Bearer ${token}` };
    }
    case "none":
      return isName(user) ? { dn: user } : { login: user };
  }
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return utf8Text(await readRegularFile(file), file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandFailed(`The ${what} in ${file} cannot be read: ${reason}`, { cause });
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

/** Prompts at a terminal; else reads standard input. */
async function secret(question: string, io: CommandIo): Promise<string> {
  return await io.askSecret(question) ?? await firstLine(io);
}

async function firstLine(io: CommandIo): Promise<string> {
  const [line = ""] = (await io.readInput()).split(/\r?\n/);
  return line;
}

function isName(text: string): boolean {
  try {
    return parseName(text).length > 0;
  } catch (error) {
    if (error instanceof InvalidName) return false;
    throw error;
  }
}

/** Converts maps for JSON. */
function withoutMaps(explanation: Explanation): unknown {
  const text = JSON.stringify(
    explanation,
    (_key, value: unknown) => value instanceof Map ? Object.fromEntries(value) : value,
  );
  return JSON.parse(text);
}
