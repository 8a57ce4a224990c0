/**
 * Folders below `tests/` whose test files run together, those of each folder in one isolate: to load the modules that they share
 * takes longer than most of their tests. Tests that take the machine for themselves, and those that count memory or leave
 * timers behind, are in other folders. Files with a test that nothing may be left open after run alone here too: what other
 * files have open, such as a service for all their tests, would count.
 */
const TOGETHER = [
  "attributes",
  "authentication",
  "command",
  "config",
  "daemon",
  "daemon_simulator",
  "edge",
  "files",
  "logging",
  "model",
  "mutate",
  "notify",
  "outgoing",
  "pages",
  "reservations",
  "resource",
  "service",
  "sharing",
  "store",
  "watch",
  "workers",
];

/** Folders whose test files run in groups of {@link IN_PART}: together they would take too long. */
const IN_PARTS = ["attack", "build", "docs", "system"];
const IN_PART = 6;

/** Files of those folders that measure the memory or the time of their process. */
const ALONE = ["attack/timing_test.ts", "system/sharing/memory_test.ts"];

/** Files that last longest, by the clock: they begin first, so that none is left alone at the end. Those of groups follow. */
const LONGEST = [
  "faults/upgrade_test.ts",
  "faults/database_test.ts",
  "faults/xuudb_test.ts",
  "faults/provider_test.ts",
  "faults/process_test.ts",
  "faults/instance_clock_test.ts",
  "browser/journey_test.ts",
  "browser/own_files_test.ts",
  "browser/bring_into_share_test.ts",
  "browser/pages_test.ts",
  "campaign/campaign_test.ts",
  "demo/several_instances_demo_test.ts",
  "system/operator_test.ts",
  "system/damaged_files_test.ts",
  "system/daemon_failure_test.ts",
  "system/every_command_test.ts",
  "system/one_time_test.ts",
];

/** What to give `deno test`, in place of the folder `tests/`. */
export interface TestGroups extends AsyncDisposable {
  /**
   * Files that begin first, modules that import the test files of one folder each, and all other test files: the runner's
   * `--ignore` ignores nothing after the name of a file.
   */
  readonly paths: readonly string[];
}

/** Writes the modules into a temporary folder. @param tests Absolute path of the folder `tests/`, with its last slash. */
export async function writeTestGroups(tests: string): Promise<TestGroups> {
  const made = await Deno.makeTempDir({ prefix: "authserver-tests-" });
  const modules: string[] = [];
  const files: string[] = [];
  const countsOpen = (file: string) => /sanitize\w+: true/.test(Deno.readTextFileSync(file));
  const add = async (below: string): Promise<void> => {
    const found: string[] = [];
    const [folder = ""] = below.split("/", 1);
    const isInParts = IN_PARTS.includes(folder);
    const runsAlone = (file: string) =>
      !isInParts && !TOGETHER.includes(folder) || LONGEST.includes(file) || ALONE.includes(file);
    for (
      const entry of Array.from(Deno.readDirSync(tests + below)).sort((a, b) => a.name < b.name ? -1 : 1)
    ) {
      if (entry.isDirectory) await add(`${below}${entry.name}/`);
      else if (entry.name.endsWith("_test.ts")) {
        const file = `${tests}${below}${entry.name}`;
        (runsAlone(below + entry.name) || countsOpen(file) ? files : found).push(file);
      }
    }
    const parts = isInParts ? Math.ceil(found.length / IN_PART) : Math.min(found.length, 1);
    for (let part = 0; part < parts; part++) {
      const module = `${made}/${below.replaceAll("/", "_")}${part}_test.ts`;
      const imports = found.filter((_, i) => i % parts === part)
        .map((file) => `import ${JSON.stringify(`file://${file}`)};\n`);
      await Deno.writeTextFile(module, imports.join(""));
      modules.push(module);
    }
  };
  await add("");
  const first = LONGEST.map((file) => tests + file);
  const paths = [...first, ...modules, ...files.filter((file) => !first.includes(file))];
  return { paths, [Symbol.asyncDispose]: () => Deno.remove(made, { recursive: true }) };
}
