import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { SILENT } from "../../../src/logging/logger.ts";
import { Webhook, webhookKeys } from "../../../src/notify/webhook/webhook.ts";
import { HttpsClient } from "../../../src/outgoing/https_client.ts";
import { RemoteUnavailable } from "../../../src/outgoing/remote_unavailable.ts";
import { type SeenRequest, startHttpsServer } from "../../identity_provider/https_server.ts";
import { createAuthority } from "../../pki/authority.ts";
import { type Behaviour, notification, type Receiver, testDestination } from "../conformance.ts";

const authority = createAuthority({ subject: "CN=Test CA,O=Site-A" });
const credential = authority.issue({ subject: "CN=receiver", names: ["localhost"] });
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NOW = Date.parse("2026-01-05T10:00:00.7Z");
const signal = new AbortController().signal;

interface WebhookReceiver extends Receiver {
  readonly seen: readonly SeenRequest[];
}

async function startReceiver(
  {
    secret = SECRET,
    status = 204,
    headers = {} as Record<string, string>,
    body = undefined as Uint8Array | string | undefined,
    anchors = [authority.certificate],
  } = {},
): Promise<WebhookReceiver> {
  const state: { behaviour: Behaviour } = { behaviour: "accept" };
  const received: string[] = [];
  const server = await startHttpsServer(credential, ({ headers: sent }, response) => {
    if (state.behaviour === "silence") return;
    if (state.behaviour === "fail") return response.writeHead(500).end();
    received.push(String(sent["webhook-id"]));
    if (state.behaviour === "lose the answer") return response.destroy();
    response.writeHead(status, headers).end(body);
  });
  const client = new HttpsClient(
    {
      publicRoots: false,
      showCertificate: false,
      hostnameChecking: "FAIL",
      connectTimeoutMs: 10_000,
      timeoutMs: 20_000,
      maxConnectionsPerHost: 6,
      maxConnections: 20,
      idleTimeoutMs: 30_000,
    },
    { anchors },
    SILENT,
  );
  const keys = webhookKeys(secret) ?? [];
  let open = true;
  return {
    destination: new Webhook({ address: `${server.origin}/hook`, keys, http: client, clock: () => NOW }),
    received,
    seen: server.seen,
    get behaviour() {
      return state.behaviour;
    },
    set behaviour(behaviour) {
      state.behaviour = behaviour;
    },
    async [Symbol.asyncDispose]() {
      if (!open) return;
      open = false;
      client.close();
      server.cut();
      await server[Symbol.asyncDispose]();
    },
  };
}

testDestination("Webhook", startReceiver);

Deno.test("Webhook signs as the Standard Webhooks specification says, with each of its secrets", async () => {
  const other = `whsec_${new Uint8Array(32).fill(7).toBase64()}`;
  await using receiver = await startReceiver({ secret: `${SECRET} ${other}` });
  await receiver.destination.deliver([notification("m-1")], signal);
  const [{ headers, body, method, path } = assert.fail("nothing arrived")] = receiver.seen;
  assert.deepEqual([method, path, headers["content-type"]], ["POST", "/hook", "application/json"]);
  assert.deepEqual(JSON.parse(body), {
    type: "files.arrived",
    timestamp: "2026-01-05T09:00:00.000Z",
    data: { server: "HPC", path: "/data/drop/", name: "a.txt", bytes: 3 },
  });
  const timestamp = String(Math.floor(NOW / 1000));
  assert.deepEqual([headers["webhook-id"], headers["webhook-timestamp"]], ["m-1", timestamp]);
  const signed = [SECRET, other].map((secret) =>
    `v1,${
      createHmac("sha256", Uint8Array.fromBase64(secret.slice(6))).update(`m-1.${timestamp}.${body}`).digest(
        "base64",
      )
    }`
  );
  assert.equal(headers["webhook-signature"], signed.join(" "));
});

Deno.test("Webhook makes the signature of the specification's example", () => {
  const [key = assert.fail()] = webhookKeys(SECRET) ?? [];
  const body = '{"test": 2432232314}';
  const signed = `msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.${body}`;
  const signature = createHmac("sha256", key).update(signed).digest("base64");
  assert.equal(signature, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

for (
  const [what, secret] of [
    ["without its prefix", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    ["that is too short", `whsec_${new Uint8Array(23).toBase64()}`],
    ["that is too long", `whsec_${new Uint8Array(65).toBase64()}`],
    ["that is not base64", "whsec_!!!!"],
    ["after a valid one", `${SECRET} x`],
    ["that is empty", ""],
  ] as const
) {
  Deno.test(`webhookKeys() refuses a secret ${what}`, () => assert.equal(webhookKeys(secret), undefined));
}

const BODIES: readonly (readonly [string, body: Uint8Array | string, headers?: Record<string, string>])[] = [
  ["is not UTF-8", Uint8Array.of(0xff, 0xfe)],
  ["has a content coding", "x", { "Content-Encoding": "deflate" }],
  ["is longer than a megabyte", new Uint8Array(1_100_000)],
  ["is shorter than announced", "x", { "Content-Length": "2" }],
];
for (const [what, body, headers] of BODIES) {
  Deno.test(`Webhook treats status 200 as success, even if the body ${what}`, async () => {
    await using receiver = await startReceiver({ status: 200, headers, body });
    for (const message of ["m-1", "m-2"]) {
      await receiver.destination.deliver([notification(message)], signal);
    }
    assert.deepEqual(receiver.received, ["m-1", "m-2"]);
  });
}

for (const status of [301, 400, 404, 410]) {
  Deno.test(`Webhook treats status ${status} as a failure of this message only`, async () => {
    await using receiver = await startReceiver({
      status,
      headers: { Location: "https://elsewhere.example/" },
    });
    await assert.rejects(
      receiver.destination.deliver([notification("m-1")], signal),
      (error) =>
        error instanceof Error && !(error instanceof RemoteUnavailable) &&
        error.message.includes(String(status)),
    );
  });
}

for (const status of [429, 503]) {
  Deno.test(`Webhook waits for the Retry-After of a receiver with status ${status}`, async () => {
    await using receiver = await startReceiver({ status, headers: { "Retry-After": "120" } });
    await assert.rejects(
      receiver.destination.deliver([notification("m-1")], signal),
      (error) => error instanceof RemoteUnavailable && error.retryAfterSeconds === 120,
    );
  });
}

Deno.test("Webhook sends nothing to a receiver without a certificate of a trusted authority", async () => {
  await using receiver = await startReceiver({ anchors: [authority.impostor().certificate] });
  await assert.rejects(receiver.destination.deliver([notification("m-1")], signal), RemoteUnavailable);
  assert.deepEqual(receiver.seen, []);
});
