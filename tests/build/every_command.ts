import assert from "node:assert/strict";
import { allCommands } from "../../src/command/run_command.ts";
import { documented, type DocumentedCommand, leavesOf } from "../../bin/docs/documented_command.ts";
import { jsonDifferences } from "./json_differences.ts";
import { ALICE, ALICE_DN, type Setting } from "../system/running_service.ts";

const COMMANDS = await allCommands();

/** Exit status and output of a command. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `authserver` in the folder of an installation. */
export type RunCommand = (args: readonly string[], input?: string) => Promise<Ran>;

/** Form of output; replaces `{pass}` in a trial. */
type Pass = "text" | "json";

/** Share in the form of the Java service's table. */
const SHARES = JSON.stringify([{
  id: "f2a41c6e9b7d4a5c8e10",
  server: "HPC",
  path: "/data/results.txt",
  ownerID: ALICE_DN,
  uid: "alice",
  targetID: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN",
}]);

/** Site with data for every command. */
export const EVERYTHING: Setting = {
  properties: {
    "share.servers": "HPC",
    "persistence.directory": "{folder}/data",
    "authservice.server.HPC.reservations.enable": "true",
    "authservice.server.HPC.reservations.file": "{folder}/conf/reservations.json",
  },
  files: { "conf/reservations.json": '{"reservations": []}\n', "conf/shares.json": SHARES },
};

const SHARE = "f2a41c6e9b7d4a5c8e10";
const USERS = ["--file", "conf/users.txt"] as const;

interface Trial {
  readonly args: readonly string[];
  readonly input?: string;
  readonly says: RegExp;
  /** Present if the command lacks something here: it exits with 1 and reports it. */
  readonly lacks?: true;
}

/** Arguments, input and output of each command, ordered so that each can succeed. */
const TRIALS: readonly Trial[] = [
  { args: ["version"], says: /^authserver \d/ },
  { args: ["init", "--directory", "fresh-{pass}"], says: /fresh-text\/conf\/container\.properties/ },
  { args: ["migrate", ".", "--directory", "moved-{pass}"], says: /files copied .*[^]* valid: 0 errors/ },
  { args: ["status"], says: /^Servers:\n {2}HPC {2}up/m },
  { args: ["reload"], says: /generation 2/ },
  { args: ["check"], says: /is valid/ },
  { args: ["check", "--online"], says: /is valid/ },
  { args: ["check", "--permissions"], says: /net/ },
  { args: ["config", "schema"], says: /"patternProperties": \{/ }, // the longest output: first of its group
  { args: ["config", "show"], says: /container\.port/ },
  { args: ["whoami-test", ALICE_DN], says: /HPC/ },
  { args: ["ban", "add", "--user", "mallory"], says: /mallory banned until/ },
  { args: ["ban", "list"], says: /mallory/ },
  { args: ["ban", "remove", "--user", "mallory"], says: /mallory/ },
  { args: ["token", "list", "--user", ALICE[0]], says: /There (is|are) no tokens?|laptop/ },
  { args: ["token", "revoke", "--user", ALICE[0]], says: /User alice: \d tokens? revoked/ },
  { args: ["user", "show", ALICE[0]], says: /HPC/ },
  {
    args: ["passwd", "add", "bob", ...USERS, "--dn", "CN=Bob", "--stdin"],
    input: "a-long-pass-phrase-17",
    says: /bob/,
  },
  // MD5, as scrypt takes longer than all other commands together; 'add' computes it.
  { args: ["passwd", "change", "bob", ...USERS, "--md5", "--stdin"], input: "pass-phrase-18", says: /bob/ },
  { args: ["passwd", "verify", "bob", ...USERS, "--stdin"], input: "pass-phrase-18", says: /bob/ },
  { args: ["passwd", "list", ...USERS], says: /bob/ },
  { args: ["passwd", "remove", "bob", ...USERS], says: /bob/ },
  { args: ["share", "import", "conf/shares.json"], says: /1 share imported/ },
  { args: ["share", "list"], says: /results\.txt/ },
  { args: ["share", "show", SHARE], says: /results\.txt/ },
  { args: ["share", "chown", SHARE, "--owner", "CN=Bob", "--uid", "bob"], says: /belongs to cn=bob/i },
  { args: ["share", "remove", SHARE], says: /deleted/ },
  { args: ["database", "migrate"], says: /chooses no PostgreSQL/, lacks: true },
  { args: ["database", "import"], says: /chooses no PostgreSQL/, lacks: true },
  { args: ["backup", "backup-{pass}"], says: /files of version .* copied to .*backup-text/ },
  { args: ["restore", "backup-{pass}"], says: /Expected --replace/, lacks: true },
  { args: ["completion", "bash"], says: /authserver/ },
];

/** Runs a command to its end. @param input Standard input of the command. */
export async function runToEnd(command: Deno.Command, input = ""): Promise<Ran> {
  const child = command.spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input)).catch(() => {}); // the command may end without reading
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

/** Runs every command except `serve`, which runs the service meanwhile. */
export async function tryEveryCommand(run: RunCommand): Promise<void> {
  assert.deepEqual(missing(), [], "every command has a trial");
  for (const pass of ["text", "json"] as const) {
    for (const trial of TRIALS) await tryOne(trial, pass, run);
  }
}

async function tryOne({ args, input, says, lacks }: Trial, pass: Pass, run: RunCommand): Promise<void> {
  const words = [...args, ...pass === "json" ? ["--json"] : []].map((word) => word.replace("{pass}", pass));
  const { code, out, err } = await run(words, input);
  const all = `authserver ${words.join(" ")}\n${out}${err}`;
  assert.equal(code, lacks ? 1 : 0, all);
  assert.doesNotMatch(err, /NotCapable|Uncaught|\n {4}at /, all);
  if (lacks) assert.match(err, says, all);
  else if (pass === "text") assert.match(out, says, all);
  else assert.deepEqual(jsonDifferences(JSON.parse(out), specOf(args).json), [], all);
}

/** Returns the name of the command in these arguments. */
function specOf(args: readonly string[]): DocumentedCommand {
  const spec = leaves().find(({ name }) => `${args.join(" ")} `.startsWith(`${name} `));
  assert(spec, `no command is called by ${args.join(" ")}`);
  return spec;
}

function leaves(): readonly DocumentedCommand[] {
  return COMMANDS.flatMap(({ spec }) => leavesOf(documented(spec)));
}

/** Returns the names of commands without a trial. */
function missing(): string[] {
  return leaves().map(({ name }) => name).filter((name) =>
    name !== "serve" && !TRIALS.some(({ args }) => `${args.join(" ")} `.startsWith(`${name} `))
  );
}
