/** Data files that are damaged while the service serves: cut off, with bits flipped, written bit by bit. */
import assert from "node:assert/strict";
import { PasswordCheck } from "../../src/authentication/password/password_check.ts";
import { parsePasswordFile } from "../../src/authentication/password/password_table.ts";
import { ALICE, ALICE_DN, MAP, passwordLine, PASSWORDS, runService } from "../system/running_service.ts";

const LONG = Deno.env.get("AUTHSERVER_LONG_TESTS") !== undefined;
const DAMAGES = LONG ? 200 : 4;

/** Cuts a text off, or flips one bit of it; places come from a fixed sequence, so that a failure can be repeated. */
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

Deno.test("1,000 damaged password files: whose line is whole gets in, nobody else does, and no wrong password", async () => {
  const users = Array.from({ length: 20 }, (_, i) => [`user${i}`, `secret-${i}`] as const);
  const lines = users.map((user, i) => passwordLine(user, `CN=User ${i},O=Demo,C=EU`));
  const bytes = new TextEncoder().encode(lines.join(""));
  const check = new PasswordCheck({ now: Date.now });
  const { signal } = new AbortController();
  const source = damages(bytes);
  for (let i = 0; i < 1000; i++) {
    const damaged = new TextDecoder().decode(source.next().value);
    const table = await parsePasswordFile(damaged, "users.txt");
    const whole = new Set(damaged.split(/(?<=\n)/));
    const again = new Set([...table.entries.keys()]);
    for (const [at, [user, password]] of users.entries()) {
      const entry = await check.entryOf(table, user, password, signal);
      // A bit flip can make another user's line name this one; the last line then counts, for better or worse.
      const renamed = [...whole].some((line) => line.startsWith(`${user}:`) && line !== lines[at]);
      if (whole.has(lines[at] ?? "") && !renamed) assert.equal(entry?.dn, `CN=User ${at},O=Demo,C=EU`);
      assert.equal(await check.entryOf(table, user, "wrong", signal), undefined);
    }
    assert(again.size <= users.length);
  }
});

Deno.test("while the map file is damaged again and again every login succeeds with its account", async () => {
  await using system = await runService();
  const bytes = new TextEncoder().encode(JSON.stringify(MAP, undefined, 2));
  let damaged = 0;
  let done = false;
  let logins = 0;
  const client = async () => {
    while (!done) {
      const reply = await system.ask("/rest/auth", { as: ALICE });
      assert.equal(reply.status, 200);
      assert.equal(reply.json().client instanceof Object, true);
      logins++;
    }
  };
  const running = client();
  const source = damages(bytes);
  while (damaged < DAMAGES) {
    const next = source.next().value;
    const text = new TextDecoder().decode(next);
    if (isJson(text)) continue; // a flip may make another good map: that one counts
    const before = system.log.length;
    await Deno.writeFile(`${system.folder}/conf/mapfile.json`, next);
    await Promise.race([system.logged(/not usable, the last good content stays.*mapfile/, before), running]);
    const { uid } = (await system.ask("/rest/auth/HPC", { as: ALICE })).json();
    assert.equal(uid, "alice");
    damaged++;
  }
  const before = system.log.length;
  await system.replace("conf/mapfile.json", JSON.stringify({ [ALICE_DN]: { role: "banned" } }));
  const saved = performance.now();
  await system.logged(/file read again.*mapfile/, before);
  assert(performance.now() - saved < 2000, "a good file counts within 2 s");
  done = true;
  await running.catch(() => {}); // its last request may meet the ban
  assert.equal((await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } })).status, 403);
  assert(logins > 0);
});

Deno.test("a password file that is written slowly and in place fails no login", async () => {
  const text = PASSWORDS + passwordLine(["bob", "builder"], "CN=Bob");
  await using system = await runService({ passwords: text });
  let done = false;
  const client = (async () => {
    while (!done) assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
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
