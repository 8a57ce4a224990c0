/** Folders and files whose code protects somebody. */
export const PROTECTING: readonly string[] = [
  "src/attributes",
  "src/authentication",
  "src/daemon/encode_command.ts",
  "src/edge",
  "src/model/trust",
  "src/outgoing",
  "src/resource",
  "src/sharing",
  "src/throttling",
];

/** The latest result of each file, as `tests/reports/guards.json` keeps it. */
export type GuardResults = Record<string, {
  /** Day of the run, as `YYYY-MM-DD`. */
  readonly day: string;
  /** Of the text that was tried. */
  readonly digest: string;
  readonly guards: number;
  /** Guards whose removal fails a test. */
  readonly byTests: number;
  /** Guards without which the file does not compile, and which no test asked missed. */
  readonly byCompiler: number;
  /** Whether only tests in the folder that mirrors the file's were asked. */
  readonly onlyNear: boolean;
  /** Guards that can be removed unnoticed, as lines of Markdown, each with its reason if it has one. */
  readonly survivors: readonly string[];
}>;

/** Returns the text of `tests/reports/guards.md`. */
export function guardPage(results: GuardResults): string {
  const files = Object.entries(results);
  const folders = [...new Set(files.map(([file]) => folderOfGuards(file)))].sort();
  const rows = folders.map((folder) => {
    const inFolder = files.filter(([file]) => folderOfGuards(file) === folder).map(([, result]) => result);
    const sum = (count: (result: GuardResults[string]) => number) =>
      inFolder.reduce((total, result) => total + count(result), 0);
    const cells = [
      `\`${folder}\``,
      inFolder.length,
      sum(({ guards }) => guards),
      sum(({ byTests }) => byTests),
      sum(({ byCompiler }) => byCompiler),
      sum(({ survivors }) => survivors.length),
      inFolder.map(({ day }) => day).sort().at(0),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const survivors = files.flatMap(([, { survivors }]) => survivors);
  return `# Removed guards

A guard is an \`if\` whose body ends by refusing: it throws, returns early or goes on to the next item. In code that protects
somebody, \`deno task mutate --guards\` removes each guard once, one at a time, in a copy of the source; a test must fail.
Tests that do not end in time notice nothing. Guards without which the file does not compile cannot go missing unseen; they
are counted apart. Where only the tests beside a file were asked (\`--near\`), \`guards.json\` says so. The table has the folders of files that were tried completely; files that are not in
\`guards.json\` were not tried.

| Folder | Files tried | Guards | Noticed by tests | Noticed by the compiler | Not noticed | Oldest result |
|---|---|---|---|---|---|---|
${rows.join("\n")}

## Not noticed

${survivors.length === 0 ? "None." : survivors.join("\n")}
`;
}

function folderOfGuards(file: string): string {
  return file.slice(0, file.lastIndexOf("/"));
}
