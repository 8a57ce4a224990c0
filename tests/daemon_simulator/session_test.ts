import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { once } from "node:events";
import { exchange } from "./command_client.ts";
import { type DaemonOptions, type DaemonSimulator, startDaemon } from "./daemon.ts";
import { readAll, SessionClient } from "./session_client.ts";
import type { SessionFault } from "./session_fault.ts";

const MTIME = new Date("2026-03-04T05:06:07Z");

/** Daemon whose home directory holds a few files, as in the dialogues of daemon-protocol.md 5.5 to 5.9. */
class Site implements AsyncDisposable {
  private constructor(readonly daemon: DaemonSimulator, readonly home: string) {}

  static async open(options: DaemonOptions = {}): Promise<Site> {
    const home = await Deno.realPath(await Deno.makeTempDir());
    await Deno.mkdir(`${home}/pub/sub`, { recursive: true });
    await Deno.mkdir(`${home}/pub2`);
    await Deno.writeTextFile(`${home}/pub2/secret.txt`, "sibling");
    await Deno.writeTextFile(`${home}/pub/ten.txt`, "0123456789");
    await Deno.writeTextFile(`${home}/pub/sub/x.dat`, "x");
    await Deno.utime(`${home}/pub/ten.txt`, MTIME, MTIME);
    const users = {
      alice: { uid: 1001, home, groups: ["users", "hpc"] },
      bob: { uid: 1002, home: `${home}/nowhere`, groups: ["guests"] },
      toor: { uid: 0, home, groups: ["root"] },
    };
    return new Site(await startDaemon({ users, timeZone: "UTC", ...options }), home);
  }

  /** Announces a session of alice with the secret `s`. */
  async announce(values: Record<string, string> = {}): Promise<string> {
    const all = { user: "alice", secret: "s", "client-ip": "127.0.0.1", ...values };
    const lines = Object.entries({ "request-type": "uftp-transfer-request", ...all });
    const request = `${lines.map(([key, value]) => `${key}=${value}\n`).join("")}END\n`;
    return (await exchange({ port: this.daemon.commandPort }, request)).reply;
  }

  connect(): Promise<SessionClient> {
    return SessionClient.connect(this.daemon.listenPort);
  }

  /** Announces a session and logs in. */
  async session(values: Record<string, string> = {}): Promise<SessionClient> {
    assert.match(await this.announce({ file: `${this.home}/pub/`, ...values }), /^OK/);
    const client = await this.connect();
    assert.equal(await client.logIn("s"), "230 Login successful");
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon[Symbol.asyncDispose]();
    await Deno.remove(this.home, { recursive: true });
  }
}

/** Announces a session and logs in. @returns The replies to the password and to `NOOP`. */
async function login(values: Record<string, string>, options: DaemonOptions = {}): Promise<[string, string]> {
  await using site = await Site.open(options);
  assert.match(await site.announce(values), /^OK/);
  const client = await site.connect();
  const reply = await client.logIn("s");
  return [reply, await client.command("NOOP")];
}

