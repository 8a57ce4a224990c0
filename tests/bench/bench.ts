/**
 * `deno task bench [--only NAME[,NAME]] [--json FILE]`: measures what we promise about speed, prints a table and writes
 * the figures as JSON. Needs `wrk` and `curl`. Ends with 1 if a promise is not met.
 */
import { parseArgs } from "node:util";
import { type Figure, isMet, type Measurement, table } from "./figure.ts";
import { footprint } from "./measurements/footprint.ts";
import { connections, freshTokens, password, token } from "./measurements/get.ts";
import { daemons, users } from "./measurements/growth.ts";
import { sessions } from "./measurements/sessions.ts";
import { shareDownload } from "./measurements/share_download.ts";
import { slowClients } from "./measurements/slow_clients.ts";
import { requireWrk, WrkMissing } from "./wrk.ts";

const ALL: readonly Measurement[] = [
  password,
  token,
  freshTokens,
  sessions,
  connections,
  slowClients,
  shareDownload,
  footprint,
  daemons,
  users,
];

Deno.exit(await bench());

async function bench(): Promise<number> {
  const { values: { only, json } } = parseArgs({
    args: [...Deno.args],
    options: { only: { type: "string" }, json: { type: "string", default: "dist/bench.json" } },
  });
  const wanted = only === undefined ? ALL : ALL.filter(({ name }) => only.split(",").includes(name));
  if (wanted.length === 0) {
    console.error(`--only: expected some of ${ALL.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  try {
    await requireWrk();
  } catch (error) {
    if (!(error instanceof WrkMissing)) throw error;
    console.error(`bench: ${error.message}`);
    return 2;
  }
  const rows: [string, readonly Figure[]][] = [];
  for (const { name, summary, run } of wanted) {
    console.error(`${name}: ${summary} …`);
    rows.push([name, await run()]);
  }
  console.log(table(rows));
  await Deno.mkdir(json.replace(/[^/]*$/, "") || ".", { recursive: true });
  const processor = /^model name\s*: (.*)$/m.exec(await Deno.readTextFile("/proc/cpuinfo"))?.[1];
  const facts = {
    at: new Date().toISOString(),
    deno: Deno.version.deno,
    processor,
    cores: navigator.hardwareConcurrency,
  };
  await Deno.writeTextFile(
    json,
    JSON.stringify({ ...facts, results: Object.fromEntries(rows) }, undefined, 2),
  );
  return rows.every(([, figures]) => figures.every(isMet)) ? 0 : 1;
}
