import type { FaultRow, Kept, ParserRow, TrialRow } from "./results.ts";

/** `docs/reliability.md`. */
export function reliabilityPage({ faults, parsers, trials, instances }: Kept): string {
  const sections = [...new Set(faults.rows.map(({ section }) => section))].sort();
  return `# Reliability

What happens when something around the service fails, when what it reads is spoiled, and when somebody tries for long. The
tables are written by \`deno task test:long\`, which tries everything on this page again; \`deno task test:long faults\`, or
\`parsers\`, \`trials\`, \`instances\` or \`builds\`, tries one part, \`faults:disk\` of it the files with that word in their paths. Times depend on the machine; limits do not.

## Faults

Each fault is caused on purpose in a real service with simulated neighbours, and the tests hold what the table says.
${ran("faults", faults)} As root, or the disks are left out.

Two promises hold in every row. Whoever does not need the thing that failed notices nothing. Once it works again, so does the
service, without a restart.
${
    sections.map((section) => `
### ${section}

${
      table(
        ["What fails", "What callers see", "What the log says", "Afterwards"],
        faults.rows.filter((row) => row.section === section)
          .map(({ fault, caller, log, after }) => [fault, caller, log, after]),
      )
    }
`).join("")
  }
## Spoiled input

Every parser of the service gets texts that are nearly right: good ones with parts cut out, doubled, exchanged, and with
characters that mean something. It gives a result or an error that it promises, takes less than a second for
each, changes nothing else, and the memory in use grows by less than 4 MB. ${ran("parsers", parsers)}

${
    table(
      ["Parser", "Cases", "Refused", "Longest case", "Memory kept"],
      parsers.rows.map(parserCells),
    )
  }

## Trials

What was done again and again. ${ran("trials", trials)}

${table(["What", "Done", "Outcome"], trials.rows.map(({ trial, done, outcome }) => [trial, done, outcome]))}

## Several instances

Three instances with one PostgreSQL. ${ran("instances", instances)}

${
    table(
      ["What", "Done", "Outcome"],
      instances.rows.map(({ trial, done, outcome }) => [trial, done, outcome]),
    )
  }

## What remains

- A process killed (\`kill -9\`, a power cut) in the milliseconds between the TLS handshake with a transfer daemon and the end of
  the request can leave that daemon waiting for ever: its command socket then has to be restarted. The service itself never
  ends a connection there.
- A session that was announced to a daemon whose answer was lost stays registered there until it expires.
- A password file that is damaged and stays so locks out those whose lines are damaged; nobody gets in by it. A service that
  is started or reloaded while the file is cut off in the middle of a name knows nothing better, and takes the shorter name.
`;
}

/** Rows, with others in the places of those of the same name, in the order that their texts have. */
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
    ...rows.map((cells) => line(cells.map(escaped))).sort(),
  ].join("\n");
}

function escaped(text: string): string {
  return text.replace(/[|<]/g, "\\$&").replace(/\s+/g, " ");
}
