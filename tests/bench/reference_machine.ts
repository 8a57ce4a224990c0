import { BASIC, type BenchSite, startBareServer } from "./bench_site.ts";
import { warmUp } from "./comparison.ts";
import { costOf } from "./cost.ts";
import { type Figure, median } from "./figure.ts";
import { runWrk } from "./wrk.ts";

/** Processor time of a request to the bare server on the Xeon for which times are promised, in microseconds. */
const REFERENCE_US = 28;
const CONNECTIONS = 64;
const WARM_UP = 50_000;
const ROUNDS = 3;

/**
 * Returns how many times as long this machine takes for a request to the bare server as the reference machine.
 * @param bench Running service, whose answer the bare server copies.
 */
export async function slowness(bench: Pick<BenchSite, "site" | "url">): Promise<number> {
  const bare = await startBareServer(bench);
  await using process = bare.process;
  const load = { url: `${bare.url}/rest/auth`, connections: CONNECTIONS, headers: { Authorization: BASIC } };
  await warmUp((seconds) => runWrk({ ...load, seconds }), WARM_UP);
  const costs: number[] = [];
  for (let i = 0; i < ROUNDS; i++) costs.push(await costOf(process, load));
  return median(costs) / REFERENCE_US;
}

/** Returns a figure, and the same at reference speed, to which the promise refers. */
export function atReferenceSpeed({ target, ...figure }: Figure, slower: number): Figure[] {
  const what = `${figure.what}, at reference speed`;
  return [figure, { ...figure, what, value: figure.value / slower, ...target && { target } }];
}