const LOGINS: readonly [fact: string, values: Record<string, string>, reply: RegExp, then: string][] = [
  ["of an account", {}, /^230 Login successful$/, "200 OK"],
  [
    "of an unknown account",
    { user: "eve" },
    /^530 Not logged in: Attempted to select unknown user 'eve'$/,
    "<end>",
  ],
  ["of uid 0", { user: "toor" }, /^530 Not logged in: Attempted to select 'root'$/, "<end>"],
  ["with a group of the account", { group: "hpc" }, /^230/, "200 OK"],
  ["with NONE as group", { group: "NONE:nonsense" }, /^230/, "200 OK"],
  ["with the default group", { group: "DEFAULT_GID" }, /^230/, "200 OK"],
  [
    "with an unknown group",
    { group: "x" },
    /^530 Not logged in: Attempt to run a task with an unknown primary group: x$/,
    "<end>",
  ],
  ["with an empty group", { group: "" }, /^530 .*unknown primary group: $/, "<end>"],
  [
    "with an unknown further group",
    { group: "hpc:x" },
    /^530 .*Attempt to run a task with an unknown supplementary group x$/,
    "<end>",
  ],
  [
    "with a group of another account",
    { group: "guests" },
    /^530 .*The user alice is not a member of the group guests$/,
    "<end>",
  ],
  ["with a directory that is missing", { file: "/no/such/" }, /^230/, "<end>"],
  ["with a pattern outside the base", { file: "/tmp/", includes: "/etc/*" }, /^230/, "<end>"],
  ["with a rate limit that is no integer", { rateLimit: "10M" }, /^230/, "<end>"],
  ["with an empty number of streams", { streams: "" }, /^230/, "<end>"],
  ["with a key that is not base64", { key: "AAA" }, /^230/, "<end>"],
  [
    "from a foreign address",
    { "client-ip": "192.0.2.1,::1" },
    /'alice' from 127\.0\.0\.1, allowed: \['192\.0\.2\.1', '::1'\]$/,
    "<end>",
  ],
  [
    "from an address with a space before",
    { "client-ip": "192.0.2.1, 127.0.0.1" },
    /^500 Error establishing/,
    "<end>",
  ],
  ["from one of several addresses", { "client-ip": "192.0.2.1,127.0.0.1" }, /^230/, "200 OK"],
];
for (const [fact, values, reply, then] of LOGINS) {
  Deno.test(`A login ${fact} is answered as by a real daemon`, async () => {
    const [first, second] = await login(values);
    assert.match(first, reply);
    assert.equal(second, then);
  });
}

Deno.test("A login on a dual-stack listener needs the mapped address", async () => {
  const options = { listenHost: "::" };
  assert.match((await login({}, options))[0], /from ::ffff:127\.0\.0\.1, allowed/);
  assert.match((await login({ "client-ip": "127.0.0.1,::ffff:127.0.0.1" }, options))[0], /^230/);
});

Deno.test("A login without address check needs no announced address", async () => {
  assert.match((await login({ "client-ip": "" }, { ipCheck: false }))[0], /^230/);
});

const GREETINGS: readonly [lines: readonly string[], replies: readonly string[]][] = [
  [["SYST", "USER anonymous"], ["215 Unix Type: L8", "331 Please specify the password"]],
  [["USER alice"], ["500 Protocol error", "<end>"]],
  [["user anonymous"], ["500 Protocol error", "<end>"]],
  [["FEAT"], ["500 Protocol error", "<end>"]],
  [[""], ["500 Protocol error", "<end>"]],
  [["SYST", "SYST"], [
    "215 Unix Type: L8",
    "500 Error establishing connection: list.remove(x): x not in list",
    "<end>",
  ]],
  [["USER anonymous", "pass s"], ["331 Please specify the password", "500 Protocol error", "<end>"]],
  [["USER anonymous", "PASS"], ["331 Please specify the password", "500 Protocol error", "<end>"]],
  [["USER anonymous", "PASS anonymous"], ["331 Please specify the password", "500 Protocol error", "<end>"]],
  [["USER anonymous", "USER s"], ["331 Please specify the password", "230 Login successful"]],
  [
    ["USER anonymous", "PASS wrong"],
    ["331 Please specify the password", "530 Not logged in: no matching transfer request found", "<end>"],
  ],
];
for (const [lines, expected] of GREETINGS) {
  Deno.test(`The login dialogue answers ${JSON.stringify(lines)}`, async () => {
    await using site = await Site.open();
    await site.announce();
    const client = await site.connect();
    assert.equal(await client.reply(), "220 UFTPD 3.5.3, https://www.unicore.eu");
    const replies = await client.commands(...lines);
    if (expected.length > replies.length) replies.push(await client.reply());
    assert.deepEqual(replies, expected);
  });
}

