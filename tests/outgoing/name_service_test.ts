import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalAddress } from "../../src/model/address.ts";
import { NameService } from "../../src/outgoing/name_service.ts";

const RECORDS: Readonly<Record<string, Readonly<Record<"A" | "AAAA", readonly string[]>>>> = {
  "both.example.org": { A: ["192.0.2.7", "192.0.2.8"], AAAA: ["2001:DB8::7", "::ffff:192.0.2.7"] },
  "old.example.org": { A: ["192.0.2.9"], AAAA: [] },
};

/** Returns a name service, and the queries that it sends. */
function asked(maxWaitMs?: number) {
  const questions: string[] = [];
  const names = new NameService({
    ask: (name, type, signal) => {
      questions.push(`${name} ${type}`);
      if (name === "silent.example.org") {
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      }
      const found = RECORDS[name]?.[type] ?? [];
      return found.length === 0 ? Promise.reject(new Deno.errors.NotFound()) : Promise.resolve(found);
    },
    ...(maxWaitMs !== undefined && { maxWaitMs }),
  });
  return { questions, names };
}

const question = () => ({ caller: "198.51.100.1", signal: new AbortController().signal });

Deno.test("NameService returns IPv4 and IPv6 addresses in canonical form, name by name", async () => {
  const { names } = asked();
  assert.deepEqual(
    await names.addressesOf(["old.example.org", "gone.example.org", "both.example.org"], question()),
    [
      ["192.0.2.9"],
      [],
      ["192.0.2.7", "192.0.2.8", "2001:db8::7"],
    ],
  );
});

Deno.test("NameService sends one query for concurrent requests of one name", async () => {
  const { names, questions } = asked();
  await Promise.all([
    names.addressesOf(["old.example.org", "OLD.example.org"], question()),
    names.addressesOf(["old.example.org"], question()),
  ]);
  assert.deepEqual(questions, ["old.example.org A", "old.example.org AAAA"]);
});

for (
  const name of [
    "",
    ".",
    "a..b",
    "-a.org",
    "127.1",
    "0x7f.1",
    "192.0.2.256",
    "fe80::1%eth0",
    "[::1]",
    "a b",
    "a\n.org",
    "ä.org",
    `${"a".repeat(64)}.org`,
    `${"a.".repeat(126)}aa`,
  ]
) {
  Deno.test(`NameService sends no query for ${JSON.stringify(name.slice(0, 20))}, which is not a name`, async () => {
    const { names, questions } = asked();
    assert.deepEqual(await names.addressesOf([name], question()), [[]]);
    assert.deepEqual(questions, []);
  });
}

Deno.test("NameService sends no query for an address in any notation", async () => {
  await fc.assert(fc.asyncProperty(fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), async (text) => {
    const { names, questions } = asked();
    await names.addressesOf([text], question());
    // The extended form has hexadecimal parts, such as 0xc0: not a name either if the last part begins with a digit.
    assert.deepEqual(questions, [], canonicalAddress(text));
  }));
});

Deno.test("NameService skips names that are not found in time", async () => {
  const { names } = asked(20);
  assert.deepEqual(await names.addressesOf(["silent.example.org", "old.example.org"], question()), [[], [
    "192.0.2.9",
  ]]);
});

Deno.test("NameService resolves four names of one caller at a time, and does not delay others", async () => {
  const open = new Map<string, () => void>();
  const names = new NameService({
    ask: (name, type) => {
      if (type === "AAAA") return Promise.resolve([]);
      return new Promise((resolve) => open.set(name, () => resolve(["192.0.2.1"])));
    },
  });
  const many = Array.from({ length: 6 }, (_, i) => `n${i}.example.org`);
  const first = names.addressesOf(many, question());
  const other = names.addressesOf(["other.example.org"], { ...question(), caller: "198.51.100.2" });
  assert.deepEqual([...open.keys()], [...many.slice(0, 4), "other.example.org"]);
  open.get("other.example.org")?.();
  assert.deepEqual(await other, [["192.0.2.1"]]);
  for (const name of many) {
    await until(() => open.has(name), { everyMs: 0 });
    open.get(name)?.();
  }
  assert.deepEqual(await first, many.map(() => ["192.0.2.1"]));
});

/** Returns a function that resolves names without answers, and counts those given up at once. */
function silentNames() {
  const names = new NameService({ ask: () => new Promise(() => {}), maxWaitMs: 3600_000 });
  const end = new AbortController();
  let [asked, givenUp] = [0, 0];
  const ask = async (caller: string, count: number) => {
    for (let i = 0; i < count; i++) {
      const name = `n${asked++}.example.org`;
      names.addressesOf([name], { caller, signal: end.signal }).then(() => givenUp++, () => {});
    }
    for (let i = 0; i < 20; i++) await Promise.resolve();
    return givenUp;
  };
  return { ask, end };
}

Deno.test("NameService queues 32 names of one caller, and gives up the others", async () => {
  const { ask, end } = silentNames();
  assert.equal(await ask("one", 4 + 32), 0);
  assert.equal(await ask("one", 3), 3);
  end.abort();
});

Deno.test("NameService queues 256 names of all callers, and gives up the others", async () => {
  const { ask, end } = silentNames();
  for (let i = 0; i < 4; i++) assert.equal(await ask(`running${i}`, 4 + 32), 0);
  for (let i = 0; i < 4; i++) assert.equal(await ask(`waiting${i}`, 32), 0);
  assert.equal(await ask("late", 1), 1);
  end.abort();
});

Deno.test("NameService resolves a name of the maximum length", async () => {
  const { names, questions } = asked();
  const longest = `${"a.".repeat(126)}a`;
  assert.equal(longest.length, 253);
  await names.addressesOf([longest], question());
  assert.deepEqual(questions, [`${longest} A`, `${longest} AAAA`]);
});

Deno.test("NameService gives up when the request ends", async () => {
  const { names } = asked();
  const gone = new AbortController();
  const answer = names.addressesOf(["silent.example.org"], { ...question(), signal: gone.signal });
  gone.abort(new Error("the caller hung up"));
  await assert.rejects(answer, /hung up/);
});
