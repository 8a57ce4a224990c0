import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { OutgoingConfig } from "../../src/config/service_config.ts";
import { exchange } from "../../src/daemon/command_connection.ts";
import { encodePing } from "../../src/daemon/encode_command.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { HttpsClient } from "../../src/outgoing/https_client.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { LONG } from "../long/results.ts";
import { createAuthority, type Credential } from "../pki/authority.ts";
import { type Lie, type LyingServer, startLyingServer } from "./lying_tls_server.ts";

const authority = createAuthority({ subject: "CN=Trusted CA,O=Site" });
const own = authority.issue({ subject: "CN=AUTH,O=Site" });
const names = ["127.0.0.1"];
const subject = "CN=UFTPD,O=Site";
const genuine = authority.issue({ subject, names });
const stranger = authority.impostor().issue({ subject, names });
const VERSIONS = ["TLSv1.2", "TLSv1.3"] as const;

const SETTING: OutgoingConfig = {
  publicRoots: false,
  showCertificate: true,
  hostnameChecking: "FAIL",
  connectTimeoutMs: 10_000,
  timeoutMs: 20_000,
  maxConnectionsPerHost: 6,
  maxConnections: 20,
  idleTimeoutMs: 30_000,
};

const der = (pem: string) => new X509Certificate(pem).raw;
const keyOf = ({ key }: Credential) => createPrivateKey(key);

/** Client of a server; the data that it sends show whether it trusts the server. */
interface Asker {
  readonly name: string;
  readonly ask: (port: number, anchors: readonly string[]) => Promise<void>;
}

/** Returns a client that sends an identity provider a request with a token. */
const provider = (hostnameChecking: OutgoingConfig["hostnameChecking"]): Asker => ({
  name: `outgoing HTTPS, ${hostnameChecking}`,
  ask: async (port, anchors) => {
    const client = new HttpsClient({ ...SETTING, hostnameChecking }, { anchors }, SILENT);
    const headers = { Authorization: "Bearer secret" };
    const url = `https://127.0.0.1:${port}/`;
    try {
      await assert.rejects(
        client.send({ method: "GET", url, headers }, new AbortController().signal),
        RemoteUnavailable,
      );
    } finally {
      client.close();
    }
  },
});

/** Returns a client that sends a command to a daemon. */
const daemon = (expectedDn?: string, allowUnverifiable = false): Asker => ({
  name: expectedDn === undefined ? "daemon" : "daemon with a pinned name",
  ask: async (port, anchors) => {
    const material = { ...own, anchors };
    const tls = {
      material: () => material,
      allowUnverifiable,
      ...(expectedDn !== undefined && { expectedDn }),
    };
    await exchange({ host: "127.0.0.1", port, tls }, encodePing(), {
      limits: () => ({ connect: 10_000, handshake: 10_000, reply: 10_000 }),
      signal: new AbortController().signal,
      clock: Date.now,
    });
  },
});

const ASKERS = [provider("FAIL"), provider("NONE"), daemon(), daemon(subject)];

/** Reports whether a server received more than the `END` with which clients leave daemons. */
async function believed(
  server: LyingServer,
  lie: Lie,
  { ask }: Asker,
  anchors: readonly string[] = [authority.certificate],
): Promise<boolean> {
  server.lie = lie;
  server.heard();
  await ask(server.port, anchors);
  return !/^(?:END\n)?$/.test(server.heard());
}

Deno.test("clients trust the lying server when it does not lie, in TLS 1.2 and 1.3", async () => {
  for (const version of VERSIONS) {
    const truth: Lie = { chain: [der(genuine.certificate)], key: keyOf(genuine), version };
    await using server = await startLyingServer(truth);
    for (const asker of ASKERS) assert(await believed(server, truth, asker), `${asker.name} ${version}`);
  }
});

