import assert from "node:assert/strict";
import { DeviceLogins } from "../../../src/authentication/sign_in/device_logins.ts";
import { isHttpError } from "../../../src/model/http_error.ts";
import { IN_MEMORY } from "../../../src/store/sqlite_database.ts";
import { openRecordStore } from "../../../src/store/sqlite_record_store.ts";

const BROWSER = { id: "b", ends: 1_800_010_000 };
const ANN = {
  dn: "CN=Ann,O=Example",
  method: "PASSWORD_FILE",
  via: "PASSWORD",
  login: "ann",
  browser: BROWSER,
};
const REQUEST = { client: "login.sh on lab1", address: "192.0.2.7", query: "name=x" };
const APPROVAL = { identity: ANN, role: "user" };
const NOW = 1_800_000_000;

/** Opens two instances with one store, and a clock that the test moves. */
function opened() {
  let now = NOW;
  const clock = () => now * 1000;
  const records = openRecordStore(IN_MEMORY, clock);
  const parts = { records: () => records, clock };
  return {
    records,
    logins: new DeviceLogins(parts),
    other: new DeviceLogins(parts),
    later: (seconds: number) => now += seconds,
    [Symbol.dispose]: () => records.close(),
  };
}

const isTooMany = (error: unknown) => isHttpError(error, "ERR_TOO_MANY_CODES");

Deno.test("DeviceLogins give codes of 256 bits and of eight letters of 20, and store neither", async () => {
  using at = opened();
  const { device, user } = await at.logins.begin(REQUEST, "192.0.2.7");
  assert.match(device, /^[A-Za-z0-9_-]{43}$/);
  assert.match(user, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  const kinds = ["device-login", "device-user-code", "device-decision"];
  const kept = JSON.stringify(await Promise.all(kinds.map((kind) => at.records.list(kind))));
  assert(!kept.includes(device) && !kept.includes(user), kept);
  const codes = new Set<string>();
  for (let i = 0; i < 15; i++) codes.add((await at.logins.begin(REQUEST, `192.0.2.${i}`)).user);
  assert.equal(codes.size, 15);
});

Deno.test("DeviceLogins find a user code in any case and spelling, and no other", async () => {
  using at = opened();
  const { user } = await at.logins.begin(REQUEST, "192.0.2.7");
  for (const typed of [user, user.toLowerCase(), user.replace("-", ""), ` ${user.replace("-", " ")} `]) {
    assert.deepEqual(await at.other.find(typed, ANN), { ...REQUEST, made: NOW }, typed);
  }
  for (const typed of ["", "BBBB-BBB", `${user}B`, "A".repeat(8), "B".repeat(1000), `${user}\0`]) {
    assert.equal(await at.logins.find(typed, ANN), undefined, typed);
  }
});

Deno.test("DeviceLogins give an approval once, at any instance, to the same client", async () => {
  using at = opened();
  const { device, user } = await at.logins.begin(REQUEST, "192.0.2.7");
  assert.deepEqual(await at.logins.poll(device, REQUEST.client), { kind: "pending" });
  assert.deepEqual(await at.logins.poll(device, REQUEST.client), { kind: "slow" });
  assert(await at.other.decide(user, APPROVAL, true));
  assert.deepEqual(await at.other.poll(device, "another"), { kind: "unknown" });
  const polls = await Promise.all([at.other.poll(device, REQUEST.client), at.other.poll(device, undefined)]);
  at.later(4);
  polls.push(await at.logins.poll(device, REQUEST.client));
  const approved = polls.filter(({ kind }) => kind === "approved");
  assert.deepEqual(approved, [{ kind: "approved", query: REQUEST.query, at: NOW * 1000, ...APPROVAL }]);
});

Deno.test("DeviceLogins accept one decision for a code, even of two simultaneous ones", async () => {
  using at = opened();
  const { device, user } = await at.logins.begin(REQUEST, "192.0.2.7");
  const decided = await Promise.all([
    at.logins.decide(user, APPROVAL, false),
    at.other.decide(user, APPROVAL, true),
  ]);
  assert.deepEqual(decided.filter(Boolean).length, 1);
  assert.equal(await at.logins.find(user, ANN), undefined);
  const { kind } = await at.logins.poll(device, REQUEST.client);
  assert.equal(kind, decided[0] ? "denied" : "approved");
});

Deno.test("DeviceLogins expire after ten minutes, and report so for ten more", async () => {
  using at = opened();
  const { device, user } = await at.logins.begin(REQUEST, "192.0.2.7");
  at.later(599);
  assert.deepEqual(await at.logins.poll(device, REQUEST.client), { kind: "pending" });
  at.later(4);
  assert.deepEqual(await at.logins.poll(device, REQUEST.client), { kind: "expired" });
  assert.equal(await at.logins.find(user, ANN), undefined);
  assert.equal(await at.logins.decide(user, APPROVAL, true), false);
  at.later(600);
  assert.deepEqual(await at.logins.poll(device, REQUEST.client), { kind: "unknown" });
});

Deno.test("DeviceLogins issue no user code that belongs to another request", async () => {
  using at = opened();
  const taken = { key: "k", owner: "o", made: NOW, ends: NOW + 600, content: { key: "another" } };
  const records = { ...at.records, get: () => Promise.resolve(taken) };
  const logins = new DeviceLogins({ records: () => records, clock: () => NOW * 1000 });
  await assert.rejects(logins.begin(REQUEST, "192.0.2.7"), isTooMany);
  assert.deepEqual(await at.records.list("device-user-code"), []);
});

Deno.test("DeviceLogins limit the requests of an address group, and the codes that a user enters", async () => {
  using at = opened();
  for (let i = 0; i < 20; i++) await at.logins.begin(REQUEST, "192.0.2.7");
  await assert.rejects(at.logins.begin(REQUEST, "192.0.2.7"), isTooMany);
  const { user } = await at.logins.begin(REQUEST, "192.0.2.8");
  for (let i = 0; i < 20; i++) await at.logins.find("BBBB-BBBB", ANN);
  await assert.rejects(at.logins.find(user, ANN), isTooMany);
  assert(await at.logins.find(user, { ...ANN, dn: "CN=Ben,O=Example" }));
  at.later(601);
  await at.logins.begin(REQUEST, "192.0.2.7");
});

Deno.test("DeviceLogins of several instances share the limit of an address group, and drop no request", async () => {
  using at = opened();
  const codes: string[] = [];
  for (let i = 0; i < 11; i++) {
    for (const logins of [at.logins, at.other]) {
      const begun = await logins.begin(REQUEST, "192.0.2.7").catch((error) => assert(isTooMany(error)));
      if (begun) codes.push(begun.user);
    }
  }
  assert.equal(codes.length, 20);
  const found = await Promise.all(
    codes.map((code, i) => at.logins.find(code, { ...ANN, dn: `CN=${i % 2}` })),
  );
  assert(found.every((request) => request !== undefined));
  at.later(600);
  await at.other.begin(REQUEST, "192.0.2.7");
});

Deno.test("DeviceLogins deny an approval that somebody altered in the store", async () => {
  using at = opened();
  const { device, user } = await at.logins.begin(REQUEST, "192.0.2.7");
  await at.logins.decide(user, APPROVAL, true);
  const [decision] = await at.records.list("device-decision");
  assert(decision !== undefined);
  const content = { identity: { ...ANN, issuedToken: {} }, browser: BROWSER, role: "admin", at: 1 };
  await at.records.put("device-decision", { ...decision, content }, 20);
  assert.deepEqual(await at.logins.poll(device, undefined), { kind: "denied" });
});
