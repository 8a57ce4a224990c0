import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import { wireString } from "../user_keys.ts";
import { otherForm, testAuthority } from "./signed_certificate.ts";
import { CertifiedUsers } from "../../../../src/authentication/ssh_key/certificate/certified_users.ts";
import { parseAuthorities } from "../../../../src/authentication/ssh_key/authorized_keys.ts";
import { UnusableKey } from "../../../../src/authentication/ssh_key/public_key.ts";
import { SILENT } from "../../../../src/logging/logger.ts";
import { openRecordStore } from "../../../../src/store/sqlite_record_store.ts";
import { certificateLine, IN_TIME } from "./certificates.ts";

interface Told {
  readonly registry: CertifiedUsers;
  /** Sets the clock, in seconds since the epoch. */
  at(seconds: number): void;
  /** Replaces the trusted authorities. */
  trust(text: string): Promise<void>;
  /** Opens the same records again, as after a restart. */
  reopened(): CertifiedUsers;
}

async function withRegistry(check: (told: Told) => Promise<void>, only = false): Promise<void> {
  const folder = await Deno.makeTempDir();
  let now = IN_TIME;
  const clock = () => now * 1000;
  let current = await parseAuthorities(certificateLine("ca_ed25519"), "ca");
  const authorities = {
    path: "ca",
    get current() {
      return current;
    },
    check: () => Promise.resolve(),
    close: () => {},
  };
  const records = openRecordStore(`${folder}/records.sqlite`, clock);
  const open = () =>
    new CertifiedUsers({
      records,
      authorities,
      revoked: undefined,
      clock,
      log: SILENT,
      method: "SSHKEY",
      template: "CN=%s",
      haveAccounts: true,
      only,
      ownKeys: () => Promise.resolve([]),
    });
  try {
    await check({
      registry: open(),
      at: (seconds) => now = seconds,
      trust: async (text) => {
        current = await parseAuthorities(text, "ca");
      },
      reopened: open,
    });
  } finally {
    records.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const idsOf = async (registry: CertifiedUsers, user: string) =>
  (await registry.of(user)).map(({ keyId }) => keyId);

Deno.test("CertifiedUsers keeps a certificate for each of its principals until it ends", () =>
  withRegistry(async ({ registry, reopened, at }) => {
    const outcome = await registry.upload(`${certificateLine("two_principals")}\n`);
    assert.equal(outcome.kind, "stored");
    assert.deepEqual(outcome.kind === "stored" && outcome.principals, ["ann", "bob@myaccessid.org"]);
    for (const name of ["ann", "bob@myaccessid.org"]) {
      assert.deepEqual(await idsOf(reopened(), name), ["two_principals"]);
    }
    assert.deepEqual(await idsOf(registry, "bob"), []);
    at(Date.UTC(2027, 0, 1) / 1000);
    assert.deepEqual(await idsOf(registry, "ann"), []);
  }));

Deno.test("CertifiedUsers stores a certificate once after repeated uploads, and removes it on request", () =>
  withRegistry(async ({ registry }) => {
    for (let i = 0; i < 3; i++) await registry.upload(certificateLine("by_ed25519"));
    assert.deepEqual(await idsOf(registry, "ann"), ["by_ed25519"]);
    assert.equal(await registry.forget(`${certificateLine("by_ed25519")} another comment`), true);
    assert.equal(await registry.forget(certificateLine("by_ed25519")), false);
    assert.deepEqual(await idsOf(registry, "ann"), []);
    await assert.rejects(registry.forget("no certificate"), UnusableKey);
  }));

Deno.test("CertifiedUsers does not store a certificate that it refuses, and says why", () =>
  withRegistry(async ({ registry, at }) => {
    for (
      const [name, reason] of [
        ["by_other", /not among those/],
        ["force_command", /one command/],
        ["for_host", /not one for a user/],
        ["ca_ed25519", /expected an OpenSSH certificate/],
      ] as const
    ) {
      const outcome = await registry.upload(certificateLine(name));
      assert(outcome.kind === "refused");
      assert.match(outcome.reason, reason);
    }
    at(Date.UTC(2025, 0, 1) / 1000);
    const early = await registry.upload(certificateLine("by_ed25519"));
    assert.equal(early.kind === "refused" && early.reason, "it is not valid yet");
    assert.deepEqual(await idsOf(registry, "ann"), []);
  }));

Deno.test("CertifiedUsers checks stored certificates against the current authorities", () =>
  withRegistry(async ({ registry, trust }) => {
    await registry.upload(certificateLine("by_ed25519"));
    const [certificate] = await registry.of("ann");
    assert(certificate !== undefined);
    assert.equal(registry.verify(certificate).kind, "valid");
    await trust(certificateLine("ca_other"));
    assert.equal(registry.verify(certificate).kind, "refused");
  }));

Deno.test("CertifiedUsers keeps the 20 certificates of the same principals that expire last", () =>
  withRegistry(async ({ registry }) => {
    await registry.upload(certificateLine("one_day"));
    await registry.upload(certificateLine("for_ever"));
    const names = Array.from({ length: 21 }, (_, n) => `many_${n}`);
    for (const name of names) await registry.upload(certificateLine(name));
    const kept = await idsOf(registry, "ann");
    assert.equal(kept.length, 20);
    assert(kept.includes("for_ever") && kept.includes("many_20") && !kept.includes("one_day"));
  }));

Deno.test("CertifiedUsers keeps no more than 20 even if the authority may not name the first principal", () =>
  withRegistry(async ({ registry, trust }) => {
    const authority = testAuthority();
    await trust(`principals="ann" ${authority.line}`);
    for (let n = 1; n <= 25; n++) {
      const outcome = await registry.upload(authority.certify(["someone", "ann"], n));
      assert.deepEqual(outcome.kind === "stored" && outcome.principals, ["ann"]);
    }
    assert.equal((await registry.of("ann")).length, 20);
  }));

Deno.test("CertifiedUsers stores a certificate once, even if its signature is encoded in different forms", () =>
  withRegistry(async ({ registry, trust }) => {
    const authority = testAuthority("ecdsa-sha2-nistp256");
    await trust(authority.line);
    let signature: Buffer = Buffer.alloc(0);
    const line = authority.certify(["ann"], 1, (made) => signature = made);
    const body = Buffer.from(line.split(" ")[1] ?? "", "base64");
    const wire = wireString(
      Buffer.concat([wireString("ecdsa-sha2-nistp256"), wireString(otherForm(signature))]),
    );
    const head = body.subarray(0, body.indexOf(signature) - 4 - 4 - "ecdsa-sha2-nistp256".length - 4);
    const other = `${line.split(" ")[0]} ${Buffer.concat([head, wire]).toString("base64")}`;
    assert.notEqual(other, line);
    for (const shown of [line, other]) assert.equal((await registry.upload(shown)).kind, "stored");
    assert.equal((await registry.of("ann")).length, 1);
    assert.equal(await registry.forget(line), true);
    assert.deepEqual(await registry.of("ann"), []);
  }));

Deno.test("CertifiedUsers does not store a certificate with a principal that cannot be a name", () =>
  withRegistry(async ({ registry, trust }) => {
    const authority = testAuthority();
    await trust(authority.line);
    for (const odd of ["an\0n", "ann\0", "\0"]) {
      const outcome = await registry.upload(authority.certify(["ann", odd]));
      assert(outcome.kind === "refused", JSON.stringify(odd));
      assert.match(outcome.reason, /principal/);
    }
    assert.deepEqual(await registry.of("ann"), []);
  }));

Deno.test("CertifiedUsers verifies the signature of a stored certificate once, not whenever somebody claims the name", () =>
  withRegistry(async ({ registry, trust, reopened }) => {
    const authority = testAuthority();
    await trust(authority.line);
    for (let n = 1; n <= 200; n++) await registry.upload(authority.certify([`user${n}`, "all"], n));
    const again = reopened();
    const first = await costOf(() => again.of("all"));
    const later: number[] = [];
    for (let i = 0; i < 5; i++) later.push(await costOf(() => again.of("all")));
    assert(Math.min(...later) < first / 3, `${later} after ${first}`);
  }));

Deno.test("CertifiedUsers says why it refuses certificates by users' own authorities", async () => {
  const cases: [only: boolean, account: string, reason: string][] = [
    [false, "ann", "its authority is not among those that are trusted"],
    [false, "root", "user: expected a user's account"],
    [true, "ann", "authorities of users do not count, only the operator's"],
  ];
  for (const [only, account, reason] of cases) {
    await withRegistry(async ({ registry }) => {
      const owner = { account, queueKey: account, known: true, signal: new AbortController().signal };
      const outcome = await registry.upload(certificateLine("by_ed25519"), owner);
      assert.equal(outcome.kind === "refused" && outcome.reason, reason);
    }, only);
  }
});

Deno.test("CertifiedUsers simulates the login of a user whom a certificate names, and of no other", () =>
  withRegistry(async ({ registry, trust }) => {
    const authority = testAuthority();
    await trust(authority.line);
    const line = authority.certify(["ann", "root"]);
    const cases: [line: string, user: string, reason: string | undefined][] = [
      [line, "ann", undefined],
      [line, "bob", "it names ann, root"],
      [line, "root", "the user name cannot be a user's account"],
      [certificateLine("by_other"), "ann", "its authority is not among those that are trusted"],
    ];
    for (const [shown, user, reason] of cases) {
      const result = registry.simulate(shown, user, "192.0.2.1");
      assert.equal(result.kind, reason === undefined ? "accepted" : "refused");
      assert.equal(result.kind === "refused" ? result.reason : undefined, reason);
    }
  }));

/** Returns the processor time of work, in milliseconds. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