Deno.test("A secret is valid once; the sweep after the session frees its slot", async () => {
  let now = 1_700_000_000_000;
  await using site = await Site.open({ clock: () => now, maxSessions: 1 });
  const first = await site.session();
  const again = await site.connect();
  assert.equal(await again.logIn("s"), "500 Session for these credentials is already running");
  assert.equal(await first.command("QUIT"), "<end>");
  await until(() => site.daemon.sessions[0]?.ended, { everyMs: 1 });
  now += 4999;
  assert.match(await site.announce({ secret: "t" }), /^ERROR::Too many active sessions for 'alice'/);
  now += 1;
  const late = await site.connect();
  assert.match(await late.logIn("s"), /^530 .*no matching/);
  assert.match(await site.announce({ secret: "t" }), /^OK/);
});

Deno.test("A persistent secret is valid for several concurrent sessions, up to the limit", async () => {
  await using site = await Site.open({ maxSessions: 2 });
  await site.session({ persistent: "TRUE" });
  const second = await site.connect();
  assert.match(await second.logIn("s"), /^230/);
  const third = await site.connect();
  assert.equal(
    await third.logIn("s"),
    "500 Too many active transfer requests / sessions for 'alice' - server limit is 2",
  );
});

Deno.test("A wrong address does not consume a secret, a refused account does", async () => {
  await using site = await Site.open();
  await site.announce({ user: "eve" });
  for (const expected of [/^530 .*unknown user/, /^500 Session for these credentials is already running/]) {
    assert.match(await (await site.connect()).logIn("s"), expected);
  }
  await site.announce({ secret: "t", "client-ip": "192.0.2.1" });
  for (let turn = 0; turn < 2; turn++) {
    assert.match(await (await site.connect()).logIn("t"), /^500 .*Rejecting/);
  }
});

Deno.test("MLST, STAT, PWD and similar commands answer as documented", async () => {
  await using site = await Site.open();
  const client = await site.session();
  const base = `${site.home}/pub`;
  await Deno.chmod(`${base}/ten.txt`, 0o644);
  assert.deepEqual(
    await client.commands(
      "MLST ten.txt",
      "mlst nope",
      "STAT F ten.txt",
      "PWD",
      "SIZE ten.txt",
      "SIZE nope",
      "ABOR",
    ),
    [
      `250- Listing ${base}/ten.txt\n size=10;modify=20260304050607;type=file;perm=rw;UNIX.mode=100644; ten.txt\n250 End`,
      "550 Error processing command 'MLST': Directory/file does not exist or cannot be accessed!",
      "211- Sending file list\n -rw- 10 1772600767000 ten.txt\n211 End of file list",
      `257 "${base}"`,
      "500 Error processing command 'SIZE': Connector.write_message() got an unexpected keyword argument 'msg'",
      "550 Error processing command 'SIZE': Directory/file does not exist or cannot be accessed!",
      "502 Command not implemented.",
    ],
  );
  assert.match(await client.command("MLST sub"), /type=dir;perm=lwe;UNIX\.mode=40755; sub\n/);
  assert.match(await client.command("STAT N ."), /\n drwx \d+ \d+ sub\n/);
  assert.match(await client.command("STAT ten.txt"), /^211- Sending file list\n drwx \d+ \d+ pub\n211/);
  assert.match(await client.command("STAT N nope"), /^500 /);
});

Deno.test("A base also admits siblings with the same prefix, but no other paths", async () => {
  await using site = await Site.open();
  const client = await site.session();
  assert.match(await client.command(`MLST ${site.home}/pub2/secret.txt`), /^250/);
  assert.equal(
    await client.command("MLST .."),
    `534 Error processing command 'MLST': Forbidden: ${site.home} not in ${site.home}/pub`,
  );
  assert.equal(
    await client.command("CDUP"),
    "534 Error processing command 'CDUP': Can't cd up, already at base directory",
  );
  assert.deepEqual(await client.commands("CWD sub", "PWD", "CDUP", "PWD"), [
    "200 OK",
    `257 "${site.home}/pub/sub"`,
    "200 OK",
    `257 "${site.home}/pub"`,
  ]);
});

