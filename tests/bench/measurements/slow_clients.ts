import { BASIC, startBenchSite } from "../bench_site.ts";
import { ChildProcess } from "../child_process.ts";
import { type Measurement, median } from "../figure.ts";
import { atReferenceSpeed, slowness } from "../reference_machine.ts";
import { runWrk } from "../wrk.ts";

const SLOW = 500;
const ROUNDS = 3;
/** Time with only slow clients, in milliseconds: longer than the service keeps any of them. */
const WATCH_MS = 30_000;

export const slowClients: Measurement = {
  name: "slow-clients",
  summary:
    "Cost of 500 slow clients that hold connections in four ways, and the latency of four good clients among them",
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
    const slower = await slowness(bench);
    const alone = await p99();
    const slow = await ChildProcess.start(
      new URL("../slow_clients.ts", import.meta.url),
      [String(bench.port), String(SLOW)],
      /open: (\d+)/,
    );
    await using _process = slow.process;
    const spent = await spentOn(bench.process);
    const beset = await p99();
    return [
      ...atReferenceSpeed({
        what: "processor time for slow clients",
        value: spent,
        unit: "% of a core",
        target: { atMost: 20 },
      }, slower),
      {
        what: "99th percentile among slow clients, relative to the one without",
        value: beset / alone,
        unit: "×",
      },
      { what: "99th percentile without slow clients", value: alone, unit: "ms" },
      { what: "99th percentile among slow clients", value: beset, unit: "ms" },
    ];
  },
};

/** Returns the processor time of a process with only slow clients, in percent of a core. */
async function spentOn(process: ChildProcess): Promise<number> {
  const before = process.cpu().total ?? 0;
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  return ((process.cpu().total ?? 0) - before) / WATCH_MS * 100;
}
