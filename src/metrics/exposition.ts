import { FAMILIES, type Family } from "./families.ts";
import { type Sample, seriesText } from "./counters.ts";

/** Media type of {@link exposition}. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Formats samples for Prometheus (text format 0.0.4). */
export function exposition(samples: Iterable<Sample>): string {
  const families = Map.groupBy(samples, ({ family }) => String(family));
  return Object.entries<Family>(FAMILIES).map(([name, { help, type }]) => {
    const found = families.get(name);
    if (found === undefined) return "";
    const lines = found.map((sample) => `${seriesText(sample)} ${sample.value}\n`).join("");
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`;
  }).join("");
}
