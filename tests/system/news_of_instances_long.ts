/** Time until a change that one instance acknowledged takes effect on all three. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { POSTGRES } from "../fixtures/postgres.ts";
import { note } from "../long/results.ts";
import type { Reply } from "./ask.ts";
import { ALICE, ALICE_DN, MAP, passwordLine, PASSWORDS } from "./running_service.ts";
import { type Instance, SeveralInstances } from "./several_instances.ts";
import { formToken, Visitor } from "./visitor.ts";

const BOSS = ["boss", "administers-9917"] as const;
const BOSS_DN = "CN=Boss,O=Demo,C=EU";
const ROUNDS = 30;
/** Promised limit, in milliseconds. */
const PROMISED_MS = 1000;

/** Change at one instance, and a request whose answer differs as soon as the change takes effect. */
interface Change {
  readonly make: (at: Instance) => Promise<void>;
  readonly ask: (instance: Instance, agent: Agent) => Promise<Reply>;
  readonly counts: (reply: Reply) => boolean;
}

/** Returns the milliseconds from the answer to the change until it takes effect on the last instance. */
async function measure(
  several: SeveralInstances,
  at: Instance,
  { make, ask, counts }: Change,
): Promise<number> {
  const agents = several.instances.map(() => new Agent({ keepAlive: true }));
  const of = (i: number) => agents[i] ?? new Agent();
  for (const [i, instance] of several.instances.entries()) {
    await until(async () => !counts(await ask(instance, of(i))));
  }
  await make(at);
  const began = performance.now();
  await Promise.all(several.instances.map(async (instance, i) => {
    while (!counts(await ask(instance, of(i)))) { /* asked again at once */ }
  }));
  const ms = performance.now() - began;
  agents.forEach((agent) => agent.destroy());
  return ms;
}

async function command(at: Instance, ...args: readonly string[]): Promise<void> {
  const io = recordedIo();
  assert.equal(await runCommand([...args, "--config", at.main], io), 0, io.err);
}

const HPC = "/rest/auth/HPC";
const asAlice = (instance: Instance, agent: Agent) => instance.ask(HPC, { as: ALICE, agent });
const isBanned = ({ status }: Reply) => status === 429;

/** Returns the changes in the order of each round. */
async function changesOf(
  several: SeveralInstances,
  boss: (at: Instance) => Promise<{ visitor: Visitor; token: string }>,
): Promise<readonly (readonly [what: string, change: Change])[]> {
  const asText = { Accept: "text/plain" };
  const token = (await several.one.ask("/rest/auth/token", { as: ALICE, headers: asText })).text;
  const share = await several.share();
  const byPage = (what: "ban" | "lift") => async (at: Instance) => {
    const { visitor, token } = await boss(at);
    const fields = { token, user: ALICE[0], address: "", for: "1h", do: what };
    assert.equal((await visitor.post("/admin/bans", fields)).status, 303);
  };
  const ban = { ask: asAlice, counts: isBanned };
  const lift = { ask: asAlice, counts: (reply: Reply) => !isBanned(reply) };
  return [
    ["a ban by command", { ...ban, make: (at) => command(at, "ban", "add", "--user", ALICE[0]) }],
    ["a ban that is lifted by command", {
      ...lift,
      make: (at) => command(at, "ban", "remove", "--user", ALICE[0]),
    }],
    ["a ban by the page of administrators", { ...ban, make: byPage("ban") }],
    ["a ban that is lifted by that page", { ...lift, make: byPage("lift") }],
    ["a token that is taken back", {
      make: async (at) => {
        const { status } = await at.ask("/rest/auth/tokens", { as: ALICE, method: "DELETE" });
        assert.ok(status < 300, String(status));
      },
      ask: (instance, agent) =>
        instance.ask(HPC, {
          headers: { Authorization: `Bearer ${token}`, Accept: "application/json" },
          agent,
        }),
      counts: ({ status }) => status === 401,
    }],
    ["a share that is removed", {
      make: async (at) => {
        const { status } = await at.ask(`/rest/share/HPC/${share}`, { as: ALICE, method: "DELETE" });
        assert.equal(status, 200);
      },
      ask: (instance, agent) => instance.ask(`/rest/access/HPC/${share}`, { agent }),
      counts: ({ status }) => status === 404,
    }],
  ];
}

Deno.test(
  {
    name: "a change that one of three instances acknowledged takes effect on all within a second",
    ignore: POSTGRES === undefined,
  },
  async () => {
    await using several = await SeveralInstances.start({
      instances: 0,
      postgres: { durable: true },
    });
    const { site, instances } = several;
    await site.replace("conf/users.txt", PASSWORDS + passwordLine(BOSS, BOSS_DN));
    const map = { ...MAP, [BOSS_DN]: { role: ["user", "admin"], xlogin: "alice" } };
    await site.replace("conf/mapfile.json", JSON.stringify({ ...map, [ALICE_DN]: MAP[ALICE_DN] }));
    instances.push(...await Promise.all([0, 1, 2].map((number) => several.startInstance(number))));
    for (const instance of instances) {
      await until(async () => (await instance.ask("/health/ready")).status === 200);
    }
    const visitors = new Map<Instance, Visitor>();
    for (const instance of instances) {
      const visitor = new Visitor({ port: instance.port, authority: site.authority });
      assert.equal((await visitor.signIn(BOSS)).status, 303);
      visitors.set(instance, visitor);
    }
    const boss = async (at: Instance) => {
      const visitor = visitors.get(at);
      assert.ok(visitor);
      return { visitor, token: formToken(await visitor.get("/admin")) };
    };
    const times = new Map<string, number[]>();
    for (let round = 0; round < ROUNDS; round++) {
      const at = instances[round % instances.length];
      assert.ok(at);
      for (const [what, change] of await changesOf(several, boss)) {
        const all = times.get(what) ?? [];
        times.set(what, [...all, await measure(several, at, change)]);
      }
    }
    for (const [what, all] of times) {
      const sorted = all.toSorted((a, b) => a - b);
      const [median = 0, most = Infinity] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
      console.log(what, median.toFixed(0), most.toFixed(0));
      note("instances", {
        trial: `${what}: from the answer until all three instances follow`,
        done: `${ROUNDS} changes, at each instance in turn`,
        outcome: `median ${median.toFixed(0)} ms, at most ${most.toFixed(0)} ms`,
      });
      assert.ok(most <= PROMISED_MS, `${what}: ${most} ms`);
    }
  },
);
