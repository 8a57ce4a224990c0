import { type FolderScore, percent, PROMISED } from "./score_table.ts";

/** The latest results of each folder of `src`, as kept in `tests/reports/mutation.json`. */
export type Kept = Record<
  string,
  FolderScore & {
    /** Day of the run, as `YYYY-MM-DD`. */
    readonly day: string;
    readonly seed: number;
    /** How many mutants the folder has, of which a sample was tried. */
    readonly mutants: number;
  }
>;

/** `tests/reports/mutation.md`. */
export function mutationPage(kept: Kept): string {
  const scores = Object.entries(kept).sort(([a], [b]) => a < b ? -1 : 1);
  const rows = scores.map(([folder, { mutants, tried, own, killed, equivalent, seed, day }]) =>
    `| ${
      [
        `\`${folder}\``,
        mutants,
        tried,
        percent(own, tried),
        percent(killed, tried),
        equivalent.length,
        seed,
        day,
      ].join(" | ")
    } |`
  );
  return `# Mutation

Would the tests notice a mistake? A copy of the source gets one small mistake at a time (a condition that always or never
holds, \`<\` for \`<=\`, a number that is off, an \`await\` or a \`close\` that is left out), and the tests are run. Of each folder
of \`src\` a sample is tried, drawn by a seed; those that change nothing that anybody could see are equivalent, and do not count.
Wanted are ${100 * PROMISED.all} % killed in each folder, ${
    100 * PROMISED.own
  } % by the folder's own tests or the compiler. Written by
\`deno task mutate\`, and after tests for survivors by \`deno task mutate --again\`, which tries those once more. Where all
that are killed are not told, tests of other folders were not asked about the survivors.

| Folder | Mutants | Tried | Killed by its own tests | Killed | Equivalent | Seed | Day |
|---|---|---|---|---|---|---|---|
${rows.join("\n")}

## Survivors

${list(scores.flatMap(([, { survivors }]) => survivors))}

## Equivalent

${list(scores.flatMap(([, { equivalent }]) => equivalent.map((line) => line.replace("equivalent: ", ""))))}
`;
}

function list(lines: readonly string[]): string {
  return lines.length === 0 ? "None." : lines.join("\n");
}
