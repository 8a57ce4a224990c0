import { BASIC, SHARING, startBenchSite } from "../bench_site.ts";
import { EVERYBODY } from "../../../src/resource/share/names.ts";
import { ask } from "../../system/ask.ts";
import { ALICE } from "../../system/running_service.ts";
import type { ChildProcess } from "../child_process.ts";
import { type Measurement, median } from "../figure.ts";
import { type Load, runWrk } from "../wrk.ts";
import { freshAuthorizations } from "./get.ts";

/** All loads in turn, so often: what the first half begins with, the second half begins with. */
const TURNS = 8;
const SECONDS = 13;
/** Between two looks at the memory, in milliseconds. */
const LOOK_MS = 500;

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
    const loads: readonly Omit<Load, "seconds">[] = [
      { ...get, connections: 32 },
      { ...get, headers: {}, authorizations: freshAuthorizations(), connections: 32 },
      { ...get, headers: { ...get.headers, Connection: "close" }, connections: 16 },
      { ...get, url: `${url}/rest/auth/HPC`, body: '{"serverPath":""}', connections: 8 },
      { url: link, connections: 8 },
      // From elsewhere, or everybody at our address would have to wait.
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
    const turns: Turn[] = [];
    for (let i = 0; i < TURNS; i++) {
      turns.push(
        await watch(process, async () => {
          for (const [at, load] of loads.entries()) {
            const result = await runWrk({ ...load, seconds: SECONDS });
            requests += result.requests;
            if (at < loads.length - 1) failures += result.failures;
          }
        }),
      );
    }
    const half = turns[TURNS / 2 - 1];
    const end = turns[TURNS - 1];
    if (half === undefined || end === undefined) throw new RangeError("no turns");
    return [
      { what: "requests", value: requests, unit: "" },
      { what: "failed, guesses aside", value: failures, unit: "", target: { atMost: 0 } },
      { what: "memory, idle", value: idle, unit: "MiB" },
      { what: "memory under load, after half the time", value: half.memory, unit: "MiB" },
      { what: "memory under load, at the end", value: end.memory, unit: "MiB" },
      {
        what: "growth in the second half",
        value: (end.memory / half.memory - 1) * 100,
        unit: "%",
        target: { atMost: 5 },
      },
      { what: "most memory at any time", value: Math.max(...turns.map(({ most }) => most)), unit: "MiB" },
      {
        what: "file descriptors more than after half the time",
        value: end.descriptors - half.descriptors,
        unit: "",
        target: { atMost: 2 },
      },
    ];
  },
};

interface Turn {
  /** MiB: the median, and the most. */
  readonly memory: number;
  readonly most: number;
  /** Open when all is quiet again. */
  readonly descriptors: number;
}

async function watch(process: ChildProcess, work: () => Promise<void>): Promise<Turn> {
  const seen: number[] = [];
  const timer = setInterval(() => seen.push(process.memory()), LOOK_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  await new Promise((resolve) => setTimeout(resolve, 2 * LOOK_MS));
  const turn = { memory: median(seen), most: Math.max(...seen), descriptors: process.descriptors() };
  console.error(`  ${turn.memory} MiB, ${turn.descriptors} descriptors`);
  return turn;
}

/** Wrong passwords of many users. */
function guesses(): readonly string[] {
  return Array.from({ length: 5_000 }, (_, i) => `Basic ${btoa(`user${i}:guess${i}`)}`);
}