const BASES: readonly [file: string, listed: RegExp][] = [
  ["pub/", /Listing HOME\/pub\n/],
  ["pub", /Listing HOME\n/],
  ["./", /Listing HOME\n/],
  ["", /Listing HOME\n/],
  ["/", /Listing \/\n/],
  ["HOME/pub/x.txt", /Listing HOME\/pub\n/],
  ["HOME//pub/sub/../___UFTP___MULTI___FILE___SESSION___MODE___", /Listing HOME\/pub\n/],
];
for (const [file, listed] of BASES) {
  Deno.test(`The directory of ${JSON.stringify(file)} is the part before the last slash`, async () => {
    await using site = await Site.open();
    const client = await site.session({ file: file.replace("HOME", site.home) });
    assert.match((await client.command("MLST")).replaceAll(site.home, "HOME"), listed);
  });
}

const LEVELS = ["NONE", "INFO", "READ", "WRITE", "FULL"];
const NEEDED: readonly [line: string, level: string][] = [
  ["NOOP", "NONE"],
  ["RANG 1 0", "NONE"],
  ["MLST .", "INFO"],
  ["STAT F .", "INFO"],
  ["PWD", "INFO"],
  ["HASH ten.txt", "READ"],
  ["RETR nope", "READ"],
  ["ALLO 1", "WRITE"],
  ["RNFR ten.txt", "WRITE"],
  ["MKD x", "WRITE"],
  ["DELE nope", "FULL"],
  ["RMD nope", "FULL"],
];
for (const given of [...LEVELS, "read", ""]) {
  Deno.test(`Access permission ${JSON.stringify(given)} refuses only the commands above it`, async () => {
    await using site = await Site.open();
    const client = await site.session({ "access-permissions": given });
    const level = LEVELS.includes(given) ? LEVELS.indexOf(given) : LEVELS.indexOf("FULL");
    for (const [line, needed] of NEEDED) {
      const denied = LEVELS.indexOf(needed) > level;
      assert.equal(/^534 .*: Access denied$/.test(await client.command(line)), denied, line);
    }
  });
}

Deno.test("Includes and excludes apply to the commands that check them", async () => {
  await using site = await Site.open();
  const client = await site.session({ includes: "*.txt:sub/*", excludes: "sub/x.*" });
  const base = `${site.home}/pub`;
  assert.deepEqual(
    await client.commands("DELE sub/x.dat", "RNFR other", "CWD sub", "RNFR ten.txt", "MKD made"),
    [
      `534 Error processing command 'DELE': Forbidden: ${base}/sub/x.dat excluded via ` +
      `['${site.home}/.ssh/authorized_keys', '${base}/sub/x.*']`,
      `534 Error processing command 'RNFR': Forbidden: ${base}/other not included in  ['${base}/*.txt', '${base}/sub/*']`,
      `534 Error processing command 'CWD': Forbidden: ${base}/sub not included in  ['${base}/*.txt', '${base}/sub/*']`,
      "350 File action OK Please send rename-to",
      `257 "${base}/made" directory created`,
    ],
  );
  assert.match(await client.command("HASH sub/x.dat"), /^213 MD5 0-0 /);
});

