/**
 * Comparison of the daemon simulator with the real UFTPD from the checkout `UFTPD_CHECKOUT`: both get the
 * same requests, commands and sessions. Their answers may differ only in ports, folders and times.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { exchange } from "../daemon_simulator/command_client.ts";
import { startDaemon } from "../daemon_simulator/daemon.ts";
import { readAll, SessionClient } from "../daemon_simulator/session_client.ts";
import { hasProgram, lacking, run } from "./lacking.ts";
import { sessionAccount, startUftpd } from "./uftpd.ts";

const PART = "UFTPD and its simulator";
const account = sessionAccount();
const NAME = account.username;
const MTIME = new Date("2024-03-04T05:06:07Z");

/** UFTPD or the simulator, with its own folder. */
interface Side extends AsyncDisposable {
  readonly commandPort: number;
  readonly port: number;
  readonly folder: string;
}

/** Line of a session; an object opens a data connection first, and sends `send` over it. */
type Step = string | { readonly line: string; readonly send?: string };

/** Session: values of its announcement, and its lines. `FOLDER` stands for the folder of the side. */
interface Dialogue {
  readonly values: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

const checkout = Deno.env.get("UFTPD_CHECKOUT");
if (checkout === undefined) lacking(PART, "set UFTPD_CHECKOUT to a checkout of UFTPD");
else if (!await hasProgram("python3")) lacking(PART, "install python3");
else {
  Deno.test(`${PART} answer requests on the command socket alike`, async () => {
    await using sides = await bothSides(checkout);
    await compare(sides, REQUESTS, request);
  });
  Deno.test(`${PART} answer logins alike`, async () => {
    await using sides = await bothSides(checkout);
    await compare(sides, LOGINS, dialogue);
  });
  Deno.test(`${PART} answer commands of sessions alike`, async () => {
    await using sides = await bothSides(checkout);
    await compare(sides, SESSIONS, dialogue);
  });
}

async function bothSides(uftpd: string) {
  const options = { settings: { MAX_CONNECTIONS: "100000" }, folder: await newFolder() };
  const daemon = await startUftpd(uftpd, options);
  const real = { port: daemon.port, commandPort: daemon.commandPort, folder: options.folder };
  const simulator = await startDaemon({
    version: "DEV",
    cryptography: await run("python3", ["-c", "import Crypto"]).then(() => true, () => false),
    maxSessions: 100_000,
    users: {
      [NAME]: { uid: account.uid, home: account.homedir ?? "/", groups: [await groupName(account.gid)] },
      root: { uid: 0, home: "/root", groups: ["root"] },
    },
  });
  const made = { port: simulator.listenPort, commandPort: simulator.commandPort, folder: await newFolder() };
  return {
    real,
    made,
    async [Symbol.asyncDispose]() {
      await simulator[Symbol.asyncDispose]();
      await daemon[Symbol.asyncDispose]();
      await Promise.all([real, made].map(({ folder }) => Deno.remove(folder, { recursive: true })));
    },
  };
}

/** Creates a folder with files of the account, all with the same modification time. */
async function newFolder(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-twin-" });
  const files = {
    "pub/ten.txt": "0123456789",
    "pub/sub/x.dat": "x",
    "pub/a b.txt": "ab",
    "pub2/secret.txt": "s",
  };
  for (const path of ["pub", "pub/sub", "pub/empty", "pub2"]) await Deno.mkdir(`${folder}/${path}`);
  for (const [path, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${path}`, text);
  await Deno.symlink("ten.txt", `${folder}/pub/link.txt`);
  const all = [...Object.keys(files), "pub/sub", "pub/empty", "pub2", "pub", ""];
  for (const path of all) {
    const full = `${folder}/${path}`;
    if (Deno.uid() === 0) await Deno.chown(full, account.uid, account.gid);
    // Writable for all accounts: the simulator works as the user of the test.
    await Deno.chmod(full, path in files ? 0o666 : 0o777);
    await Deno.utime(full, MTIME, MTIME);
  }
  return folder;
}

async function groupName(gid: number): Promise<string> {
  const lines = (await Deno.readTextFile("/etc/group")).split("\n").map((line) => line.split(":"));
  return lines.find(([, , id]) => id === String(gid))?.[0] ?? "users";
}

type Place = Omit<Side, keyof AsyncDisposable>;

/** Requests and replies. */
type Answers = readonly (readonly [asked: string, reply: string])[];

/** Sends each item to both sides and compares the replies. */
async function compare<T>(
  { real, made }: { readonly real: Place; readonly made: Place },
  items: readonly T[],
  ask: (side: Place, item: T, id: number) => Promise<Answers>,
): Promise<void> {
  let replies = 0;
  const differences: string[] = [];
  for (const [id, item] of items.entries()) {
    const [ofReal, ofMade] = await Promise.all([ask(real, item, id), ask(made, item, id)]);
    replies += ofReal.length;
    for (let i = 0; i < Math.max(ofReal.length, ofMade.length); i++) {
      const [[asked, reply], [, other]] = [ofReal[i] ?? ["nothing", ""], ofMade[i] ?? ["nothing", ""]];
      if (reply !== other) differences.push(`${asked}\n  real:      ${reply}\n  simulator: ${other}`);
    }
  }
  console.log(`${replies} replies compared`);
  assert.equal(differences.length, 0, differences.slice(0, 60).join("\n"));
}

/** Returns a reply without parts that differ in each run: folders, ports, and times of new files. */
function plain(text: string, { folder, port }: Place): string {
  return text.replaceAll(folder, "FOLDER").replaceAll(String(port), "PORT")
    .replace(/\|\|\|\d+\|/, "|||PORT|").replace(/,\d+,\d+\)/, ",PORT)")
    .replace(/modify=(?!20240304)\d{14}/g, "modify=NOW").replace(/(?<= )17[4-9]\d{10}(?= )/g, "NOW")
    .split("\n").map((line) => line.trimEnd()).join("\n");
}

async function request(side: Place, text: string): Promise<Answers> {
  const { reply, end } = await exchange({ port: side.commandPort }, text.replaceAll("FOLDER", side.folder));
  return [[JSON.stringify(text.slice(0, 200)), plain(reply, side)], [`the end of ${text.slice(0, 40)}`, end]];
}

async function dialogue(side: Place, { values, steps }: Dialogue, id: number): Promise<Answers> {
  const secret = `secret${id}`;
  const all = { "client-ip": "127.0.0.1", user: NAME, secret, file: "FOLDER/pub/", ...values };
  const lines = Object.entries(all).map(([key, value]) => `${key}=${value}`);
  const answers = [...await request(side, ask(TRANSFER, ...lines))];
  const client = await SessionClient.connect(side.port);
  const patient = maxWait(client);
  const about = JSON.stringify(values);
  const take = (what: string, reply: string) =>
    answers.push([`${about} ${what}`, sorted(plain(reply, side))]);
  try {
    take("login", await patient(() => client.logIn(secret)));
    for (const step of steps) {
      if (answers.at(-1)?.[1].includes("<end>")) break;
      if (typeof step !== "string") take(step.line, await patient(() => withData(client, side, step)));
      else take(step, await patient(() => client.command(step.replaceAll("FOLDER", side.folder))));
    }
  } finally {
    client.close();
  }
  return answers;
}

/** Sorts the lines of a list, which arrive in the order of the disk. */
function sorted(reply: string): string {
  const [first = "", ...rest] = reply.split("\n");
  const last = rest.pop();
  return last === undefined ? first : [first, ...rest.sort(), last].join("\n");
}

/** Limits the wait for a reply: a side may stay silent. */
function maxWait(client: SessionClient) {
  return async (ask: () => Promise<string>): Promise<string> => {
    const timer = setTimeout(() => client.close(), 10_000);
    try {
      return await ask();
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Sends a command with a data connection, and returns its replies and the received data. */
async function withData(
  client: SessionClient,
  { folder }: Place,
  { line, send }: Exclude<Step, string>,
): Promise<string> {
  const announced = await client.command("EPSV");
  const port = /\|\|\|(\d+)\|/.exec(announced)?.[1];
  if (port === undefined) return announced;
  const data = connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: false });
  await once(data, "connect");
  const first = await client.command(line.replaceAll("FOLDER", folder));
  if (!first.startsWith("150")) {
    data.destroy();
    return first;
  }
  if (send !== undefined) data.end(send);
  const got = send === undefined ? await readAll(data) : "";
  return [first, ...got.split("\n").sort(), await client.reply()].join("\n");
}

const ask = (type: string, ...lines: readonly string[]) =>
  `${[`request-type=${type}`, ...lines].map((line) => `${line}\n`).join("")}END\n`;
const TRANSFER = "uftp-transfer-request";
const INFO = "uftp-get-user-info-request";

const REQUESTS: readonly string[] = [
  ask("uftp-ping-request"),
  ask("uftp-ping-request", "x=y", "no equals sign", "=", "==", " k = v "),
  "END\n",
  "ENDE\n",
  "\nEND of it\n",
  ask("x"),
  ask("uftp-ping-request", "request-type=y"),
  ask(" uftp-ping-request "),
  "request-type=uftp-ping-request\r\nEND\r\n",
  "request-type=uftp-ping-request\rEND\n",
  `${"x".repeat(9000)}=1\nrequest-type=uftp-ping-request\nEND\n`,
  `k=${"x".repeat(8189)}END\nrequest-type=uftp-ping-request\nEND\n`,
  ...[NAME, ` ${NAME} `, "root", " root", "no-such-account", "", "a b", "a/b", "é"].map((user) =>
    ask(INFO, `user=${user}`)
  ),
  ask(INFO),
  ask(INFO, "user=root", `user=${NAME}`),
  ask(TRANSFER),
  ask(TRANSFER, `user=${NAME}`),
  ask(TRANSFER, "secret=x"),
  ...["", "root", "no-such-account", "a b", "é"].map((user, i) =>
    ask(TRANSFER, `user=${user}`, `secret=user${i}`, "client-ip=127.0.0.1")
  ),
  ask(TRANSFER, `user=${NAME}`, "secret=same"),
  ask(TRANSFER, `user=${NAME}`, "secret=same"),
  ask(TRANSFER, "user=root", "secret=same"),
  ask(TRANSFER, `user=${NAME}`, "secret=a", "secret=b"),
  ask(TRANSFER, `user=${NAME}`, "secret=a"),
  ask(TRANSFER, `user=${NAME}`, "secret=b"),
  ...["group=", "group=a:b:c", "persistent=maybe", "streams=x", "rateLimit=x", "compress=x", "file", "key=A"]
    .map((
      line,
      i,
    ) => ask(TRANSFER, `user=${NAME}`, `secret=line${i}`, line)),
];

const ANNOUNCED: readonly Readonly<Record<string, string>>[] = [
  {},
  { user: "no-such-account" },
  { user: "root" },
  { group: "no-such-group" },
  { group: "" },
  { group: "NONE" },
  { group: "NONE:no-such-group" },
  { group: "DEFAULT_GID" },
  { file: "/no/such/folder/" },
  { file: "FOLDER/pub/ten.txt" },
  { file: "" },
  { file: "FOLDER/pub/../pub2/" },
  { includes: "/etc/*" },
  { excludes: "/etc/*" },
  { includes: "FOLDER/pub/*" },
  { rateLimit: "10M" },
  { rateLimit: "-1" },
  { streams: "" },
  { streams: "100" },
  { streams: "0" },
  { compress: "true" },
  { "client-ip": "" },
  { "client-ip": "192.0.2.1" },
  { "client-ip": "192.0.2.1,127.0.0.1" },
  { "client-ip": "192.0.2.1, 127.0.0.1" },
  { "access-permissions": "none" },
  { persistent: "TRUE" },
];
const LOGINS: readonly Dialogue[] = ANNOUNCED.map((values) => ({
  values,
  steps: ["NOOP", "PWD", "SYST", "FEAT", "OPTS X", "QUIT"],
}));

const PATHS = [
  "",
  ".",
  "/",
  "..",
  "ten.txt",
  "./ten.txt",
  " ten.txt",
  "ten.txt ",
  "link.txt",
  "a b.txt",
  "sub",
  "sub/",
  "sub/x.dat",
  "sub/../ten.txt",
  "empty",
  "missing",
  "missing/x",
  "ten.txt/x",
  "*.txt",
  "FOLDER/pub/ten.txt",
  "FOLDER/pub",
  "FOLDER/pub2/secret.txt",
  "../pub2/secret.txt",
  "/etc/passwd",
];

/** Commands with a path that change nothing. */
const READING = ["MLST", "STAT", "STAT N", "STAT F", "STAT x", "HASH", "RNFR", "SIZE"];
const LEVELS = ["NONE", "INFO", "READ", "WRITE", "FULL"];
const LIMITS: readonly Readonly<Record<string, string>>[] = [
  { includes: "FOLDER/pub/ten.txt" },
  { includes: "FOLDER/pub/sub/*:ten*" },
  { excludes: "FOLDER/pub/sub/*" },
  { excludes: "*.txt", includes: "FOLDER/pub/*" },
  { file: "" },
];

const SESSIONS: readonly Dialogue[] = [
  ...READING.flatMap((command) => [
    { values: {}, steps: [command, ...PATHS.map((path) => `${command} ${path}`)] },
    ...LEVELS.slice(0, 4).map((level) => ({
      values: { "access-permissions": level },
      steps: [`${command} ten.txt`, `${command} missing`, `${command} ../pub2`],
    })),
    ...LIMITS.slice(0, 4).map((values) => ({ values, steps: PATHS.map((path) => `${command} ${path}`) })),
  ]),
  ...["CWD", "CDUP"].map((command) => ({
    values: {},
    steps: PATHS.flatMap((path) => [`${command} ${path}`, "PWD"]),
  })),
  ...LIMITS.map((values) => ({ values, steps: ["CWD sub", "PWD", "CDUP", "PWD", "CDUP", "MLST x.dat"] })),
  ...LEVELS.map((level) => ({
    values: { "access-permissions": level, file: "FOLDER/pub/" },
    steps: [
      "PWD",
      "CWD sub",
      "CDUP",
      "MKD new",
      "MKD new",
      "MKD missing/new",
      "RNFR new",
      "RNTO newer",
      "RNTO newest",
      "RMD newer",
      "RMD missing",
      "RMD ten.txt",
      "DELE missing",
      "DELE sub",
      "MFMT 20200102030405 ten.txt",
      "MFMT 20200102030405 missing",
      "MFMT x ten.txt",
      "MFMT 20240304050607",
      "ALLO 5",
      "ALLO",
      "ALLO x",
      "MLST ten.txt",
      "HASH ten.txt",
    ],
  })),
  {
    values: {},
    steps: [
      "noop",
      "NOOP 1",
      "NOOP 3",
      "NOOP 99",
      "NOOP 0",
      "NOOP -1",
      "NOOP x",
      "TYPE",
      "TYPE I",
      "TYPE ARCHIVE",
      "TYPE NORMAL",
      "KEEP-ALIVE",
      "KEEP-ALIVE true",
      "OPTS",
      "OPTS HASH",
      "OPTS HASH SHA-512",
      "OPTS HASH none",
      "OPTS x y z",
      "opts hash md5",
      "FEAT",
      "SYST",
      "syst x",
      "RANG",
      "RANG 1",
      "RANG 1 0",
      "RANG 2 5",
      "RANG x y",
      "RANG 5 2",
      "RANG -1 2",
      "REST",
      "REST 3",
      "REST x",
      "REST -1",
      "REST 0",
      "EPSV ALL",
      "HELP",
      "USER anonymous",
      "PASS x",
      "X".repeat(3000),
      "LIST -a -b",
      "PWD x",
      "BYE",
    ],
  },
  ...[["RANG 2 5", "HASH ten.txt"], ["REST 4", "HASH ten.txt", "HASH sub/x.dat"], [
    "RANG 5 100",
    "HASH ten.txt",
  ]]
    .map((steps) => ({ values: {}, steps })),
  ...[
    "LIST",
    "LIST .",
    "LIST -a",
    "LIST sub",
    "LIST missing",
    "LIST ten.txt",
    "LIST ..",
    "MLSD",
    "MLSD sub",
    "MLSD missing",
  ]
    .map((line) => ({ values: {}, steps: [{ line }, "NOOP"] })),
  ...["RETR ten.txt", "RETR missing", "RETR sub", "RETR ../pub2/secret.txt", "RETR link.txt", "RETR"]
    .flatMap((line) =>
      [[], ["RANG 2 5"], ["REST 4"]].map((before) => ({ values: {}, steps: [...before, { line }, "NOOP"] }))
    ),
  ...["NONE", "INFO"].map((level) => ({
    values: { "access-permissions": level },
    steps: [{ line: "LIST" }, { line: "RETR ten.txt" }, "NOOP"],
  })),
  ...["STOR up.txt", "STOR missing/up.txt", "STOR sub", "STOR ../pub2/up.txt", "STOR"].map((line) => ({
    values: {},
    steps: ["ALLO 4", { line, send: "1234" }, "MLST up.txt", "HASH up.txt"],
  })),
  { values: {}, steps: ["RANG 2 6", { line: "STOR up.txt", send: "abcd" }, "HASH up.txt", "DELE up.txt"] },
  { values: { "access-permissions": "READ" }, steps: [{ line: "STOR no.txt", send: "x" }, "MLST no.txt"] },
  {
    values: { includes: "FOLDER/pub/ten.txt" },
    steps: [{ line: "STOR no.txt", send: "x" }, { line: "LIST" }],
  },
];
