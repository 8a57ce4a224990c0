import { BASIC, startBenchSite } from "../bench_site.ts";
import { ChildProcess } from "../child_process.ts";
import { type Measurement, median } from "../figure.ts";
import { runWrk } from "../wrk.ts";

const SLOW = 500;
const ROUNDS = 3;

export const slowClients: Measurement = {
  name: "slow-clients",
  summary: "Latency of four good clients while 500 others waste the time of the service in four ways",
  async run() {
    await using bench = await startBenchSite();
    const load = {
      url: `${bench.url}/rest/auth`,
      connections: 4,
      seconds: 3,
      headers: { Authorization: BASIC },
    };
    await runWrk({ ...load, seconds: 1 });
    const p99 = async () => {
      const values: number[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        const result = await runWrk(load);
        if (result.failures > 0) throw new Error(`${result.failures} requests of good clients failed`);
        values.push(result.p99);
      }
      return median(values);
    };
    const alone = await p99();
    const slow = await ChildProcess.start(
      new URL("../slow_clients.ts", import.meta.url),
      [String(bench.port), String(SLOW)],
      /open: (\d+)/,
    );
    await using _process = slow.process;
    const beset = await p99();
    return [
      { what: "99th percentile, of the one alone", value: beset / alone, unit: "×", target: { atMost: 2 } },
      { what: "99th percentile, alone", value: alone, unit: "ms" },
      { what: "99th percentile, among slow clients", value: beset, unit: "ms" },
    ];
  },
};
