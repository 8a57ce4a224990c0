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
\`openssl\`, and a quiet machine. \`--only NAME\` measures one thing; \`--compare FILE\` names what became worse by more
than a tenth since the run whose JSON is in that file.

Each rate and each processor time is compared with a bare program that does the same with the least effort, in alternating
rounds of one run; the median counts. Clients and simulated daemons share the cores with the service. The ratio to the bare
program depends on the machine, so compare it on machines of one kind.

## Machines

||Machine|
|---|---|
${machines.map((machine, i) => row(String.fromCharCode(65 + i), machine)).join("\n")}

An earlier version was measured beside the Java service on two quiet cores of an Intel Xeon:

|Figure|Xeon|
|---|---|
|processor time of a login by password|64 to 80 µs; Java service 411 µs, at best 325 µs|
|the same, of a bare \`node:https\` server, which needs 28 µs|2.28 ×|
|start|0.35 to 0.45 s|
|memory from source, idle and after 20,000 requests|139 MB and 203 MB|
|memory of the executable|127 MB, of it 74 MB not file-backed|
|sessions, with 8 clients at once|325 a second|

## Promises

A promise that was not kept is marked MISSED.

|Measurement|Figure|Promised|Measured|Machine||
|---|---|---|---|---|---|
${promises.join("\n")}

## What is measured

|Measurement||
|---|---|
${all.map(([name, { summary, on }]) => row(name, `${summary} (${on})`)).join("\n")}

## Figures to plan with
${all.filter(([name]) => FOR_PLANNING.includes(name)).map(([name, taken]) => section(name, taken)).join("")}`;
}

/** Names the machine and runtime of figures. */
function machineOf({ cores, processor, deno }: Taken): string {
  return `${cores} cores of ${processor}, Deno ${deno}`;
}

function section(name: string, { note, on, figures, ...taken }: Taken): string {
  return `
### ${name}

On ${on}, ${machineOf({ on, figures, ...taken })}.

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
