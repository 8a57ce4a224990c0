/**
 * `deno task bench [--only NAME[,NAME]] [--json FILE] [--compare FILE]`: measures the promised speed and
 * prints one table, with the machine, ratios to bare programs, and MISSED for each promise that is not met. A
 * measurement that misses a promise runs twice more, and medians count.
 * Writes the figures into `docs/performance.md`, or with `--json` into that file instead. `--compare` lists
 * figures that became worse by more than a tenth since the run whose JSON is given. Long measurements run
 * only if they are named, or with `AUTHSERVER_LONG_TESTS`. Needs `wrk`, `curl` and `openssl`. Exits with 1 if
 * a promise is not met, a figure became worse, or a measurement failed.
 */
import { parseArgs } from "node:util";
import { isMet, table } from "./figure.ts";
import { ALL } from "./measurements/all.ts";
import { measureUntilSure } from "./remeasure.ts";
import { type Taken, writePage } from "./performance_page.ts";
import { slower } from "./slower.ts";
import { CLIENTS, ProgramMissing, requirePrograms } from "./required_programs.ts";

Deno.exit(await bench());

async function bench(): Promise<number> {
  const { values: { only, json, compare } } = parseArgs({
    args: [...Deno.args],
    options: { only: { type: "string" }, json: { type: "string" }, compare: { type: "string" } },
  });
  const before = compare === undefined ? {} : JSON.parse(await Deno.readTextFile(compare));
  const everything = Deno.env.get("AUTHSERVER_LONG_TESTS") !== undefined;
  const names = only?.split(",") ?? ALL.filter(({ long }) => everything || !long).map(({ name }) => name);
  const wanted = ALL.filter(({ name }) => names.includes(name));
  if (wanted.length < names.length) {
    console.error(`--only: expected some of ${ALL.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  try {
    await requirePrograms(CLIENTS);
    for (const { name, lacks: [first] = [] } of wanted) {
      if (first === undefined) continue;
      if (only !== undefined) throw new ProgramMissing(first);
      console.error(`${name}: left out, ${first} is not installed`);
    }
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    console.error(`bench: ${error.message}`);
    return 2;
  }
  const processor = /^model name\s*: (.*)$/m.exec(await Deno.readTextFile("/proc/cpuinfo"))?.[1] ?? "unknown";
  const cores = navigator.hardwareConcurrency;
  const taken: Record<string, Taken> = {};
  const failed: string[] = [];
  for (const { name, summary, note, run } of wanted.filter(({ lacks = [] }) => lacks.length === 0)) {
    console.error(`${name}: ${summary} …`);
    const began = performance.now();
    try {
      taken[name] = {
        summary,
        ...(note !== undefined && { note }),
        on: new Date().toISOString().slice(0, 10),
        deno: Deno.version.deno,
        processor: processor.trim(),
        cores,
        figures: await measureUntilSure(
          run,
          () => console.error(`${name}: a promise was missed, two more runs decide by the median`),
        ),
      };
    } catch (error) {
      console.error(`${name}: FAILED:`, error);
      failed.push(name);
      continue;
    }
    console.error(`${name}: ${Math.round((performance.now() - began) / 1000)} s`);
    // After each, so that a run that is interrupted keeps what it measured.
    if (json === undefined) await writePage({ [name]: taken[name] }, ALL);
  }
  console.log(
    `${cores} cores of ${processor.trim()}, Deno ${Deno.version.deno}, load ${Deno.loadavg()[0]?.toFixed(1)}`,
  );
  console.log(table(Object.entries(taken).map(([name, { figures }]) => [name, figures])));
  if (json !== undefined) await Deno.writeTextFile(json, JSON.stringify(taken, undefined, 2));
  const worse = slower(before, taken);
  if (compare !== undefined) {
    console.log(
      worse.length === 0 ? `Nothing is slower by more than 10 % than in ${compare}` : worse.join("\n"),
    );
  }
  if (failed.length > 0) console.log(`FAILED: ${failed.join(", ")}`);
  return failed.length === 0 && worse.length === 0 &&
      Object.values(taken).every(({ figures }) => figures.every(isMet))
    ? 0
    : 1;
}
