import type { ChildProcess } from "./child_process.ts";
import { type Figure, median } from "./figure.ts";
import type { LoadResult } from "./wrk.ts";

/** Counts of a client. */
export type Count = Omit<LoadResult, "p99">;

/** One of the two compared programs. */
export interface Side {
  readonly process: ChildProcess;
  /** Puts load on the program for that long. */
  run(seconds: number): Promise<Count>;
}

interface Round extends Count {
  /** Microseconds of processor time per request, by thread. */
  readonly cpu: Readonly<Record<string, number>>;
}

/** Rounds of each side; the sides alternate, so that a disturbance affects both. */
const ROUNDS = { promised: 7, others: 3 };
/** Seconds of a round. It opens and closes connections, whose cost is measured separately. */
const SECONDS = 4;
/** Requests until hot code is compiled; fewer for figures without a promise. */
const WARM_UP = { promised: 100_000, others: 20_000 };
/** Longest warm-up, even with fewer requests. */
const LONGEST_WARM_UP_MS = 180_000;

/** Promised processor time of a request, as a multiple of the yardstick's. */
export interface CostPromise {
  /** Multiple for all threads together. */
  readonly all: number;
  /** Multiple for the edge only. */
  readonly edge?: number;
}

/**
 * Measures the service and its yardstick in turn. Rates depend on other programs on the same cores (the
 * client, for one); processor time hardly does, so promises are about it. `worker-1` is the thread of the
 * edge, `worker-2` that of the core.
 * @throws If an answer was not a success.
 */
export async function compare(
  ours: Side,
  bare: Side,
  { unit, atMost, warmUpWith }: {
    readonly unit: string;
    readonly atMost?: CostPromise | undefined;
    /** Requests before the measurement. */
    readonly warmUpWith?: number;
  },
): Promise<Figure[]> {
  const effort = atMost === undefined ? "others" : "promised";
  for (const { run } of [ours, bare]) await warmUp(run, warmUpWith ?? WARM_UP[effort]);
  const rounds: { readonly ours: Round; readonly bare: Round }[] = [];
  for (let i = 0; i < ROUNDS[effort]; i++) {
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
    { what: "processor time, relative to the bare program", ...cost("total", atMost?.all) },
    { what: "processor time of the edge, relative to the bare server", ...cost("worker-1", atMost?.edge) },
    { what: "rate, relative to the bare program", value: of((r) => r.ours.rate / r.bare.rate), unit: "×" },
    { what: "rate", value: of((r) => r.ours.rate), unit },
    { what: "rate, bare", value: of((r) => r.bare.rate), unit },
    { what: "processor time, edge", value: of((r) => r.ours.cpu["worker-1"] ?? 0), unit: "µs" },
    { what: "processor time, core", value: of((r) => r.ours.cpu["worker-2"] ?? 0), unit: "µs" },
    { what: "processor time, all", value: of((r) => r.ours.cpu.total ?? 0), unit: "µs" },
    { what: "processor time, bare", value: of((r) => r.bare.cpu.total ?? 0), unit: "µs" },
  ];
}

/**
 * Puts load on a program until its code is compiled. Counts requests, not time: on a busy machine, a fixed
 * time would end with half-compiled code.
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
