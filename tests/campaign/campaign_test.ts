import assert from "node:assert/strict";
import { POSTGRES } from "../fixtures/postgres.ts";
import { note } from "../long/results.ts";
import { runCampaign } from "./campaign.ts";
import { SERVES_AGAIN_MS } from "./history.ts";

const SEED = Number(Deno.env.get("AUTHSERVER_CAMPAIGN_SEED") ?? 1);
const MINUTES = Number(Deno.env.get("AUTHSERVER_CAMPAIGN_MINUTES") ?? 0.2);

Deno.test({
  name: `several instances keep their promises under random faults, seed ${SEED}`,
  ignore: POSTGRES === undefined,
}, async () => {
  const { faults, shares, uses, tokens, bans, uploads, recoveries, broken } = await runCampaign(
    SEED,
    MINUTES * 60_000,
    SERVES_AGAIN_MS,
  );
  const [slowest] = recoveries.toSorted((a, b) => b.ms - a.ms);
  assert.ok(slowest);
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const waited = `a thread waited ${seconds(slowest.waitedMs)} s of these for a processor`;
  const longest = `at most ${seconds(slowest.ms)} s after a fault (${slowest.fault}; ${waited})`;
  const outcome = `${broken.length} broken promises; serving again ${longest}`;
  const done =
    `${faults.length} faults, ${shares} shares, ${uses} uses, ${tokens} tokens, ${bans} bans, ${uploads} uploads`;
  console.log(`seed ${SEED}: ${done}: ${outcome}`);
  assert.deepEqual(broken, [], `seed ${SEED}: ${faults.join("; ")}`);
  assert.ok(faults.length > 0 && shares > 10 && uses > 10, "something was done");
  note("instances", {
    trial: `random faults in three instances and their database, seed ${SEED}`,
    done: `${MINUTES} minutes: ${done}`,
    outcome,
  });
});
