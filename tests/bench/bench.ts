/**
 * `deno task bench [--only NAME[,NAME]] [--json FILE]`: measures what we promise about speed, prints a table and takes the
 * figures over into `docs/performance.md`; with `--json` they go to that file instead. What takes long is measured only
 * if it is named, or with `AUTHSERVER_LONG_TESTS`. Needs `wrk`, `curl` and `openssl`. Ends with 1 if a promise is not met.
 */
import { parseArgs } from "node:util";
import { isMet, table } from "./figure.ts";
import { ALL } from "./measurements/all.ts";
import { type Taken, writePage } from "./performance_page.ts";
import { CLIENTS, ProgramMissing, requirePrograms } from "./required_programs.ts";

Deno.exit(await bench());

async function bench(): Promise<number> {
  const { values: { only, json } } = parseArgs({
    args: [...Deno.args],
    options: { only: { type: "string" }, json: { type: "string" } },
  });
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
  const taken: Record<string, Taken> = {};
  for (const { name, summary, note, run } of wanted.filter(({ lacks = [] }) => lacks.length === 0)) {
    console.error(`${name}: ${summary} …`);
    taken[name] = {
      summary,
      ...(note !== undefined && { note }),
      on: new Date().toISOString().slice(0, 10),
      deno: Deno.version.deno,
      processor: processor.trim(),
      cores: navigator.hardwareConcurrency,
      figures: await run(),
    };
  }
  console.log(table(Object.entries(taken).map(([name, { figures }]) => [name, figures])));
  if (json === undefined) await writePage(taken, ALL);
  else await Deno.writeTextFile(json, JSON.stringify(taken, undefined, 2));
  return Object.values(taken).every(({ figures }) => figures.every(isMet)) ? 0 : 1;
}
