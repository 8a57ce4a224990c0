/** Where requests wait for each other: a queue with one that serves. */
export interface Station {
  readonly name: string;
  /** Time that it spends on one request, in milliseconds. */
  readonly demandMs: number;
  /** So many alike share the requests evenly, one for each instance; default 1. */
  readonly copies?: number;
}

/**
 * Most requests a second that stations can serve between them: as many as the slowest (Denning, Buzen, The Operational
 * Analysis of Queueing Network Models, 1978).
 */
export function saturation(stations: readonly Station[]): { readonly rate: number; readonly first: string } {
  const load = ({ demandMs, copies = 1 }: Station) => demandMs / copies;
  const slowest = stations.reduce((slowest, station) => load(station) > load(slowest) ? station : slowest);
  return { rate: 1000 / load(slowest), first: slowest.name };
}

/**
 * Requests a second with so many clients, each of which sends the next one when it has its answer: exact mean value analysis
 * (Reiser, Lavenberg, 1980) of a closed network without time to think, times of service spread exponentially.
 */
export function throughput(stations: readonly Station[], clients: number): number {
  const each = stations.filter(({ demandMs }) => demandMs > 0).map(({ demandMs, copies = 1 }) => ({
    demand: demandMs / copies,
    copies,
    queue: 0,
  }));
  let rate = 0;
  for (let n = 1; n <= clients; n++) {
    const times = each.map(({ demand, queue }) => demand * (1 + queue));
    const response = times.reduce((sum, time, i) => sum + time * (each[i]?.copies ?? 1), 0);
    rate = n / response;
    for (const [i, station] of each.entries()) station.queue = rate * (times[i] ?? 0);
  }
  return rate * 1000;
}
