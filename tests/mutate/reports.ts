import { dirname } from "node:path";
import { percent, PROMISED, type Score } from "./score.ts";

/** Latest score of a folder or a file of `src`. */
export type KeptScore = Score & {
  /** Day of the run, as `YYYY-MM-DD`. */
  readonly day: string;
  /** First half of the SHA-256 of sources and own tests, in hexadecimal digits; absent in old scores. */
  readonly digest?: string;
  /** Seed of the sample; absent if all mutants were tried. */
  readonly seed?: number;
  /** Number of all mutants. */
  readonly mutants: number;
};

/** Scores by the path of the folder or file. */
export type Scores = Record<string, KeptScore>;

/** Result of a breakage that tests noticed. */
export interface BrokenRow {
  readonly rows: readonly string[];
  readonly broken: string;
  readonly file: string;
  /** Names of the tests that failed; empty if the broken file could not be loaded. */
  readonly failed: readonly string[];
  /** Day and commit of the run, as `YYYY-MM-DD 0123abcd`. */
  readonly run: string;
}

/** Results in `tests/reports`, as data for the next run and as a page for readers. */
export class Report<Kept> {
  constructor(readonly name: string, readonly page: (kept: Kept) => string) {}

  async read(): Promise<Kept> {
    return JSON.parse(await Deno.readTextFile(this.#path("json")));
  }

  async write(kept: Kept): Promise<void> {
    await Deno.writeTextFile(this.#path("json"), `${JSON.stringify(kept, undefined, 1)}\n`);
    await Deno.writeTextFile(this.#path("md"), this.page(kept));
  }

  /** Reports whether the page shows the data. */
  async isCurrent(): Promise<boolean> {
    return await Deno.readTextFile(this.#path("md")) === this.page(await this.read());
  }

  #path(extension: string): string {
    return new URL(`../reports/${this.name}.${extension}`, import.meta.url).pathname;
  }
}

/** Samples of mutants, by folder of `src`. */
export const SAMPLES = new Report<Scores>("mutation", (scores) =>
  scorePage(
    "Mutation",
    `Would the tests notice a mistake? \`deno task mutate\` puts one small mistake at a time into a copy of the source (a
condition that always or never holds, \`<\` for \`<=\`, a number that is off, an \`await\` or a \`close\` that is left out), and runs
the tests: one of them must fail, or the compiler. Tests that do not end in time notice nothing. Of each folder of \`src\` a sample is
tried, drawn by a seed; mutants that change nothing that anybody could see are equivalent, and do not count. Wanted are
${100 * PROMISED.all} % killed in each folder, ${
      100 * PROMISED.own
    } % by the folder's own tests or the compiler. Where all that are killed are not told,
tests of other folders were not asked about the survivors.`,
    scores,
  ));

/** Guards, by file of `src`. */
export const GUARDS = new Report<Scores>("guards", (scores) => {
  const folders = Map.groupBy(Object.entries(scores), ([file]) => dirname(file));
  const summed = [...folders].map(([folder, files]) =>
    [folder, sumOf(files.map(([, score]) => score))] as const
  );
  return scorePage(
    "Removed guards",
    `A guard is an \`if\` whose body ends by refusing: it throws, returns early or goes on to the next item. In code that protects
somebody, \`deno task mutate --guards\` removes each guard once, one at a time, in a copy of the source; a test must fail, or the
compiler: some guards tell it of what type a value is. Tests that do not end in time notice nothing. The day is that of the oldest
result in a folder.`,
    Object.fromEntries(summed),
  );
});

/** Promises of the documents that were broken on purpose. */
export const BROKEN = new Report<
  { readonly rows: readonly BrokenRow[]; readonly unbroken?: readonly string[] }
>(
  "broken-on-purpose",
  ({ rows, unbroken = [] }) => {
    const lines = rows.flatMap((row) =>
      row.rows.map((promise) =>
        `| ${[promise, `${row.broken} (\`${row.file}\`)`, noticed(row), row.run].map(escaped).join(" | ")} |`
      )
    );
    return `# Broken on purpose

For each row of the [threat model](../../docs/threat-model.md) and of [reliability](../../docs/reliability.md), \`deno task mutate
--promises\` breaks a copy of the code so that the promise is not kept any more, and runs tests: one of them must fail. Tests that
do not end in time notice nothing. Tests noticed ${rows.length} ways to break ${lines.length} promises; each row has the day and
the commit of its run.

| Promise | Broken so | What failed | Run |
|---|---|---|---|
${lines.join("\n")}
${
      unbroken.length === 0
        ? ""
        : `\nNot broken yet, or not noticed:\n\n${unbroken.map((row) => `- ${row}`).join("\n")}\n`
    }`;
  },
);

function sumOf(scores: readonly KeptScore[]): KeptScore {
  const sum = (count: (score: KeptScore) => number) =>
    scores.reduce((total, score) => total + count(score), 0);
  return {
    day: scores.map(({ day }) => day).sort().at(0) ?? "",
    mutants: sum(({ mutants }) => mutants),
    tried: sum(({ tried }) => tried),
    own: sum(({ own }) => own),
    ...(scores.every(({ killed }) => killed !== undefined) && { killed: sum(({ killed = 0 }) => killed) }),
    equivalent: scores.flatMap(({ equivalent }) => equivalent),
    survivors: scores.flatMap(({ survivors }) => survivors),
  };
}

function scorePage(title: string, text: string, scores: Readonly<Scores>): string {
  const sorted = Object.entries(scores).sort(([a], [b]) => a < b ? -1 : 1);
  const rows = sorted.map(([path, { mutants, tried, own, killed, equivalent, seed = "", day }]) => {
    const shares = [percent(own, tried), percent(killed, tried)];
    return `| ${[`\`${path}\``, mutants, tried, ...shares, equivalent.length, seed, day].join(" | ")} |`;
  });
  const list = (lines: readonly string[]) => lines.length === 0 ? "None." : lines.join("\n");
  return `# ${title}

${text}

| Folder | Mutants | Tried | Killed by its own tests | Killed | Equivalent | Seed | Day |
|---|---|---|---|---|---|---|---|
${rows.join("\n")}

## Survivors

${list(sorted.flatMap(([, { survivors }]) => survivors))}

## Equivalent

${list(sorted.flatMap(([, { equivalent }]) => equivalent.map((line) => line.replace("equivalent: ", ""))))}
`;
}

/** Number of test names in a cell. */
const SHOWN = 2;

function noticed({ failed }: BrokenRow): string {
  if (failed.length === 0) return "the file cannot be loaded";
  const more = failed.length - SHOWN;
  return failed.slice(0, SHOWN).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function escaped(text: string): string {
  return text.replace(/[|<]/g, "\\$&").replace(/\s+/g, " ");
}
