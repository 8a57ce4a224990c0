/**
 * Data files that are damaged while the service runs: truncated, with flipped bits, written piece by piece.
 */
import assert from "node:assert/strict";
import { PasswordCheck } from "../../src/authentication/password/password_check.ts";
import { parsePasswordFile } from "../../src/authentication/password/password_table.ts";
import { until } from "../fixtures/deadline.ts";
import { LONG, note } from "../long/results.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { userToken } from "../system/every_method.ts";
import { ALICE, ALICE_DN, MAP, passwordLine, PASSWORDS, runService } from "../system/running_service.ts";

/** Rounds of damage; each damages four files. */
const ROUNDS = LONG ? 250 : 2;

/** Truncates a text or flips one bit of it; the positions come from a fixed sequence, to repeat failures. */
function* damages(bytes: Uint8Array): Generator<Uint8Array> {
  let state = 12345;
  const next = (below: number) => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) % below;
  for (;;) {
    const copy = bytes.slice();
    if (next(3) === 0) {
      yield copy.subarray(0, next(copy.length));
      continue;
    }
    const at = next(copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << next(8));
    yield copy;
  }
}

Deno.test("1,000 damaged password files: users with an intact line log in, users without hash or salt or with wrong passwords do not", async () => {
  const users = Array.from({ length: 20 }, (_, i) => [`user${i}`, `secret-${i}`] as const);
  const lines = users.map((user, i) => passwordLine(user, `CN=User ${i},O=Demo,C=EU`));
  const bytes = new TextEncoder().encode(lines.join(""));
  const check = new PasswordCheck();
  const waiter = { queueKey: "", known: false, signal: new AbortController().signal };
  const source = damages(bytes);
  let [admitted, refused] = [0, 0];
  for (let i = 0; i < 1000; i++) {
    const damaged = new TextDecoder().decode(source.next().value);
    const table = await parsePasswordFile(damaged, "users.txt");
    const found = damaged.split(/(?<=\n)/);
    for (const [at, [user, password]] of users.entries()) {
      const line = lines[at] ?? "";
      const entry = await check.entryOf(table, user, password, waiter);
      // A bit flip can change the user of another line to this one; the last line then applies.
      const renamed = found.some((other) => other.startsWith(`${user}:`) && other !== line);
      if (found.includes(line) && !renamed) assert.equal(entry?.dn, `CN=User ${at},O=Demo,C=EU`);
      if (entry === undefined) refused++;
      else {
        admitted++;
        // User, hash and salt are intact; the case of hexadecimal digits does not matter.
        const [, hash = "", salt = ""] = line.split(":");
        const own = `${user}:${hash}:${salt}:${entry.dn}`.toLowerCase();
        assert(found.some((other) => other.trim().toLowerCase() === own), damaged);
      }
      const [, othersPassword = ""] = users[(at + 1) % users.length] ?? [];
      for (const wrong of ["wrong", "", othersPassword]) {
        assert.equal(await check.entryOf(table, user, wrong, waiter), undefined);
      }
    }
  }
  assert(admitted > 10_000 && refused > 1_000, `${admitted} admitted, ${refused} refused`);
});

/** Lines of the keys file, for {@link ALICE} and others. */
const KEY_LINES = [
  `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n`,
  ...Array.from(
    { length: 5 },
    (_, i) => `user${i}:${publicLine("user_ecdsa256")}:CN=User ${i},O=Demo,C=EU\n`,
  ),
];
const USER_LINES = [
  ...PASSWORDS.split(/(?<=\n)/),
  ...Array.from(
    { length: 20 },
    (_, i) => passwordLine([`user${i}`, `secret-${i}`], `CN=User ${i},O=Demo,C=EU`),
  ),
];
const RESERVATIONS = JSON.stringify({
  reservations: [{
    name: "n",
    from: "2020-01-01 00:00",
    to: "2999-12-31 23:59",
    uids: ["bob"],
    rateLimit: "3m",
  }],
});