Deno.test("Reading: ranges end exclusively, and a full read announces the size", async () => {
  await using site = await Site.open();
  const client = await site.session({ "access-permissions": "READ" });
  const read = async (...lines: string[]) => {
    const data = await client.openData();
    const replies = await client.commands(...lines);
    return [...replies, await readAll(data), await client.reply()];
  };
  const done = "226 File transfer successful";
  assert.deepEqual(await read("RANG 2 6", "RETR ten.txt"), [
    "350 Restarting at 2. End byte range at 6",
    "150 OK 4 bytes available for reading.",
    "2345",
    done,
  ]);
  assert.deepEqual(await read("RETR ten.txt"), [
    "150 OK 10 bytes available for reading.",
    "0123456789",
    done,
  ]);
  assert.deepEqual(await read("REST 7", "RETR ten.txt"), [
    "350 Restarting at 7.",
    "150 OK 10 bytes available for reading.",
    "789",
    done,
  ]);
  assert.deepEqual((await read("RANG 8 100", "RETR ten.txt")).slice(1), [
    "150 OK 92 bytes available for reading.",
    "89",
    done,
  ]);
  assert.deepEqual(
    (await read("RANG -1 1", "RETR ten.txt")).at(-1),
    "500 Error processing command 'RETR': [Errno 22] Invalid argument",
  );
  // The range survives the failed command.
  assert.equal(
    await client.command("HASH ten.txt"),
    "500 Error processing command 'HASH': [Errno 22] Invalid argument",
  );
  assert.deepEqual(await client.commands("RANG 1 0", "RANG x", "RANG 1"), [
    "350 Resetting range",
    "501 Error processing command 'RANG': Argument syntax error",
    "501 Error processing command 'RANG': Argument syntax error",
  ]);
  const { size } = await Deno.stat(`${site.home}/pub/sub`);
  assert.deepEqual(await read("RETR sub"), [
    `150 OK ${size} bytes available for reading.`,
    "",
    `500 Error processing command 'RETR': [Errno 21] Is a directory: '${site.home}/pub/sub'`,
  ]);
  assert.deepEqual(
    await client.commands("OPTS HASH SHA-256", "HASH ten.txt", "OPTS HASH CRC"),
    [
      "200 HASH=SHA-256",
      `213 SHA-256 0-9 84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882 ${site.home}/pub/ten.txt`,
      "500 Error processing command 'OPTS': Unsupported hash algorithm 'CRC'",
    ],
  );
});

Deno.test("Writing ends at the announced length or at the end of the data, even if early", async () => {
  await using site = await Site.open();
  const client = await site.session({ "access-permissions": "WRITE" });
  const write = async (text: string, ...lines: string[]) => {
    const data = await client.openData();
    const replies = await client.commands(...lines);
    data.end(text);
    data.resume();
    return [...replies, await client.reply()];
  };
  const file = (name: string) => Deno.readTextFile(`${site.home}/pub/${name}`);
  assert.deepEqual(await write("abcde", "ALLO 5", "STOR new.bin"), [
    "200 OK Will read up to 5 bytes from data connection.",
    "150 OK",
    "226 File transfer successful",
  ]);
  assert.equal(await file("new.bin"), "abcde");
  await write("abc", "ALLO 100", "STOR short.bin");
  assert.equal(await file("short.bin"), "abc");
  await write("XY", "RANG 2 4", "STOR ten.txt");
  assert.equal(await file("ten.txt"), "01XY456789");
  await write("z", "RANG 12 13", "STOR ten.txt");
  assert.equal(await file("ten.txt"), "01XY456789\0\0z");
  await write("new", "STOR ten.txt");
  assert.equal(await file("ten.txt"), "new");
  assert.deepEqual(await write("x", "STOR sub"), [
    "150 OK",
    `500 Error processing command 'STOR': [Errno 21] Is a directory: '${site.home}/pub/sub'`,
  ]);
  assert.equal(
    await client.command("STOR no/file"),
    `500 Error processing command 'STOR': [Errno 2] No such file or directory: '${site.home}/pub/no/file'`,
  );
  assert.deepEqual(
    await client.commands("RNFR new.bin", "RNTO moved.bin", "MKD made", "MKD made", "DELE moved.bin"),
    [
      "350 File action OK Please send rename-to",
      "200 OK",
      `257 "${site.home}/pub/made" directory created`,
      `500 Error processing command 'MKD': [Errno 17] File exists: '${site.home}/pub/made'`,
      "534 Error processing command 'DELE': Access denied",
    ],
  );
  assert.equal(await file("moved.bin"), "abcde");
});

