import { askService } from "../../../src/command/running/ask_running.ts";
import { until } from "../../fixtures/deadline.ts";
import { BASIC, type BenchSite, startBenchSite } from "../bench_site.ts";
import { type Measurement, median } from "../figure.ts";
import { runWrk } from "../wrk.ts";

const RELOADS = 8;
/** Time between two reloads, in milliseconds. */
const REST_MS = 3000;
/** Longest pause of the watcher: it polls every 1.5 s, then waits for half a second without a change. */
const PAUSE_MS = 2000;
const LONGEST_MS = 60_000;

export const reloadTime: Measurement = {
  name: "reload-time",
  summary:
    "Time from a change of the configuration until it is in use, eight times, idle and with 32 busy connections",
  note: "The pause of the watch, up to 2 s, is part of it.",
  async run() {
    await using bench = await startBenchSite();
    const idle = await reloads(bench);
    const over = new AbortController();
    const busy = keepBusy(bench, over.signal);
    const loaded = await reloads(bench);
    over.abort();
    const failures = await busy;
    return [
      { what: "longest, idle", value: Math.max(...idle), unit: "ms", target: { atMost: PAUSE_MS + 1000 } },
      { what: "median, idle", value: median(idle), unit: "ms" },
      { what: "longest, busy", value: Math.max(...loaded), unit: "ms", target: { atMost: 3000 } },
      { what: "median, busy", value: median(loaded), unit: "ms" },
      { what: "failed requests", value: failures, unit: "", target: { atMost: 0 } },
    ];
  },
};

/** Sends requests until `over` aborts. @returns Number of failures. */
async function keepBusy({ url }: BenchSite, over: AbortSignal): Promise<number> {
  let failures = 0;
  while (!over.aborted) {
    const load = { url: `${url}/rest/auth`, connections: 32, seconds: 2, headers: { Authorization: BASIC } };
    failures += (await runWrk(load)).failures;
  }
  return failures;
}

/** Changes the configuration several times. @returns Milliseconds until each change was in use. */
async function reloads({ site }: BenchSite): Promise<number[]> {
  const text = await Deno.readTextFile(site.main);
  const times: number[] = [];
  for (let i = 0; i < RELOADS; i++) {
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const before = await generation(site.folder);
    const began = performance.now();
    await site.replace("conf/container.properties", `${text}\n# change ${crypto.randomUUID()}\n`);
    await until(async () => await generation(site.folder) > before, {
      what: "the changed configuration is in use",
      withinMs: LONGEST_MS,
      everyMs: 20,
    });
    times.push(performance.now() - began);
  }
  return times;
}

/** Returns the generation of the current core, as the control socket reports it. */
async function generation(folder: string): Promise<number> {
  const status = await askService([`${folder}/logs/control.sock`], { command: "status" }, LONGEST_MS);
  if (typeof status === "object" && status !== null && "generation" in status) {
    return Number(status.generation);
  }
  throw new TypeError("the status has no generation");
}
