import type { FaultRow, Kept, ParserRow, TrialRow } from "./results.ts";

/** Returns the text of `docs/reliability.md`. */
export function reliabilityPage({ faults, parsers, trials, instances }: Kept): string {
  const sections = [...new Set(faults.rows.map(({ section }) => section))].sort();
  return `# Reliability

This page shows what callers and operators see when something around the service fails. \`deno task test:long\` writes
it and repeats every test on it; \`deno task test:long faults\` (or \`parsers\`, \`trials\`, \`instances\`, \`builds\`) runs
one part, \`faults:disk\` only the files of that part with this word in their paths. Times depend on the machine.

## Faults

The tests cause each fault in a real service with simulated neighbours.
${ran("faults", faults)} Tests of disks need root.

Two promises hold in every row: callers who do not need the failed part notice nothing, and the service recovers
without a restart.
${
    sections.map((section) => `
### ${section}

${faultTables(faults.rows.filter((row) => row.section === section))}
`).join("")
  }
## Damaged input

Every parser reads valid texts with parts removed, doubled or exchanged, and with special characters inserted. It returns
a result or a documented error within a second, and memory grows by less than 4 MB. ${ran("parsers", parsers)}

${
    table(
      ["Parser", "Cases", "Refused", "Longest case", "Memory kept"],
      parsers.rows.map(parserCells),
    )
  }

## Trials

Long repetitions. ${ran("trials", trials)}

${table(["What", "Done", "Outcome"], trials.rows.map(({ trial, done, outcome }) => [trial, done, outcome]))}

## Several instances

Three instances with one PostgreSQL. ${ran("instances", instances)}

${
    table(
      ["What", "Done", "Outcome"],
      instances.rows.filter(({ trial }) => !SEED.test(trial))
        .map(({ trial, done, outcome }) => [trial, done, outcome]),
    )
  }

### Campaigns of random faults

\`deno task test:long campaign --seed N --minutes M\` runs random operations and random faults on three instances and
their database, and checks the guarantees in [Several instances](several-instances.md).

${
    table(
      ["Seed", "Done", "Outcome"],
      instances.rows.flatMap(({ trial, done, outcome }) => {
        const seed = SEED.exec(trial)?.[1];
        return seed === undefined ? [] : [[seed, done, outcome]];
      }),
    )
  }

## What remains

- A process that is killed (\`kill -9\`, power cut) in the milliseconds between the TLS handshake with a transfer daemon
  and the end of the request can block that daemon for ever. Restart the daemon then. The service itself never ends a
  connection there.
- A session stays registered at a daemon until it expires if the daemon's answer was lost.
- Users whose lines in the password file are damaged cannot log in; nobody else gains access. A service that starts while
  the file is cut off in the middle of a name uses the shorter name.
`;
}

const COLLATOR = new Intl.Collator("en", { numeric: true });

/** Names of trials of the campaign, with their seeds. */
const SEED = /^random faults .*, seed (\d+)$/;

/** Number of faults with the same effects that get their own table. */
const MANY = 4;

/** Returns one table, and a shorter one for each set of many faults with the same effects. */
function faultTables(rows: readonly FaultRow[]): string {
  const alike = Map.groupBy(rows, ({ caller, after }) => `Callers see: ${caller}. Afterwards: ${after}.`);
  const many = [...alike].filter(([, rows]) => rows.length >= MANY);
  const others = [...alike.values()].filter((rows) => rows.length < MANY).flat();
  return [
    ...many.map(([effects, rows]) =>
      `${effects}\n\n${table(["What fails", "Log"], rows.map(({ fault, log }) => [fault, log]))}`
    ),
    ...others.length === 0 ? [] : [table(
      ["What fails", "Callers see", "Log", "Afterwards"],
      others.map(({ fault, caller, log, after }) => [fault, caller, log, after]),
    )],
  ].join("\n\n");
}

/** Returns rows in which `news` replaces rows with the same names, sorted by their texts. */
export function inPlace<Row extends FaultRow | ParserRow | TrialRow>(
  before: readonly Row[],
  news: readonly Row[],
): Row[] {
  const rows = new Map([...before, ...news].map((row) => [nameOf(row), row]));
  return [...rows.values()].sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
}

function nameOf(row: FaultRow | ParserRow | TrialRow): string {
  if ("parser" in row) return row.parser;
  return "trial" in row ? row.trial : `${row.section}: ${row.fault}`;
}

function ran(part: string, { day, seconds, again }: Kept[keyof Kept]): string {
  const since = again === undefined ? "" : `, single rows again on ${again}`;
  return `Made by \`deno task test:long ${part}\` on ${day}, in ${Math.ceil(seconds / 60)} minutes${since}.`;
}

function parserCells({ parser, cases, refused, longestMs, growth }: ParserRow): string[] {
  const number = (value: number) => value.toLocaleString("en");
  return [
    parser,
    number(cases),
    refused === undefined ? "" : number(refused),
    `${number(Math.ceil(longestMs))} ms`,
    growth < 100_000 ? "none" : `${(growth / 1_000_000).toFixed(1)} MB`,
  ];
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(titles),
    `|${titles.map(() => "---|").join("")}`,
    ...rows.map((cells) => line(cells.map(escaped))).sort(COLLATOR.compare),
  ].join("\n");
}

function escaped(text: string): string {
  return text.replace(/[|<]/g, "\\$&").replace(/\s+/g, " ");
}
