import { type Figure, format, mark, type Measurement, promise } from "./figure.ts";

/** Figures of one measurement, and where and when they were taken. */
export interface Taken {
  /** What was measured. */
  readonly summary: string;
  /** What a reader of the figures should know. */
  readonly note?: string;
  /** Day, `2026-11-21`. */
  readonly on: string;
  readonly deno: string;
  readonly processor: string;
  readonly cores: number;
  readonly figures: readonly Figure[];
}

/** What was measured last, by the name of the measurement. */
export type Record = Readonly<{ [name: string]: Taken }>;

/** Figures behind the page, one entry a measurement. */
export const RECORD = new URL("../../docs/performance.json", import.meta.url);
export const PAGE = new URL("../../docs/performance.md", import.meta.url);

/** Takes these figures over into the page and leaves those of all other measurements as they are. */
export async function writePage(taken: Record, measurements: readonly Measurement[]): Promise<void> {
  const known: Record = JSON.parse(await Deno.readTextFile(RECORD));
  const record = { ...known, ...taken };
  const ordered = measurements.flatMap(({ name }) => record[name] ? [[name, record[name]]] : []);
  await Deno.writeTextFile(RECORD, `${JSON.stringify(Object.fromEntries(ordered), undefined, 2)}\n`);
  await Deno.writeTextFile(PAGE, page(Object.fromEntries(ordered)));
}

/** The page as `docs/performance.md` shows it. */
export function page(record: Record): string {
  const sections = Object.entries(record);
  const promises = sections.flatMap(([name, { summary, figures }]) =>
    figures.filter(({ target }) => target !== undefined).map((figure) =>
      row(`[${summary}](#${name})`, figure.what, promise(figure), format(figure), result(figure))
    )
  );
  return `# Performance

What the service does on two cores, measured. This page and \`performance.json\` are written by \`deno task bench\` (needs \`wrk\`,
\`curl\` and \`openssl\`); \`deno task bench --only NAME\` measures one thing and leaves the other figures of the page alone. A promise that
was not kept is marked MISSED.

How it is measured: all rates are compared with a bare server or client that does the least that could be called the same, in
the same run, in rounds that alternate, of which the median counts. The client that makes the load (\`wrk\`) and the simulated
daemons run on the same cores as what is measured, so absolute rates are lower than on a machine of their own; ratios and
processor time a request are what to compare.

## Promises

| What | Figure | Promised | Measured | |
|---|---|---|---|---|
${promises.join("\n")}

## All figures
${sections.map(([name, taken]) => section(name, taken)).join("")}`;
}

function section(name: string, { summary, note, on, deno, processor, cores, figures }: Taken): string {
  return `
### ${name}

${plain(summary)}. \`deno task bench --only ${name}\`, on ${on}: Deno ${deno}, ${cores} cores of ${processor}.

| Figure | Value | Promised | |
|---|---|---|---|
${figures.map((figure) => row(figure.what, format(figure), promise(figure), result(figure))).join("\n")}
${note === undefined ? "" : `\n${plain(note)}\n`}`;
}

function result(figure: Figure): string {
  const result = mark(figure);
  return result === "MISSED" ? "**MISSED**" : result;
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => plain(cell)).join(" | ")} |`;
}

/** Text that means nothing to Markdown. */
function plain(text: string): string {
  return text.replace(/[|<]/g, "\\$&");
}