const old = authority.issue({ subject, version: 1 });
const expired = authority.issue({ subject, names, notAfter: new Date("2021-01-01") });
const forClients = authority.issue({ subject, names, extendedKeyUsage: ["clientAuth"] });
const entity = createAuthority({ subject: "CN=Entity", ca: false });
const lies: [what: string, chain: readonly string[], key: Credential, anchors?: readonly string[]][] = [
  ["a genuine certificate without its key", [genuine.certificate], stranger],
  ["a genuine certificate of version 1 without its key", [old.certificate], stranger],
  ["a genuine certificate of version 1", [old.certificate], old],
  [
    "one of version 1 of an impostor",
    [authority.impostor().issue({ subject, version: 1 }).certificate],
    stranger,
  ],
  ["one of an impostor", [stranger.certificate], stranger],
  [
    "one of an impostor followed by our authority",
    [stranger.certificate, authority.certificate],
    stranger,
  ],
  ["one of an impostor followed by rubbish", [stranger.certificate, old.certificate], stranger],
  ["an expired one", [expired.certificate], expired],
  ["one for clients", [forClients.certificate], forClients],
  ["a genuine one without trusted authorities", [genuine.certificate], genuine, []],
  [
    "one signed by a certificate that is trusted as itself only",
    [
      entity.issue({ subject, names }).certificate,
    ],
    stranger,
    [entity.certificate],
  ],
  ["a certificate that is trusted as itself, without its key", [entity.certificate], stranger, [
    entity.certificate,
  ]],
];
for (const [what, chain, holder, anchors] of lies) {
  Deno.test(`no client trusts a server that shows ${what}`, async () => {
    const lie = { chain: chain.map(der), key: keyOf(holder) };
    await using server = await startLyingServer({ ...lie, version: "TLSv1.3" });
    for (const version of VERSIONS) {
      for (const asker of ASKERS) {
        assert.equal(
          await believed(server, { ...lie, version }, asker, anchors),
          false,
          `${asker.name} ${version}`,
        );
      }
    }
  });
}

Deno.test("if unverifiable certificates are allowed, any server with a daemon's certificate passes as the daemon", async () => {
  const lie = { chain: [der(old.certificate)], key: keyOf(stranger) };
  await using server = await startLyingServer({ ...lie, version: "TLSv1.3" });
  for (const version of VERSIONS) {
    assert(await believed(server, { ...lie, version }, daemon(subject, true)), version);
  }
});

Deno.test("outgoing HTTPS refuses a certificate of another name, and daemon connections all but the pinned one", async () => {
  const other = authority.issue({ subject: "CN=Other", names: ["other.example"] });
  const lie = { chain: [der(other.certificate)], key: keyOf(other) };
  await using server = await startLyingServer({ ...lie, version: "TLSv1.3" });
  for (const version of VERSIONS) {
    for (const asker of [provider("FAIL"), daemon(subject)]) {
      assert.equal(await believed(server, { ...lie, version }, asker), false, `${asker.name} ${version}`);
    }
  }
});

/** Step between tested changes: a sample every day, all three changes of each byte in long runs. */
const STEP = LONG ? 1 : 23;

for (const asker of [provider("FAIL"), daemon()]) {
  Deno.test(`${asker.name}: a forged certificate with one byte changed is never trusted`, async () => {
    const forged = der(stranger.certificate);
    const key = keyOf(stranger);
    await using server = await startLyingServer({ chain: [forged], key, version: "TLSv1.3" });
    let tried = 0;
    for (let change = 0; change < 3 * forged.length; change += STEP) {
      const at = Math.floor(change / 3);
      const bytes = Uint8Array.from(forged);
      bytes[at] = (bytes[at] ?? 0) ^ ([0x01, 0x80, 0xff][change % 3] ?? 0);
      const version = VERSIONS[tried++ % 2] ?? "TLSv1.3";
      assert.equal(
        await believed(server, { chain: [bytes], key, version }, asker),
        false,
        `byte ${at}, ${version}`,
      );
    }
  });
}
