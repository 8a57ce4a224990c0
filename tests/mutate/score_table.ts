import type { KnownSurvivor } from "./known_survivors.ts";
import type { Mutant } from "./mutant.ts";

/** What became of a mutant. */
export interface Trial {
  readonly file: string;
  readonly mutant: Pick<Mutant, "kind" | "line" | "change">;
  /** Who noticed: tests of its folder, the compiler, tests of other folders; absent if nobody did. */
  readonly killedBy?: "own" | "types" | "others";
  readonly known: KnownSurvivor | undefined;
}

/** Share of those that are not equivalent which must be killed, in each folder; and by its own tests or the compiler. */
const PROMISED = { all: 0.95, own: 0.85 };

/** The folder of `src` that a file is in. */
export function folderOf(file: string): string {
  return file.split("/")[1] ?? "";
}

/**
 * A table of folders and a list of survivors, in Markdown.
 * @param onlyOwn Whether tests of other folders were not asked.
 * @returns Also whether every survivor has a reason, and every folder what is promised.
 */
export function scoreTable(
  trials: readonly Trial[],
  { onlyOwn }: { onlyOwn: boolean },
): { text: string; good: boolean } {
  const folders = [...new Set(trials.map(({ file }) => folderOf(file)))].sort();
  let good = true;
  const rows = folders.map((folder) => {
    const counted = trials.filter(({ file, known }) =>
      folderOf(file) === folder && known?.equivalent !== true
    );
    const killed = counted.filter(({ killedBy }) => killedBy !== undefined).length;
    const own = counted.filter(({ killedBy }) => killedBy === "own" || killedBy === "types").length;
    const share = (count: number) => counted.length === 0 ? 1 : count / counted.length;
    good &&= share(own) >= PROMISED.own && (onlyOwn || share(killed) >= PROMISED.all);
    return [folder, counted.length, percent(share(own)), onlyOwn ? "" : percent(share(killed))];
  });
  const survivors = trials.filter(({ killedBy }) => killedBy === undefined);
  good &&= onlyOwn || survivors.every(({ known }) => known !== undefined);
  const lines = survivors.map(({ file, mutant, known }) =>
    `- \`${file}:${mutant.line}\` ${mutant.kind}: \`${mutant.change}\`${reasonOf(known)}`
  );
  const text = [
    "",
    "| Folder | Mutants | Killed by its own tests | Killed |",
    "|---|---|---|---|",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
    "",
    ...(lines.length > 0 ? ["Survivors:", "", ...lines] : ["No survivors."]),
  ].join("\n");
  return { text, good };
}

function reasonOf(known: KnownSurvivor | undefined): string {
  if (known === undefined) return "";
  return ` — ${known.equivalent ? "equivalent: " : ""}${known.why}`;
}

function percent(share: number): string {
  return `${Math.floor(100 * share)} %`;
}
