import assert from "node:assert/strict";
import { sshKey } from "../../../src/authentication/ssh_key/ssh_key.ts";
import type { DaemonGroup } from "../../../src/daemon/daemon_group.ts";
import { DaemonPool } from "../../../src/daemon/daemon_pool.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import type { DaemonSimulator } from "../../daemon_simulator/daemon.ts";
import { material, settle, startTlsDaemon } from "../../daemon/setting.ts";
import { VirtualTime } from "../../fixtures/virtual_time.ts";
import { bearer } from "../sample_credentials.ts";
import { signToken } from "../sign_token.ts";
import { privateKey, publicLine } from "./user_keys.ts";
import { inTime } from "../../fixtures/deadline.ts";

/** Lines of a key file that give no usable key. */
const NOISE = [
  "# mine",
  "",
  "  # indented",
  `command="id" ${publicLine("other_ed25519")}`,
  publicLine("old_dsa"),
  "x",
];

function keyFile(...names: string[]): string {
  return [...NOISE, ...names.map((name) => `from="192.0.2.0/24",no-pty ${publicLine(name)}`)].join("\n");
}

function user(uid: number, file: string) {
  return { uid, home: `/home/${uid}`, groups: ["users"], keyFiles: { ".ssh/authorized_keys": file } };
}

function groupOf(name: string, daemon: DaemonSimulator): DaemonGroup {
  const time = new VirtualTime();
  const { host, commandPort, listenPort } = daemon;
  const instances = [{ host, port: listenPort, commandHost: host, commandPort, ssl: true }];
  return new DaemonPool({ name, description: name, instances }, {
    tls: () => material,
    clock: time.clock,
    elapsed: time.clock,
    schedule: time.schedule,
    log: SILENT,
  });
}

/** Runs a test with two daemons, their groups and an authenticator that asks these groups. */
async function withDaemons(
  run: (at: {
    daemons: readonly [DaemonSimulator, DaemonSimulator];
    ask: (name: string, key: string) => Promise<readonly string[] | string>;
  }) => Promise<void>,
): Promise<void> {
  const users = {
    ann: user(1000, keyFile("user_ed25519", "user_ecdsa256")),
    root: user(0, keyFile("user_ed25519")),
  };
  const daemons = [
    await startTlsDaemon({ users }),
    await startTlsDaemon({ users: { ann: user(1000, keyFile("user_ed25519")), bob: user(1001, "") } }),
  ] as const;
  const groups = [groupOf("A", daemons[0]), groupOf("B", daemons[1])];
  const method = await sshKey({
    name: "SSHKEY",
    dnTemplate: "CN=%s, OU=ssh-local-users",
    sources: groups.map((group) => ({
      server: group.name,
      keyLines: async (name, signal) => {
        const info = await group.userInfo(name, signal);
        return info.kind === "known" ? info.keyLines : [];
      },
    })),
    times: { updateMs: 600_000, graceMs: 50 },
    maxLifetime: 86_400,
    legacyToken: false,
    serverName: () => "CN=AUTH,O=Demo,C=EU",
    clock: () => 1_800_000_000_000,
    log: SILENT,
  });
  try {
    await run({
      daemons,
      async ask(name, key) {
        const claims = { sub: name, iss: name, exp: 1_800_000_300 };
        const alg = key.includes("ecdsa") ? "ES256" : "EdDSA";
        const token = signToken({ header: { alg }, claims, key: privateKey(key) });
        const result = await method.authenticate(bearer(token), new AbortController().signal);
        return result.kind === "accepted" ? [...result.identity.uidServers ?? []].sort() : result.kind;
      },
    });
  } finally {
    method.close();
    for (const daemon of daemons) await settle(daemon);
    await Promise.all(groups.map((group) => group.close()));
    for (const daemon of daemons) {
      daemon.assertNeverWedged();
      await daemon.close();
    }
  }
}

Deno.test("sshKey() gets users' keys from the daemons, each valid for the servers of its daemon", async () => {
  await withDaemons(async ({ ask, daemons }) => {
    assert.deepEqual(await ask("ann", "user_ed25519"), ["A", "B"]);
    assert.deepEqual(await ask("ann", "user_ecdsa256"), ["A"]);
    assert.equal(await ask("ann", "other_ed25519"), "refused");
    assert.equal(await ask("bob", "user_ed25519"), "refused");
    assert.equal(await ask("nobody", "user_ed25519"), "refused");
    assert.equal(await ask("root", "user_ed25519"), "refused");
    for (const daemon of daemons) {
      const names = daemon.requests.map(({ values }) => values?.get("user")).filter((name) =>
        name !== undefined
      );
      assert.deepEqual(names.sort(), ["ann", "bob", "nobody"]);
    }
  });
});

Deno.test("sshKey() signs in while one daemon is down or slow, and answers 503 only if that one might know the key", async () => {
  await withDaemons(async ({ ask, daemons: [, b] }) => {
    b.fault = { kind: "not-in-acl" };
    assert.deepEqual(await ask("ann", "user_ecdsa256"), ["A"]);
    await assert.rejects(ask("nobody", "user_ed25519"), { code: "ERR_KEY_LOOKUP_FAILED" });
  });
  await withDaemons(async ({ ask, daemons: [, b] }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    b.hold = promise;
    assert.deepEqual(await inTime(ask("ann", "user_ecdsa256"), "an answer without the slow daemon"), ["A"]);
    resolve();
  });
});
