/** Two hundred shares for one use, each used by 300 at once on three instances while something fails. */
import { POSTGRES } from "../fixtures/postgres.ts";
import { note } from "../long/results.ts";
import { oneTimeRound } from "./one_time_rounds.ts";
import { SeveralInstances } from "./several_instances.ts";

const ROUNDS = 200;

Deno.test(
  { name: "two hundred shares for one use are used once each", ignore: POSTGRES === undefined },
  async () => {
    await using several = await SeveralInstances.start({ postgres: { durable: true } });
    const outcomes = new Map<string, number>();
    for (let number = 0; number < ROUNDS; number++) {
      const round = await oneTimeRound(several, number);
      for (const [outcome, count] of round.outcomes) {
        const name = `${round.fault}: ${outcome}`;
        outcomes.set(name, (outcomes.get(name) ?? 0) + count);
      }
    }
    console.log(Object.fromEntries(outcomes));
    const told = (outcome: string) =>
      [...outcomes].filter(([name]) => name.endsWith(`: ${outcome}`)).reduce((sum, [, n]) => sum + n, 0);
    note("instances", {
      trial: "using shares for one use by 300 at once over all instances, while an instance is killed " +
        "(`kill -9`), the database is stopped at once, or both",
      done: `${ROUNDS} shares, a quarter of them with each, and with nothing`,
      outcome:
        `each used once by the database's word; ${told("200")} callers got the file, ${told("404")} a 404, ` +
        `${told("503")} a 503, ${told("cut")} no answer`,
    });
  },
);
