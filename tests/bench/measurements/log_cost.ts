import { costOf } from "../cost.ts";
import { BASIC, type BenchSite, startBenchSite } from "../bench_site.ts";
import { type Measurement, median } from "../figure.ts";

/** Short rounds, in turn and many: a disturbance of the machine changes a cost by more than the log does. */
const ROUNDS = 24;

export const logCost: Measurement = {
  name: "log",
  summary:
    "Cost of the log line and counters of a login by password, compared with a service that logs only errors",
  async run() {
    await using logging = await startBenchSite();
    await using silent = await startBenchSite({ properties: { "container.logging.level": "error" } });
    const services = [logging, silent];
    for (const { process, url } of services) await costOf(process, load(url), { warmUp: 4 });
    const shares: number[] = [];
    const costs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const cost = new Map<BenchSite, number>();
      for (const service of round % 2 === 0 ? services : services.toReversed()) {
        cost.set(service, await costOf(service.process, load(service.url), { warmUp: 0, seconds: 1 }));
      }
      const [all = NaN, without = NaN] = services.map((service) => cost.get(service));
      costs.push(all);
      shares.push(100 * (all - without) / all);
    }
    return [
      {
        what: "share of log line and counters in a login",
        value: median(shares),
        unit: "%",
        target: { atMost: 10 },
      },
      { what: "processor time of a login", value: median(costs), unit: "µs" },
    ];
  },
};

function load(url: string) {
  return { url: `${url}/rest/auth`, connections: 32, headers: { Authorization: BASIC } };
}
