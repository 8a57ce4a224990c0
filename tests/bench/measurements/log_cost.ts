import { costOf } from "../cost.ts";
import { BASIC, startBenchSite } from "../bench_site.ts";
import { type Measurement, median } from "../figure.ts";

const ROUNDS = 7;

export const logCost: Measurement = {
  name: "log",
  summary:
    "Cost of the log line and counters of a login by password, compared with a service that logs only errors",
  async run() {
    await using logging = await startBenchSite();
    await using silent = await startBenchSite({ properties: { "container.logging.level": "error" } });
    const shares: number[] = [];
    const costs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const [all = NaN, without = NaN] = [
        await costOf(logging.process, load(logging.url)),
        await costOf(silent.process, load(silent.url)),
      ];
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