Deno.test(`${4 * ROUNDS} damaged files while serving: no login of a user with an intact line fails; a valid save takes effect`, async () => {
  await using system = await runService({
    passwords: USER_LINES.join(""),
    files: { "conf/keys.txt": KEY_LINES.join(""), "conf/reservations.json": RESERVATIONS },
    properties: {
      "container.security.rest.authentication.order": "PASSWORD SSHKEY",
      "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
      "authservice.server.HPC.reservations.enable": "true",
      "authservice.server.HPC.reservations.file": "{folder}/conf/reservations.json",
    },
  });
  const write = (name: string, bytes: Uint8Array) => Deno.writeFile(`${system.folder}/conf/${name}`, bytes);
  const byKey = () => ({ headers: { Authorization: `Bearer ${userToken("alice", "user_ed25519")}` } });
  let done = false;
  let logins = 0;
  const client = (async () => {
    while (!done) {
      for (const question of [{ as: ALICE }, byKey()]) {
        const reply = await system.ask("/rest/auth/HPC", question);
        assert.deepEqual([reply.status, reply.json().uid], [200, "alice"]);
        logins++;
      }
      await new Promise((resolve) => setTimeout(resolve, 5)); // far less than damage lasts
    }
  })();
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const wholeText = {
    map: damages(bytesOf(JSON.stringify(MAP, undefined, 2))),
    plan: damages(bytesOf(RESERVATIONS)),
  };
  const tail = {
    users: damages(bytesOf(USER_LINES.slice(1).join(""))),
    keys: damages(bytesOf(KEY_LINES.slice(1).join(""))),
  };
  /** Skips damage that leaves valid JSON, which the service would apply. */
  const damaged = (source: Generator<Uint8Array>, first = ""): Uint8Array => {
    const bytes = new Uint8Array([...bytesOf(first), ...(source.next().value ?? [])]);
    return first === "" && isJson(new TextDecoder().decode(bytes)) ? damaged(source) : bytes;
  };
  for (let round = 0; round < ROUNDS; round++) {
    const before = system.log.length;
    await write("users.txt", damaged(tail.users, USER_LINES[0]));
    await write("keys.txt", damaged(tail.keys, KEY_LINES[0]));
    await write("reservations.json", damaged(wholeText.plan));
    await write("mapfile.json", damaged(wholeText.map));
    await Promise.race([system.logged(/not usable, the last good content stays.*mapfile/, before), client]);
  }
  done = true;
  await client;
  assert(logins > ROUNDS);

  await system.replace("conf/users.txt", USER_LINES.slice(1).join(""));
  await system.replace("conf/keys.txt", KEY_LINES.slice(1).join(""));
  await until(async () => (await system.ask("/rest/auth", { as: ALICE })).status === 401);
  await until(async () => (await system.ask("/rest/auth", byKey())).status === 401);

  await system.replace("conf/users.txt", USER_LINES.join(""));
  await system.replace("conf/mapfile.json", JSON.stringify({ [ALICE_DN]: { role: "banned" } }));
  const banned = { as: ALICE, body: { serverPath: "" } };
  await until(async () => (await system.ask("/rest/auth/HPC", banned)).status === 403);
  note("trials", {
    trial: "truncated files and flipped bits in users, keys, map and reservations while serving",
    done: `${4 * ROUNDS} damaged files, then good ones with fewer users`,
    outcome: `${logins} logins of users with intact lines, none failed; removed users refused afterwards`,
  });
});

Deno.test("a password file that is written slowly and in place fails no login", async () => {
  const text = PASSWORDS + passwordLine(["bob", "builder"], "CN=Bob");
  await using system = await runService({ passwords: text });
  let done = false;
  const client = (async () => {
    while (!done) {
      assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
      // Ten logins in the time between two parts show what the service has read of them.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  for (let round = 0; round < (LONG ? 20 : 2); round++) {
    const file = await Deno.open(`${system.folder}/conf/users.txt`, { write: true, truncate: true });
    for (const part of text.match(/[^]{1,40}/g) ?? []) {
      await file.write(new TextEncoder().encode(part));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    file.close();
  }
  done = true;
  await client;
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
