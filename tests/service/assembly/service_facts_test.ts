import assert from "node:assert/strict";
import { externalConnections } from "../../../src/service/assembly/service_facts.ts";

const ADDRESS = "https://unity.example.org/saml";
const authenticator = (status: "up" | "down" | "new") =>
  [[{ label: "Unity", address: ADDRESS }], {
    status: () => ({
      remote: "unity.example.org",
      up: status !== "down",
      ...(status !== "new" && { since: 1 }),
    }),
  }] as const;

const TOLD: readonly [first: "up" | "down" | "new", second: "up" | "down" | "new", told: string][] = [
  ["new", "new", "UNKNOWN"],
  ["up", "up", "OK"],
  ["up", "new", "OK"],
  ["new", "up", "OK"],
  ["down", "down", "DOWN"],
  ["down", "up", "DOWN"],
  ["up", "down", "DOWN"],
  ["down", "new", "DOWN"],
  ["new", "down", "DOWN"],
];

for (const [first, second, told] of TOLD) {
  Deno.test(`externalConnections() combines ${first} and ${second} of two methods at one system into ${told}`, () => {
    const authenticators = [authenticator(first), authenticator(second)];
    assert.deepEqual(externalConnections([], authenticators), { [`Unity ${ADDRESS}`]: told });
  });
}

Deno.test("externalConnections() omits methods that query no other system", () => {
  const authenticators = [[[], {}], [[], undefined]] as const;
  assert.deepEqual(externalConnections([], authenticators), {});
});

Deno.test("externalConnections() of a daemon that has not been asked yet is UNKNOWN", () => {
  const status = (facts: { up: boolean; unchecked?: boolean }) => ({
    usable: facts.up,
    worthTrying: true,
    unchecked: facts.unchecked === true,
    total: 1,
    available: 0,
    instances: [{ instance: 1, address: "hpc.example.org:1", ...facts }],
  });
  for (
    const [facts, told] of [
      [{ up: false, unchecked: true }, "UNKNOWN"],
      [{ up: false }, "DOWN"],
      [{ up: true }, "OK"],
    ] as const
  ) {
    const group = { name: "HPC", size: 1, status: () => status(facts) };
    assert.deepEqual(externalConnections([group], []), { "UFTPD server 'HPC'": told });
  }
});
