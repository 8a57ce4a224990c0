/** Station of a queueing network: a queue with one server. */
export interface Station {
  readonly name: string;
  /** Service time of one request, in milliseconds. */
  readonly demandMs: number;
  /** Number of equal stations that share the requests evenly, such as one for each instance; default 1. */
  readonly copies?: number;
}

/**
 * Returns the highest rate of the stations, in requests a second, which is that of the slowest station, and
 * its name (Denning, Buzen, The Operational Analysis of Queueing Network Models, 1978).
 */
export function saturation(stations: readonly Station[]): { readonly rate: number; readonly first: string } {
  const load = ({ demandMs, copies = 1 }: Station) => demandMs / copies;
  const slowest = stations.reduce((slowest, station) => load(station) > load(slowest) ? station : slowest);
  return { rate: 1000 / load(slowest), first: slowest.name };
}

/**
 * Returns the requests a second of a number of clients, each of which sends its next request after the
 * answer: exact mean value analysis (Reiser, Lavenberg, 1980) of a closed network with zero think time and
 * exponential service times.
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
