import { FAMILIES, type Family } from "./families.ts";

/** Media type of {@link exposition}. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Values as Prometheus reads them (text format 0.0.4), family after family.
 * @param values Series, as `series` writes them, and their values.
 */
export function exposition(values: Iterable<readonly [series: string, value: number]>): string {
  const lines = new Map<string, string[]>();
  for (const [series, value] of values) {
    const family = familyOf(series);
    const known = lines.get(family);
    const line = `${series} ${value}`;
    if (known === undefined) lines.set(family, [line]);
    else known.push(line);
  }
  let text = "";
  for (const [name, { help, type }] of Object.entries<Family>(FAMILIES)) {
    const found = lines.get(name);
    if (found === undefined) continue;
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${found.join("\n")}\n`;
  }
  return text;
}

/** Name of the family that a series belongs to. */
function familyOf(series: string): string {
  const name = series.replace(/\{.*/s, "");
  return Object.hasOwn(FAMILIES, name) ? name : name.replace(/_(?:bucket|sum|count)$/, "");
}
