import { BASIC, startBenchSite } from "../bench_site.ts";
import { warmUp } from "../comparison.ts";
import { type Figure, type Measurement, median } from "../figure.ts";
import { runWrk } from "../wrk.ts";

const AT_ONCE = 8;
const SECONDS = 2;
const ROUNDS = 5;
/** Sessions until hot code is compiled. The yardstick, which does less, warms up in each round. */
const WARM_UP = 2000;
const WARM_UP_BARE = 300;

/** Result of one side in a round. */
interface Round {
  /** Sessions a second. */
  readonly rate: number;
  /** Microseconds of processor time per session. */
  readonly cost: number;
}

export const sessions: Measurement = {
  name: "sessions",
  summary: "POST /rest/auth/<server>, compared with a bare loop of command connections to the same daemon",
  async run() {
    await using bench = await startBenchSite();
    const { url, site } = bench;
    const { commandPort } = site.daemon();
    const load = {
      url: `${url}/rest/auth/HPC`,
      connections: AT_ONCE,
      seconds: SECONDS,
      headers: { Authorization: BASIC },
      body: '{"serverPath":""}',
    };
    await warmUp((seconds) => runWrk({ ...load, seconds }), WARM_UP);
    const rounds: { readonly ours: Round; readonly bare: Round }[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const before = bench.process.cpu().total ?? 0;
      const { requests, rate, failures } = await runWrk(load);
      if (failures > 0) throw new Error(`${failures} sessions failed`);
      const cost = ((bench.process.cpu().total ?? 0) - before) * 1000 / requests;
      rounds.push({ ours: { rate, cost }, bare: await bareRound(commandPort, `${site.folder}/conf`) });
    }
    const of = (pick: (round: typeof rounds[number]) => number) => median(rounds.map(pick));
    const figures: Figure[] = [
      {
        what: "processor time, relative to the bare program",
        value: of((r) => r.ours.cost / r.bare.cost),
        unit: "×",
        target: { atMost: 2.5 },
      },
      { what: "processor time", value: of((r) => r.ours.cost), unit: "µs" },
      { what: "processor time, bare", value: of((r) => r.bare.cost), unit: "µs" },
      { what: "rate, relative to the bare program", value: of((r) => r.ours.rate / r.bare.rate), unit: "×" },
      { what: "rate", value: of((r) => r.ours.rate), unit: "sessions/s" },
      { what: "rate, bare", value: of((r) => r.bare.rate), unit: "sessions/s" },
    ];
    return figures;
  },
};

/** Opens sessions with a daemon in a bare loop, eight at once; `replies` includes the warm-up. */
export async function bareRound(
  commandPort: number,
  folder: string,
): Promise<Round & { readonly replies: number }> {
  const script = new URL("../bare_commands.ts", import.meta.url).pathname;
  const settings = [commandPort, folder, AT_ONCE, SECONDS, WARM_UP_BARE].map(String);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--allow-all", script, ...settings],
    stderr: "inherit",
  }).output();
  const [, rate, cost] = /replies a second: ([\d.]+), processor time of each: ([\d.]+)/.exec(
    new TextDecoder().decode(stdout),
  ) ?? [];
  return { rate: Number(rate), cost: Number(cost), replies: Number(rate) * SECONDS + WARM_UP_BARE };
}
