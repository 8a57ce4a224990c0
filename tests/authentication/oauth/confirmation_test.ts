import assert from "node:assert/strict";
import { readConfirmation } from "../../../src/authentication/oauth/confirmation.ts";
import { InvalidToken } from "../../../src/authentication/signed_token.ts";

const [KEY, CERTIFICATE] = ["A".repeat(43), "B".repeat(43)];
const BOTH = { jkt: KEY, "x5t#S256": CERTIFICATE };

const READ: [cnf: Record<string, unknown>, confirmation: object][] = [
  [{ jkt: KEY }, { jkt: KEY }],
  [{ "x5t#S256": CERTIFICATE }, { certificate: CERTIFICATE }],
  [BOTH, { jkt: KEY, certificate: CERTIFICATE }],
  [{ ...BOTH, "kc-jkt-type": "DPoP" }, { jkt: KEY, certificate: CERTIFICATE }],
  [{ unknown: {}, jkt: KEY }, { jkt: KEY }],
];

Deno.test("readConfirmation() reads all that it verifies, in whatever order, and leaves alone what binds nothing", () => {
  for (const [cnf, confirmation] of READ) {
    for (const members of [Object.entries(cnf), Object.entries(cnf).reverse()]) {
      assert.deepEqual(readConfirmation(Object.fromEntries(members)), confirmation);
      assert.deepEqual(readConfirmation(new Map(members)), confirmation);
    }
  }
  assert.deepEqual(readConfirmation(undefined), {});
});

Deno.test("readConfirmation() refuses a binding that is not verified here, beside whatever else", () => {
  const bad: [string, unknown][] = [
    ...["jwk", "jwe", "kid", "jku", "x5c", "x5u", "osc"].map((name): [string, unknown] => [name, "x"]),
    ["jkt", 1],
    ["jkt", "short"],
    ["x5t#S256", undefined],
    ["x5t#S256", `${KEY}=`],
  ];
  for (const beside of [{}, { jkt: KEY }, { "x5t#S256": CERTIFICATE }, BOTH]) {
    for (const [name, value] of bad) {
      const all = Object.entries({ ...beside, [name]: value });
      for (const members of [all, all.toReversed()]) {
        for (const cnf of [Object.fromEntries(members), new Map(members)]) {
          assert.throws(() => readConfirmation(cnf), InvalidToken, `${name} beside ${Object.keys(beside)}`);
        }
      }
    }
  }
  for (const cnf of [{}, new Map(), { "kc-jkt-type": "DPoP" }, null, "x", []]) {
    assert.throws(() => readConfirmation(cnf), InvalidToken);
  }
});
