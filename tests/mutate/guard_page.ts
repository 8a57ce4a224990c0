/** Folders and files whose code protects somebody. */
export const PROTECTING: readonly string[] = [
  "src/attributes",
  "src/authentication",
  "src/daemon/encode_command.ts",
  "src/edge",
  "src/model/trust",
  "src/outgoing",
  "src/resource",
  "src/files",
  "src/sharing",
  "src/throttling",
];

/** The latest result of each file, as `tests/reports/guards.json` keeps it. */
export type GuardResults = Record<string, {
  /** Day of the run, as `YYYY-MM-DD`. */
  readonly day: string;
  /** Of the text that was tried, and of the tests near it. */
  readonly digest: string;
  readonly guards: number;
  /** Guards whose removal fails a test. */
  readonly byTests: number;
  /** Guards that no test missed and without which the file does not compile: the guard tells a type. */
  readonly byCompiler: number;
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
The tests of the folder that mirrors the file's are run, those that load the file directly, and the nearest 8 others; not
those that run the program in workers or processes of their own. Tests that do not end in time notice nothing. "Needed by
types": no test notices, but what follows does not compile, because the guard tells the compiler of what type a value is (an
index that is in range, an error that is rethrown).

| Folder | Files | Guards | Noticed by tests | Needed by types | Not noticed | Oldest result |
|---|---|---|---|---|---|---|
${rows.join("\n")}

## Not noticed

${survivors.length === 0 ? "None." : survivors.join("\n")}
`;
}

function folderOfGuards(file: string): string {
  return file.slice(0, file.lastIndexOf("/"));
}
