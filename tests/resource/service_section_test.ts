import assert from "node:assert/strict";
import { type ServiceFacts, ServiceSection } from "../../src/resource/service_section.ts";
import type { Caller } from "../../src/model/identity.ts";

const KNOWN: Caller = {
  kind: "authenticated",
  identity: { dn: "CN=Ann", method: "PASSWORD_FILE", via: "PASSWORD" },
};

function setting() {
  const clock = { now: Date.UTC(2026, 0, 5, 9, 15, 0, 400) };
  const states: Record<string, string> = { "UFTPD server 'HPC'": "OK" };
  const facts: ServiceFacts = {
    siteName: "Two\nlines",
    version: "1.2.3",
    upSince: 0,
    credential: () => undefined,
    trustedCAs: () => ["CN=A\\B"],
    trustedSAMLIssuers: () => [],
    externalConnections: () => states,
    methods: new Map(),
    cluster: undefined,
    clock: () => clock.now,
  };
  const section = new ServiceSection(facts);
  const read = (caller: Caller) => JSON.parse(`{\n  "server": ${section.textFor(caller)}\n}`).server;
  return { clock, states, read };
}

Deno.test("ServiceSection is valid JSON for any values", () => {
  const { siteName, version, trustedCAs } = setting().read(KNOWN);
  assert.deepEqual({ siteName, version, trustedCAs }, {
    siteName: "Two\nlines",
    version: "1.2.3",
    trustedCAs: ["CN=A\\B"],
  });
});

Deno.test("ServiceSection shows anonymous callers only the site's name and the time", () => {
  const { read } = setting();
  read(KNOWN); // anonymous callers do not get the cached section for known users
  assert.deepEqual(Object.keys(read({ kind: "anonymous" })), ["siteName", "currentTime"]);
});

Deno.test("ServiceSection is cached for the second that it names, and rebuilt for the next", () => {
  const { clock, states, read } = setting();
  const first = read(KNOWN);
  states["UFTPD server 'HPC'"] = "DOWN";
  clock.now += 599;
  assert.deepEqual(read(KNOWN), first);
  clock.now += 1;
  const next = read(KNOWN);
  assert.notEqual(next.currentTime, first.currentTime);
  assert.deepEqual(next.externalConnections, states);
});