Deno.test("APPE fails at first and overwrites after ALLO", async () => {
  await using site = await Site.open();
  const client = await site.session();
  assert.match(await client.command("APPE ten.txt"), /^500 .*tuple indices/);
  await client.command("RANG 1 0");
  const data = await client.openData();
  await client.commands("ALLO 2", "APPE ten.txt");
  data.end("ab");
  data.resume();
  assert.match(await client.reply(), /^226/);
  assert.equal(await Deno.readTextFile(`${site.home}/pub/ten.txt`), "ab");
});

Deno.test("Listings come over the data connection, and empty without one", async () => {
  await using site = await Site.open();
  const client = await site.session();
  const data = await client.openData();
  assert.equal(await client.command("MLSD"), "150 OK");
  const lines = (await readAll(data)).split("\n").sort();
  assert.equal(lines.length, 3);
  assert.match(String(lines[2]), /^size=\d+;modify=\d{14};type=dir;perm=lwe;UNIX.mode=40755; sub$/);
  assert.match(await client.reply(), /^226/);
  const second = await client.openData();
  assert.equal(await client.command("LIST"), "150 OK");
  assert.match(await readAll(second), /^-rw------- {3}1 dummy dummy 10 Mar 04 .* ten\.txt\r$/m);
  assert.match(await client.reply(), /^226/);
  assert.deepEqual(await client.commands("MLSD sub", "NOOP"), ["150 OK", "226 File transfer successful"]);
  assert.equal(await client.reply(), "200 OK");
  assert.equal(
    await client.command("MLSD ten.txt"),
    "550 Error processing command 'MLSD': Directory does not exist.",
  );
});

Deno.test("PASV names address and port; a client that does not connect loses its session", async () => {
  await using site = await Site.open({ dataTimeout: 20 });
  const client = await site.session();
  assert.match(await client.command("PASV"), /^227 Entering Passive Mode \(127,0,0,1,\d+,\d+\)$/);
  assert.equal(await client.reply(), "<end>");
});

Deno.test("An advertised host that is not local fails the data connection", async () => {
  await using site = await Site.open({ advertiseHost: "203.0.113.9" });
  const client = await site.session();
  assert.match(await client.command("EPSV"), /^500 .*\[Errno 99\] Cannot assign requested address/);
});

Deno.test("FEAT, NOOP, OPTS, TYPE and SYST answer as documented", async () => {
  await using site = await Site.open();
  const client = await site.session();
  assert.match(
    await client.command("FEAT"),
    /^211-Features:\n PASV\n[^]* REST STREAMMFMT\n[^]* HASH MD5\*;[^]*\n211 END$/,
  );
  assert.deepEqual(
    await client.commands("NOOP", "NOOP 2", "NOOP 9", "NOOP 1", "TYPE I", "SYST", "EPSV ALL"),
    [
      "200 OK",
      "222 Opening 2 data connections",
      "223 Opening 4 data connections",
      "222 Opening 1 data connections",
      "200 OK",
      "215 Unix Type: L8",
      "200 OK",
    ],
  );
});

Deno.test("Commands may be pipelined; blank lines are ignored", async () => {
  await using site = await Site.open();
  const client = await site.session();
  client.socket.write("\r\nNOOP\rNOOP 1\nSYST\r\nQUIT\n");
  const replies = [await client.reply(), await client.reply(), await client.reply(), await client.reply()];
  assert.deepEqual(replies, ["200 OK", "222 Opening 1 data connections", "215 Unix Type: L8", "<end>"]);
  assert.deepEqual(site.daemon.sessions[0]?.commands, [
    "USER anonymous",
    "PASS ***",
    "",
    "NOOP",
    "NOOP 1",
    "SYST",
    "QUIT",
  ]);
});

Deno.test("RETR streams a part of a sparse file beyond 4 GiB", async () => {
  await using site = await Site.open();
  const [from, size] = [5 * 1024 ** 3, 32 * 1024 ** 2];
  await Deno.truncate(`${site.home}/pub/ten.txt`, from + size);
  const client = await site.session();
  const data = await client.openData();
  await client.command(`RANG ${from} ${from + size}`);
  assert.equal(await client.command("RETR ten.txt"), `150 OK ${size} bytes available for reading.`);
  let received = 0;
  data.on("data", (chunk) => received += chunk.length);
  await once(data, "end");
  assert.equal(received, size);
  assert.match(await client.reply(), /^226/);
});

