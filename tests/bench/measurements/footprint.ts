import { BASIC, startBenchSite } from "../bench_site.ts";
import { type Measurement } from "../figure.ts";
import { runWrk } from "../wrk.ts";

/** Seconds of each half of the soak; ten minutes in all where long tests are wanted. */
const HALF = Deno.env.get("AUTHSERVER_LONG_TESTS") === undefined ? 10 : 300;

export const footprint: Measurement = {
  name: "footprint",
  summary: "Start-up to the first answer with a password; memory and file descriptors",
  async run() {
    const began = performance.now();
    await using bench = await startBenchSite();
    const startUp = performance.now() - began;
    const { process, url } = bench;
    const idle = process.memory();
    const load = {
      url: `${url}/rest/auth`,
      connections: 32,
      seconds: HALF,
      headers: { Authorization: BASIC },
    };
    await runWrk(load);
    const [first, descriptors] = [process.memory(), process.descriptors()];
    await runWrk(load);
    const second = process.memory();
    return [
      { what: "from start to the first answer, site and daemon included", value: startUp, unit: "ms" },
      { what: "memory, idle", value: idle, unit: "MiB" },
      { what: "memory, after load", value: first, unit: "MiB" },
      {
        what: "growth by as much load again",
        value: (second / first - 1) * 100,
        unit: "%",
        target: { atMost: 5 },
      },
      {
        what: "file descriptors more than before",
        value: process.descriptors() - descriptors,
        unit: "",
        target: { atMost: 2 },
      },
    ];
  },
};
