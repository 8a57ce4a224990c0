/** One-time shares that are used once, whatever fails meanwhile. */
import { POSTGRES } from "../fixtures/postgres.ts";
import { oneTimeRound } from "./one_time_rounds.ts";
import { SeveralInstances } from "./several_instances.ts";

Deno.test({
  name:
    "a share for one use is used once on several instances, though one is killed and the database crashes",
  ignore: POSTGRES === undefined,
}, async () => {
  await using several = await SeveralInstances.start({ postgres: { durable: true } });
  for (let round = 0; round < 4; round++) await oneTimeRound(several, round);
});