const SESSION_FAULTS: readonly [fault: SessionFault, lines: readonly string[], replies: readonly string[]][] =
  [
    [{ kind: "close-after-login" }, ["NOOP"], ["<end>"]],
    [{ kind: "reply", to: "STOR", reply: "500 No" }, ["STOR a", "NOOP"], ["500 No", "200 OK"]],
    [{ kind: "unterminated-reply", to: "SYST" }, ["SYST"], ["215 Unix Type: L8<end>"]],
    [
      { kind: "injected-listing", lines: ["211 End of file list"] },
      ["STAT F ten.txt"],
      ["211- Sending file list\n211 End of file list"],
    ],
  ];
for (const [fault, lines, replies] of SESSION_FAULTS) {
  Deno.test(`The session fault "${fault.kind}" takes effect`, async () => {
    await using site = await Site.open();
    site.daemon.sessionFaults.always = fault;
    const client = await site.session();
    assert.deepEqual(await client.commands(...lines), replies);
  });
}

const CUTS: readonly [then: "226" | "ENOSPC" | "close", reply: RegExp][] = [
  ["226", /^226/],
  ["ENOSPC", /^500 .*No space left/],
  ["close", /^<end>$/],
];
for (const [then, reply] of CUTS) {
  Deno.test(`The session fault "cut-data" ends a transfer early, then ${then}`, async () => {
    await using site = await Site.open();
    site.daemon.sessionFaults.always = { kind: "cut-data", after: 4, then };
    const client = await site.session();
    const data = await client.openData();
    await client.command("RETR ten.txt");
    assert.equal(await readAll(data), "0123");
    assert.match(await client.reply(), reply);
  });
}

Deno.test('The session faults "no-greeting", "close-at-once" and a reply to PASS apply before any session', async () => {
  await using site = await Site.open();
  const { queue } = site.daemon.sessionFaults;
  queue.push({ kind: "no-greeting" }, { kind: "close-at-once" }, {
    kind: "reply",
    to: "PASS",
    reply: "530 No",
  });
  const silent = await site.connect();
  assert.equal(await (await site.connect()).reply(), "<end>");
  await site.announce();
  const client = await site.connect();
  assert.equal(await client.logIn("s"), "530 No");
  assert.equal(await client.reply(), "<end>");
  silent.close();
  assert.equal(await silent.reply(), "<end>");
});

Deno.test('The session faults "refused-data-port", "silent-data" and "no-226" apply in a transfer', async () => {
  await using site = await Site.open();
  const { queue } = site.daemon.sessionFaults;
  queue.push({ kind: "refused-data-port" }, { kind: "silent-data" }, { kind: "no-226" });
  const refused = await site.session();
  await assert.rejects(refused.openData(), { code: "ECONNREFUSED" });
  await site.announce({ secret: "t", file: `${site.home}/pub/` });
  const silent = await site.connect();
  await silent.logIn("t");
  const data = await silent.openData();
  assert.match(await silent.command("RETR ten.txt"), /^150/);
  const got = readAll(data);
  silent.close();
  assert.equal(await got, "");
  await site.announce({ secret: "u", file: `${site.home}/pub/` });
  const mute = await site.connect();
  await mute.logIn("u");
  const full = await mute.openData();
  await mute.command("RETR ten.txt");
  assert.equal(await readAll(full), "0123456789");
  assert.equal(await mute.command("NOOP"), "200 OK");
});

Deno.test("No connection is open after all clients have left", async () => {
  await using site = await Site.open();
  const client = await site.session();
  assert.equal(site.daemon.openConnections, 1);
  await client.command("QUIT");
  await until(() => site.daemon.openConnections === 0, { everyMs: 1 });
});
