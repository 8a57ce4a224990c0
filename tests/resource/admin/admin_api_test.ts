import assert from "node:assert/strict";
import type { AttributeSource } from "../../../src/attributes/attribute_source.ts";
import type { Authenticator } from "../../../src/authentication/authenticator.ts";
import type { AccountStatus } from "../../../src/authentication/account_status.ts";
import { httpError } from "../../../src/model/http_error.ts";
import { countShares, knownNames } from "../../../src/resource/admin/admin_api.ts";

/** Makes an authenticator for Ann's login, with a given function for the status of accounts. */
function authenticator(known: (dn: string) => AccountStatus): Authenticator {
  return {
    name: "PASSWORD",
    challenges: ["Basic"],
    authenticate: () => assert.fail("nobody signs in"),
    namesOf: (login) => login === "ann" ? ["CN=Ann, O=Example"] : [],
    accountStatusOf: ({ dn }) => Promise.resolve(known(dn)),
    close: () => {},
  };
}

/** Returns the names that the operator's word for a user stands for, if these names are known. */
function of(user: string, known: readonly string[] = [], attributes?: AttributeSource["attributesOf"]) {
  return knownNames(user, {
    authenticators: [authenticator((dn) => ({ kind: known.includes(dn) ? "known" : "gone" }))],
    attributes: {
      name: "FILE",
      attributesOf: attributes ?? (() => Promise.resolve({ standard: new Map(), extra: new Map() })),
      close: () => {},
    },
  });
}

const NAMES: readonly (readonly [user: string, names: readonly string[]])[] = [
  ["ann", ["cn=ann,o=example"]],
  ["nobody", []],
  ["", []],
  ["CN=Ben, O=Example", ["cn=ben,o=example"]],
];
for (const [user, names] of NAMES) {
  Deno.test(`knownNames() of ${JSON.stringify(user)} are ${JSON.stringify(names)}`, async () => {
    assert.deepEqual((await of(user)).names, names);
  });
}

const GIVEN = "CN=Ben, O=Example";
const REVERSED = "O=Example,CN=Ben";

Deno.test("knownNames() finds a name in reverse order, if that is known and the given one is not", async () => {
  assert.equal((await of(GIVEN)).reversed, undefined);
  assert.equal((await of(GIVEN)).unknown, true);
  assert.equal((await of(GIVEN, [GIVEN])).unknown, undefined);
  const { reversed = "" } = await of(GIVEN, [
    (await of(REVERSED, [])).names[0] ?? "",
    REVERSED,
    "o=example,cn=ben",
  ]);
  assert.match(reversed, /^o=example, ?cn=ben$/i);
  assert.equal((await of(GIVEN, [GIVEN, reversed])).reversed, undefined, "both are known");
  assert.equal((await of("CN=Ben", ["cn=ben", "CN=Ben"])).reversed, undefined, "it has one part");
});

Deno.test("knownNames() considers a user with attributes known, and tolerates a failing source", async () => {
  const withAttributes = (dn: string) => ({
    standard: new Map(),
    extra: new Map(/^o/i.test(dn) ? [["uftpd.HPC.rateLimit", ["1k"]]] : []),
  });
  const { reversed } = await of(GIVEN, [], ({ dn }) => Promise.resolve(withAttributes(dn)));
  assert.match(reversed ?? "", /^o=example, ?cn=ben$/i);
  const away = () => Promise.reject(httpError("ERR_INTERNAL"));
  assert.deepEqual(await of(GIVEN, [], away), {
    names: ["cn=ben,o=example"],
    reversed: undefined,
    unknown: undefined,
  });
  const outage = httpError("ERR_ATTRIBUTE_SOURCE");
  const skipped = () => Promise.resolve({ standard: new Map(), extra: new Map(), outage });
  assert.equal((await of(GIVEN, [], skipped)).unknown, undefined, "an optional source is down");
  await assert.rejects(of(GIVEN, [], () => Promise.reject(new TypeError("a defect"))), TypeError);
});

Deno.test("countShares() neither waits for a silent database nor fails with one that is down", async () => {
  assert.equal(await countShares({ count: () => Promise.resolve(7) }), 7);
  assert.equal(await countShares({ count: () => new Promise(() => {}) }, 1), undefined);
  const away = httpError("ERR_SHARE_STORE", "no answer in time");
  assert.equal(await countShares({ count: () => Promise.reject(away) }), undefined);
  await assert.rejects(countShares({ count: () => Promise.reject(new TypeError("a defect")) }), TypeError);
});
