import { MAP, passwordLine, PASSWORDS, type Setting } from "../../system/running_service.ts";
import { costOf } from "../cost.ts";
import { BASIC, ENDLESS, startBenchSite } from "../bench_site.ts";
import type { Figure, Measurement } from "../figure.ts";

export const daemons: Measurement = {
  name: "daemons",
  summary: "GET /rest/auth with 1, 10, 100 logical servers in the answer",
  run: () =>
    each([1, 10, 100], "servers", (count) => ({
      servers: Object.fromEntries(Array.from({ length: count }, (_, i) => [`HPC${i}`, [ENDLESS]])),
    })),
};

export const users: Measurement = {
  name: "users",
  summary: "GET /rest/auth with 10, 1,000, 100,000 users in the password and map files",
  run: () =>
    each([10, 1_000, 100_000], "users", (count) => {
      const dns = Array.from({ length: count }, (_, i) => `CN=User ${i},O=Demo,C=EU`);
      const attributes = { role: "user", xlogin: "someone" };
      return {
        passwords: PASSWORDS + dns.map((dn, i) => passwordLine([`user${i}`, "secret"], dn)).join(""),
        map: JSON.stringify({ ...MAP, ...Object.fromEntries(dns.map((dn) => [dn, attributes])) }),
      };
    }),
};

async function each(
  counts: readonly number[],
  unit: string,
  settingOf: (count: number) => Setting,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of counts) {
    await using bench = await startBenchSite(settingOf(count));
    const load = { url: `${bench.url}/rest/auth`, connections: 16, headers: { Authorization: BASIC } };
    const used = await costOf(bench.process, load);
    figures.push(
      { what: `processor time, ${count.toLocaleString("en")} ${unit}`, value: used, unit: "µs" },
      { what: `memory, ${count.toLocaleString("en")} ${unit}`, value: bench.process.memory(), unit: "MiB" },
    );
  }
  return figures;
}
