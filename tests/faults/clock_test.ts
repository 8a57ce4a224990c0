/** A clock that is set while the service runs: by an hour, a day, forwards, backwards. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { createService, type Service } from "../../src/service/service.ts";
import { ALICE, createSite } from "../system/running_service.ts";
import { note } from "./fault_table.ts";
import { answerWeb } from "../../src/service/mount.ts";

const HOUR = 3600_000;
const DAY = 24 * HOUR;
const ALICE_BASIC = `Basic ${btoa(ALICE.join(":"))}`;
const BANNED = "198.51.100.7";
const WRONG = `Basic ${btoa("alice:guess")}`;

async function withService(
  test: (service: Service, step: (by: number) => void) => Promise<void>,
): Promise<void> {
  await using site = await createSite({
    servers: { HPC: [{ maxSessions: 1000 }] },
    properties: { "container.security.throttling.baseDelay": "300" },
  });
  const { snapshot } = await loadSnapshot(site.main, { environment: () => undefined });
  assert(snapshot !== undefined);
  let ahead = 0;
  const options = { ...snapshot, generation: 1, upSince: Date.now(), port: 9000 };
  const service = await createService(options, { log: SILENT, clock: () => Date.now() + ahead });
  try {
    await until(async () => (await (await ask(service, ALICE_BASIC)).text()).includes("3.5.3"), {
      everyMs: 10,
    });
    await test(service, (by) => ahead += by);
  } finally {
    await service.close();
  }
}

function ask(service: Service, authorization: string, address = "127.0.0.1"): Promise<Response> {
  const headers = { Authorization: authorization, Accept: "application/json" };
  return answerWeb(service, new Request("https://localhost/rest/auth", { headers }), { address });
}

function openSession(service: Service): Promise<Response> {
  return answerWeb(
    service,
    new Request("https://localhost/rest/auth/HPC", {
      method: "POST",
      headers: { Authorization: ALICE_BASIC, "Content-Type": "application/json" },
      body: '{"serverPath":""}',
    }),
    { address: "127.0.0.1" },
  );
}

for (
  const [what, by] of [
    ["an hour forwards", HOUR],
    ["two hours forwards", 2 * HOUR],
    ["a day forwards", DAY],
    ["two hours back", -2 * HOUR],
    ["a day back", -DAY],
  ] as const
) {
  Deno.test(`a clock set ${what} fails no login and no session`, () =>
    withService(async (service, step) => {
      assert.equal((await openSession(service)).status, 200);
      step(by);
      for (let i = 0; i < 3; i++) {
        assert.equal((await ask(service, ALICE_BASIC)).status, 200);
        assert.equal((await openSession(service)).status, 200);
      }
    }));
}

Deno.test("a clock set back and forth by two hours changes the length of no wait and no ban", () =>
  withService(async (service, step) => {
    let last = await ask(service, WRONG);
    await until(async () => (last = await ask(service, WRONG)).status !== 401, { everyMs: 0 });
    assert.equal(last.status, 429);
    await service.admin.call({ command: "ban add", subject: { address: BANNED }, seconds: 200 });
    for (const by of [2 * HOUR, -4 * HOUR, 2 * HOUR]) {
      step(by);
      for (const [address, most] of [["127.0.0.1", 300], [BANNED, 200]] as const) {
        const reply = await ask(service, ALICE_BASIC, address);
        assert.equal(reply.status, 429);
        const seconds = Number(reply.headers.get("Retry-After"));
        assert(seconds > most / 2 && seconds <= most, `${seconds} s`);
      }
    }
    note({
      section: "Clock",
      fault: "the clock is set by an hour or a day, forwards or back",
      caller: "nothing; token lifetimes follow the new time",
      log: "nothing",
      after: "login delays, bans and circuit breakers keep their durations",
    });
  }));
