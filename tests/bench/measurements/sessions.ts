import { BASIC, startBenchSite } from "../bench_site.ts";
import { type Figure, type Measurement, median } from "../figure.ts";
import { runWrk } from "../wrk.ts";

const AT_ONCE = 8;
const SECONDS = 2;
const ROUNDS = 9;
/** Seconds until what is used often is compiled. */
const WARM_UP = 4;

export const sessions: Measurement = {
  name: "sessions",
  summary: "POST /rest/auth/<server>, against a bare loop of command connections to the same daemon",
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
    await runWrk({ ...load, seconds: WARM_UP });
    const rounds: { readonly ours: number; readonly bare: number }[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const { rate, failures } = await runWrk(load);
      if (failures > 0) throw new Error(`${failures} sessions failed`);
      rounds.push({ ours: rate, bare: await bareRate(commandPort, `${site.folder}/conf`) });
    }
    const of = (pick: (round: typeof rounds[number]) => number) => median(rounds.map(pick));
    const figures: Figure[] = [
      {
        what: "rate, of the bare one's",
        value: of((r) => r.ours / r.bare),
        unit: "×",
        target: { atLeast: 0.8 },
      },
      { what: "rate", value: of((r) => r.ours), unit: "sessions/s" },
      { what: "rate, bare", value: of((r) => r.bare), unit: "sessions/s" },
    ];
    return figures;
  },
};

async function bareRate(commandPort: number, folder: string): Promise<number> {
  const script = new URL("../bare_commands.ts", import.meta.url).pathname;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-check",
      "--allow-all",
      script,
      String(commandPort),
      folder,
      String(AT_ONCE),
      String(SECONDS),
    ],
    stderr: "inherit",
  }).output();
  return Number(/replies a second: ([\d.]+)/.exec(new TextDecoder().decode(stdout))?.[1]);
}
