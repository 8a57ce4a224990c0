import { BASIC, SHARING, startBenchSite } from "../bench_site.ts";
import { EVERYBODY } from "../../../src/sharing/share.ts";
import { ask } from "../../system/ask.ts";
import { ALICE } from "../../system/running_service.ts";
import { type Measurement, median } from "../figure.ts";
import { type Load, runWrk } from "../wrk.ts";
import { StallWatch } from "../stall_watch.ts";
import { freshAuthorizations } from "./get.ts";

/** Turns of all loads in each half. */
const TURNS = 4;
/** Seconds of each load in each turn; ten minutes in all. */
const SECONDS = 13;
/** Pause at the end of each half, in milliseconds. */
const REST_MS = 30_000;
/** Pause between two readings of the memory, in milliseconds. */
const LOOK_MS = 500;
/** Longest stall that a worker may cause by its own work, in milliseconds. */
const LONGEST_STALL_MS = 50;

export const soak: Measurement = {
  name: "soak",
  summary:
    "Ten minutes of logins, tokens, guesses, sessions, new connections and downloads of shares in turn",
  long: true,
  async run() {
    await using bench = await startBenchSite({
      properties: {
        ...SHARING.properties,
        "container.security.gateway.enable": "true",
        "container.security.gateway.trustedPeers": "127.0.0.1",
      },
    });
    const { process, url, site } = bench;
    const path = `${site.folder}/data/file`;
    await Deno.writeFile(path, new Uint8Array(100_000));
    const shared = await ask(`${url}/rest/share/HPC`, site.authority.certificate, {
      as: ALICE,
      body: { path, user: EVERYBODY, access: "READ" },
    });
    const link = (shared.headers.location ?? "").replace("/share/", "/access/");
    const get = { url: `${url}/rest/auth`, headers: { Authorization: BASIC } };
    /** Returns the loads of a turn, with new tokens, since tokens expire. */
    const loads = (): readonly Omit<Load, "seconds">[] => [
      { ...get, connections: 32 },
      { ...get, headers: {}, authorizations: freshAuthorizations(), connections: 32 },
      { ...get, headers: { ...get.headers, Connection: "close" }, connections: 16 },
      { ...get, url: `${url}/rest/auth/HPC`, body: '{"serverPath":""}', connections: 8 },
      { url: link, connections: 8 },
      // From another address; otherwise the throttle would delay all clients at our address.
      {
        ...get,
        headers: { "X-UNICORE-Consignor-IP": "203.0.113.9" },
        authorizations: guesses(),
        connections: 8,
      },
    ];
    const idle = process.memory();
    let failures = 0;
    let requests = 0;
    const half = async (): Promise<Half> => {
      const seen: number[] = [];
      const timer = setInterval(() => seen.push(process.memory()), LOOK_MS);
      try {
        for (let i = 0; i < TURNS; i++) {
          const all = loads();
          for (const [at, load] of all.entries()) {
            const result = await runWrk({ ...load, seconds: SECONDS });
            requests += result.requests;
            if (at < all.length - 1) failures += result.failures;
          }
        }
      } finally {
        clearInterval(timer);
      }
      // The engine returns memory while it is idle; the rest is in use.
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      return {
        busy: median(seen),
        most: Math.max(...seen),
        rest: process.memory(),
        open: process.descriptors(),
      };
    };
    const stalls = new StallWatch(site);
    const [first, second] = [await half(), await half()];
    stalls.close();
    return [
      { what: "requests", value: requests, unit: "" },
      { what: "failed requests besides wrong passwords", value: failures, unit: "", target: { atMost: 0 } },
      // All other processes of the measurement share the cores.
      { what: "longest stall of the core", value: stalls.longestMs("core"), unit: "ms" },
      { what: "longest stall of the edge", value: stalls.longestMs("edge"), unit: "ms" },
      ...(["core", "edge"] as const).map((worker) => ({
        what: `longest stall of the ${worker} by its own work`,
        value: stalls.longestOwnMs(worker),
        unit: "ms",
        target: { atMost: LONGEST_STALL_MS },
      })),
      { what: "memory, idle", value: idle, unit: "MiB" },
      { what: "memory under load, first half", value: first.busy, unit: "MiB" },
      { what: "memory under load, second half", value: second.busy, unit: "MiB" },
      { what: "most memory at any time", value: Math.max(first.most, second.most), unit: "MiB" },
      { what: "memory at rest, after half the time", value: first.rest, unit: "MiB" },
      { what: "memory at rest, at the end", value: second.rest, unit: "MiB" },
      {
        what: "growth in the second half",
        value: (second.rest / first.rest - 1) * 100,
        unit: "%",
        target: { atMost: 5 },
      },
      {
        what: "file descriptors opened in the second half",
        value: second.open - first.open,
        unit: "",
        target: { atMost: 2 },
      },
    ];
  },
};

/** Figures of one half; memory in MiB. */
interface Half {
  /** Memory under load: the median, and the maximum. */
  readonly busy: number;
  readonly most: number;
  readonly rest: number;
  /** Open file descriptors, at rest. */
  readonly open: number;
}

/** Returns `Authorization` values with wrong passwords of many users. */
function guesses(): readonly string[] {
  return Array.from({ length: 5_000 }, (_, i) => `Basic ${btoa(`user${i}:guess${i}`)}`);
}
