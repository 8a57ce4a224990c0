import assert from "node:assert/strict";
import { SILENT } from "../../../src/logging/logger.ts";
import { webhook } from "../../../src/notify/webhook/kind.ts";
import type { Outgoing, OutgoingRequest } from "../../../src/outgoing/outgoing.ts";
import { REMOTE_FIX } from "../../../src/outgoing/probed_kind.ts";

const CONFIG = {
  kind: "webhook",
  name: "webhook",
  address: "https://receiver.example.org/hook",
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  events: undefined,
};

/** Probes a receiver that answers with this status. */
async function probed(status: number) {
  const asked: OutgoingRequest[] = [];
  const outgoing: Outgoing = {
    http: () => ({
      send(request) {
        asked.push(request);
        return Promise.resolve({ status, headers: {}, body: "" });
      },
    }),
    connect: () => assert.fail("no connection of its own"),
    connectionsPerHost: 6,
  };
  const [remote = assert.fail("no remote")] = webhook.remotes?.(CONFIG) ?? [];
  const answer = await remote.probe({
    outgoing,
    externalUrl: "https://auth.example.org",
    clock: Date.now,
    log: SILENT,
  });
  assert.deepEqual(asked, [{ method: "GET", url: CONFIG.address, statusAlone: true }]);
  return answer;
}

for (const status of [200, 302, 405, 499]) {
  Deno.test(`webhook reports a receiver that answers a probe with ${status} as reachable`, async () => {
    const { ok, found, fix } = await probed(status);
    assert.deepEqual([ok, fix], [true, undefined]);
    assert.match(found, new RegExp(`^answers GET with status ${status}; nothing was sent`));
  });
}

for (const status of [500, 503]) {
  Deno.test(`webhook reports a receiver that answers a probe with ${status} as out of order`, async () => {
    const { ok, fix } = await probed(status);
    assert.deepEqual([ok, fix], [false, REMOTE_FIX]);
  });
}

Deno.test("webhook sends the configured events, by default all", () => {
  const event = { type: "ban.created", stream: "bans", data: {} } as const;
  assert.equal(webhook.accepts(CONFIG, event), true);
  assert.equal(webhook.accepts({ ...CONFIG, events: ["ban.created"] }, event), true);
  assert.equal(webhook.accepts({ ...CONFIG, events: ["ban.lifted"] }, event), false);
});
