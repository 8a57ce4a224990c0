import type { ChildProcess } from "./child_process.ts";
import { type Figure, median } from "./figure.ts";
import type { LoadResult } from "./wrk.ts";

/** What a client counted. */
export type Count = Omit<LoadResult, "p99">;

/** One of the two things compared. */
export interface Side {
  readonly process: ChildProcess;
  /** Puts load on it for a while. */
  run(seconds: number): Promise<Count>;
}

interface Round extends Count {
  /** Microseconds of processor time a request, by thread. */
  readonly cpu: Readonly<Record<string, number>>;
}

/** Rounds of each side; they alternate, so that a disturbance meets both. */
const ROUNDS = 7;
/** Of each round: it begins and ends with connections, whose cost is a measurement of its own. */
const SECONDS = 4;
/** Requests until what is used often is compiled. */
const WARM_UP = 100_000;
/** It is warm enough after so long, however few came. */
const LONGEST_WARM_UP_MS = 180_000;

/** What is promised: processor time of a request, of that which the yardstick needs. */
export interface CostPromise {
  /** Of all threads together. */
  readonly all: number;
  /** Of the edge alone. */
  readonly edge?: number;
}

/**
 * Measures the service against its yardstick, in turn. Rates hang on who else shares the cores (the client, for one), and
 * processor time hardly: that is what promises are about. `worker-1` is the thread of the edge, `worker-2` that of the core.
 * @throws If an answer was no success.
 */
export async function compare(
  ours: Side,
  bare: Side,
  { unit, atMost, warmUpWith = WARM_UP }: {
    readonly unit: string;
    readonly atMost?: CostPromise | undefined;
    /** So many requests come before what counts. */
    readonly warmUpWith?: number;
  },
): Promise<Figure[]> {
  for (const { run } of [ours, bare]) await warmUp(run, warmUpWith);
  const rounds: { readonly ours: Round; readonly bare: Round }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    rounds.push({ ours: await measure(ours, SECONDS), bare: await measure(bare, SECONDS) });
  }
  const of = (pick: (round: { readonly ours: Round; readonly bare: Round }) => number) =>
    median(rounds.map(pick));
  const cost = (thread: string, promised: number | undefined) => ({
    value: of((r) => (r.ours.cpu[thread] ?? 0) / (r.bare.cpu.total ?? 0)),
    unit: "×",
    ...(promised !== undefined && { target: { atMost: promised } }),
  });
  return [
    { what: "processor time, of the bare one's", ...cost("total", atMost?.all) },
    { what: "processor time of the edge, of the bare one's", ...cost("worker-1", atMost?.edge) },
    { what: "rate, of the bare one's", value: of((r) => r.ours.rate / r.bare.rate), unit: "×" },
    { what: "rate", value: of((r) => r.ours.rate), unit },
    { what: "rate, bare", value: of((r) => r.bare.rate), unit },
    { what: "processor time, edge", value: of((r) => r.ours.cpu["worker-1"] ?? 0), unit: "µs" },
    { what: "processor time, core", value: of((r) => r.ours.cpu["worker-2"] ?? 0), unit: "µs" },
    { what: "processor time, all", value: of((r) => r.ours.cpu.total ?? 0), unit: "µs" },
    { what: "processor time, bare", value: of((r) => r.bare.cpu.total ?? 0), unit: "µs" },
  ];
}

/**
 * Puts load on something until it is compiled: by the number of requests, not by time, or on a machine with much else to do
 * what is measured would be code that is compiled half.
 */
export async function warmUp(run: Side["run"], requests: number): Promise<void> {
  const until = performance.now() + LONGEST_WARM_UP_MS;
  for (let left = requests; left > 0 && performance.now() < until;) left -= (await run(SECONDS)).requests;
}

async function measure({ process, run }: Side, seconds: number): Promise<Round> {
  const before = process.cpu();
  const result = await run(seconds);
  const after = process.cpu();
  if (result.failures > 0) {
    throw new Error(`${result.failures} of ${result.requests} requests failed: ${result.said}`);
  }
  const cpu = Object.fromEntries(
    Object.entries(after).map(([thread, used]) => [
      thread,
      (used - (before[thread] ?? 0)) * 1000 / result.requests,
    ]),
  );
  return { ...result, cpu };
}
