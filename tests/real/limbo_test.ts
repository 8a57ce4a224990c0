/** Tests of the reader and the runner of x509-limbo cases; the real cases are not part of the repository. */
import assert from "node:assert/strict";
import { createAuthority, type Credential } from "../pki/authority.ts";
import { readLimbo } from "./limbo_cases.ts";
import { isBelieved, untriable } from "./limbo_trial.ts";

const authority = createAuthority({ subject: "CN=Root" });
const lower = authority.subordinate({ subject: "CN=Lower" });
const names = ["server.example"];

/** Returns a case of a valid server, in the form of the file. */
function item(
  { certificate, key }: Credential,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    id: "own::case",
    features: [],
    validation_kind: "SERVER",
    trusted_certs: [authority.certificate],
    untrusted_intermediates: [],
    peer_certificate: certificate,
    peer_certificate_key: key,
    validation_time: null,
    expected_result: "SUCCESS",
    expected_peer_name: { kind: "DNS", value: "server.example" },
    max_chain_depth: null,
    ...more,
  };
}

const read = (...testcases: readonly unknown[]) => readLimbo(JSON.stringify({ version: 1, testcases }));
const below = lower.issue({ subject: "CN=s", names });
const client = authority.issue({ subject: "CN=Ann", extendedKeyUsage: ["clientAuth"] });
const forClients = { validation_kind: "CLIENT", expected_peer_name: null };

const TRIALS: readonly (readonly [string, Record<string, unknown>, boolean])[] = [
  ["a server of the authority", item(authority.issue({ subject: "CN=s", names })), true],
  ["a server with RSA", item(authority.issue({ subject: "CN=s", names, keyType: "rsa-2048" })), true],
  ["a server of another name", item(authority.issue({ subject: "CN=s", names: ["other.example"] })), false],
  [
    "a server without an expected name",
    item(authority.issue({ subject: "CN=s", names: ["other.example"] }), { expected_peer_name: null }),
    true,
  ],
  ["a server behind an intermediate", item(below, { untrusted_intermediates: [lower.certificate] }), true],
  ["a server without its intermediate", item(below), false],
  ["a server of an impostor", item(authority.impostor().issue({ subject: "CN=s", names })), false],
  ["a client of the authority", item(client, forClients), true],
  ["a client of an impostor", item(authority.impostor().issue({ subject: "CN=Ann" }), forClients), false],
];
for (const [what, testcase, believed] of TRIALS) {
  Deno.test(`a case of ${what} is ${believed ? "accepted" : "refused"}`, async () => {
    const [limbo] = read(testcase);
    assert(limbo !== undefined && untriable(limbo) === undefined);
    assert.equal(await isBelieved(limbo), believed);
  });
}

Deno.test("untriable() gives the reason for cases that cannot be tried over a connection", () => {
  for (
    const more of [
      { peer_certificate_key: null },
      { validation_time: "2024-01-01T00:00:00Z" },
      { features: ["has-crl"] },
      { max_chain_depth: 1 },
    ]
  ) {
    const [limbo] = read(item(client, more));
    assert.equal(typeof (limbo && untriable(limbo)), "string", JSON.stringify(more));
  }
});

const BAD: readonly (readonly [unknown, RegExp])[] = [
  [{ version: 2, testcases: [] }, /expected version 1/],
  [{ version: 1 }, /expected version 1 with testcases/],
  [{ version: 1, testcases: [1] }, /testcases\[0\]: expected an object/],
  [{ version: 1, testcases: [{}] }, /testcases\[0\]: id: expected a text/],
  ...([
    ["validation_kind", "BOTH", /SERVER or CLIENT/],
    ["expected_result", 1, /a text/],
    ["expected_result", "MAYBE", /SUCCESS or FAILURE/],
    ["trusted_certs", "x", /a list/],
    ["trusted_certs", [1], /a list of texts/],
    ["max_chain_depth", "1", /a number/],
    ["expected_peer_name", "x", /an object/],
  ] as const).map(([name, value, expected]): [unknown, RegExp] => [
    { version: 1, testcases: [item(client, { [name]: value })] },
    new RegExp(
      `own::case: ${name}: expected .*${expected.source}|own::case: ${name}: expected ${expected.source}`,
    ),
  ]),
];
for (const [found, expected] of BAD) {
  Deno.test(`readLimbo() refuses ${JSON.stringify(found).slice(0, 40)}, ${expected.source.slice(0, 50)}`, () =>
    assert.throws(() => readLimbo(JSON.stringify(found)), expected));
}
