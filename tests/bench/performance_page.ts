import { type Figure, format, mark, type Measurement, promise } from "./figure.ts";

/** Figures of one measurement, with machine and day. */
export interface Taken {
  readonly summary: string;
  /** Remark for readers of the figures. */
  readonly note?: string;
  /** Day, `2026-11-21`. */
  readonly on: string;
  readonly deno: string;
  readonly processor: string;
  readonly cores: number;
  readonly figures: readonly Figure[];
}

/** Latest results, by name of the measurement. */
export type Record = Readonly<{ [name: string]: Taken }>;

/** Figures behind the page, one entry per measurement. */
export const RECORD = new URL("../../docs/performance.json", import.meta.url);
export const PAGE = new URL("../../docs/performance.md", import.meta.url);

/** Writes these figures into the page and keeps those of all other measurements. */
export async function writePage(taken: Record, measurements: readonly Measurement[]): Promise<void> {
  const known: Record = JSON.parse(await Deno.readTextFile(RECORD));
  const record = { ...known, ...taken };
  const ordered = measurements.flatMap(({ name }) => record[name] ? [[name, record[name]]] : []);
  await Deno.writeTextFile(RECORD, `${JSON.stringify(Object.fromEntries(ordered), undefined, 2)}\n`);
  await Deno.writeTextFile(PAGE, page(Object.fromEntries(ordered)));
}

/** Measurements whose figures help to plan a site; `performance.json` has all figures. */
const FOR_PLANNING = ["password", "sessions", "footprint", "users", "shares", "instances"];

/** Returns the text of `docs/performance.md`. */
export function page(record: Record): string {
  const all = Object.entries(record);
  const machines = [...new Set(all.map(([, taken]) => machineOf(taken)))];
  const letter = (taken: Taken) => String.fromCharCode(65 + machines.indexOf(machineOf(taken)));
  const promises = all.flatMap(([name, taken]) =>
    taken.figures.filter(({ target }) => target !== undefined).map((figure) =>
      row(name, figure.what, promise(figure), format(figure), letter(taken), result(figure))
    )
  );
  return `# Performance

\`deno task bench\` writes this page and \`performance.json\`, which has all figures. It needs \`wrk\`, \`curl\` and
\`openssl\`, and a quiet machine for half an hour. \`--only NAME\` runs one measurement. \`--compare FILE\`
lists figures that are more than a tenth worse than in FILE, the JSON of an earlier run.

Rates and processor times are relative to a bare program that does the same work with the least effort. Both run in
turn; the page shows medians. A measurement that misses a promise runs twice more, and the medians of its figures
count. Clients and simulated daemons share the cores with the service. Compare ratios only between machines of one
kind. _At reference speed_: divided by how many times as long as the Xeon below (28 µs)
this machine takes for a request to the bare server.

## Machines

||Machine|
|---|---|
${machines.map((machine, i) => row(String.fromCharCode(65 + i), machine)).join("\n")}

An earlier version beside the Java service, on two quiet cores of an Intel Xeon:

|Figure|Xeon|
|---|---|
|processor time of a login by password|64 to 80 µs; Java service 411 µs, at best 325 µs|
|processor time of a login by password, relative to a bare \`node:https\` server (28 µs)|2.28 ×|
|start to first answer|0.35 to 0.45 s|
|memory from source, idle and after 20,000 requests|139 MB, 203 MB|
|memory of the executable, and its anonymous part|127 MB, 74 MB|
|sessions, with 8 concurrent clients|325/s|

## Promises

MISSED marks a broken promise.

|Measurement|Figure|Promised|Measured|Machine||
|---|---|---|---|---|---|
${promises.join("\n")}

## Measurements

|Measurement||
|---|---|
${all.map(([name, { summary, on }]) => row(name, `${summary} (${on})`)).join("\n")}

## Figures to plan with
${
    all.filter(([name]) => FOR_PLANNING.includes(name)).map(([name, taken]) =>
      section(name, taken, letter(taken))
    ).join("")
  }`;
}

/** Names the machine and runtime of figures. */
function machineOf({ cores, processor, deno }: Taken): string {
  return `${cores} cores of ${processor}, Deno ${deno}`;
}

function section(name: string, { note, on, figures }: Taken, machine: string): string {
  return `
### ${name}

On ${on}, machine ${machine}.

|Figure|Value|
|---|---|
${
    figures.filter(({ target }) => target === undefined).map((figure) => row(figure.what, format(figure)))
      .join("\n")
  }
${note === undefined ? "" : `\n${plain(note)}\n`}`;
}

function result(figure: Figure): string {
  const result = mark(figure);
  return result === "MISSED" ? "**MISSED**" : result;
}

function row(...cells: readonly string[]): string {
  return `|${cells.map((cell) => plain(cell)).join("|")}|`;
}

/** Escapes text for a cell of a Markdown table. */
function plain(text: string): string {
  return text.replace(/[|<]/g, "\\$&");
}
