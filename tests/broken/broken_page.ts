/** What became of a breakage. */
export interface BrokenRow {
  readonly rows: readonly string[];
  readonly broken: string;
  readonly file: string;
  /** Names of the tests that failed; none if the broken file could not be loaded. */
  readonly failed: readonly string[];
  /** Whether other tests did not end in time. */
  readonly late: boolean;
  /** Day and commit of the run, as `YYYY-MM-DD 0123abcd`. */
  readonly run: string;
}

/** The latest result of each row. */
export interface Kept {
  readonly rows: readonly BrokenRow[];
}

/** Names of tests that a cell shows. */
const SHOWN = 2;

/** `tests/reports/broken-on-purpose.md`. @param unbroken Promises that are not in the rows. */
export function brokenPage({ rows }: Kept, unbroken: readonly string[]): string {
  const lines = rows.flatMap((row) =>
    row.rows.map((promise) =>
      `| ${[promise, `${row.broken} (\`${row.file}\`)`, noticed(row), row.run].map(escaped).join(" | ")} |`
    )
  );
  return `# Broken on purpose

A promise that no test would miss is none. For each row of the [threat model](../../docs/threat-model.md) and of
[reliability](../../docs/reliability.md) a copy of the code is broken so that the promise is not kept any more, and tests are run: one of
them must fail; tests that do not end in time notice nothing. Written by \`deno task broken\`: ${rows.length} ways to
break ${lines.length} promises that a test noticed, each with day and commit of its run.

| Promise | Broken so | What failed | Run |
|---|---|---|---|
${lines.join("\n")}
${
    unbroken.length === 0
      ? ""
      : `\nNot broken yet, or not noticed:\n\n${unbroken.map((row) => `- ${row}`).join("\n")}\n`
  }`;
}

function noticed({ failed }: BrokenRow): string {
  if (failed.length === 0) return "tests could not be run to their end";
  const more = failed.length - SHOWN;
  return failed.slice(0, SHOWN).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function escaped(text: string): string {
  return text.replace(/[|<]/g, "\\$&").replace(/\s+/g, " ");
}
