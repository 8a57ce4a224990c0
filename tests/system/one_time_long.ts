/** Two hundred one-time shares, each used 300 times at once on three instances while something fails. */
import { POSTGRES } from "../fixtures/postgres.ts";
import { note } from "../long/results.ts";
import { oneTimeRound } from "./one_time_rounds.ts";
import { SeveralInstances } from "./several_instances.ts";

const ROUNDS = 200;

Deno.test(
  { name: "each of two hundred one-time shares is used once", ignore: POSTGRES === undefined },
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
      trial:
        "300 concurrent clients of one-time shares while an instance is killed, the database is stopped, " +
        "or both",
      done: `${ROUNDS} shares, a quarter of them with each fault and a quarter without`,
      outcome:
        `each used once according to the database; ${told("200")} clients got the file, ${
          told("404")
        } a 404, ` +
        `${told("503")} a 503, ${told("cut")} no answer`,
    });
  },
);
