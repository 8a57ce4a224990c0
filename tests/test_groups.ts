/**
 * Folders below `tests/` whose test files run together, consecutive files in the same isolate: loading the
 * modules that they share takes longer than most of their tests. Tests that need the whole machine are in
 * other folders. Files with a test that checks for open resources run alone, too: resources of other files,
 * such as a service for all their tests, would make it fail.
 */
const TOGETHER = [
  "attributes",
  "authentication",
  "bench",
  "command",
  "config",
  "daemon",
  "daemon_simulator",
  "edge",
  "files",
  "fixtures",
  "identity_provider",
  "instances",
  "logging",
  "long",
  "metrics",
  "model",
  "mutate",
  "notify",
  "openapi",
  "outgoing",
  "pages",
  "pki",
  "real",
  "reservations",
  "resource",
  "runtime",
  "service",
  "sharing",
  "store",
  "throttling",
  "watch",
  "workers",
];
/** Files per isolate, so that there are a few more isolates than run at a time. */
const IN_GROUP = 45;

/** Folders whose test files run in groups of {@link IN_PART}: together they would take too long. */
const IN_PARTS = ["faults", "attack", "fuzz", "build", "docs", "system"];
const IN_PART = 6;

/** Files of these folders that measure the memory or the time of their process. */
const ALONE = [
  "attack/timing_test.ts",
  "system/sharing/memory_test.ts",
  "throttling/memory_test.ts",
];

/**
 * Files that take longest in wall-clock time. They begin first, in turn with groups, so that no file ends alone.
 */
const LONGEST = [
  "system/worker_deaths_test.ts",
  "faults/upgrade_test.ts",
  "faults/database_test.ts",
  "faults/xuudb_test.ts",
  "faults/provider_test.ts",
  "faults/process_test.ts",
  "faults/instance_clock_test.ts",
  "browser/journey_test.ts",
  "browser/own_files_test.ts",
  "browser/upload_into_share_test.ts",
  "browser/pages_test.ts",
  "campaign/campaign_test.ts",
  "demo/several_instances_demo_test.ts",
  "system/several_instances_test.ts",
  "system/operator_test.ts",
  "system/damaged_files_test.ts",
  "system/daemon_failure_test.ts",
  "system/every_command_test.ts",
];

/** Arguments for `deno test`, in place of the folder `tests/`. */
export interface TestGroups extends AsyncDisposable {
  /**
   * Modules that each import one test file or several, in the order in which they begin. All are in one
   * folder: with files in several folders, the runner begins with the longest name of a folder, whatever
   * their order.
   */
  readonly paths: readonly string[];
}

/**
 * Writes the modules into a temporary folder. @param tests Absolute path of `tests/`, with its last slash.
 */
export async function writeTestGroups(tests: string): Promise<TestGroups> {
  const files: string[] = [];
  const together: string[] = [];
  const inParts = new Map(IN_PARTS.map((folder): [string, string[]] => [folder, []]));
  const countsOpen = (file: string) => /sanitize\w+: true/.test(Deno.readTextFileSync(file));
  const add = (below: string): void => {
    const [folder = ""] = below.split("/", 1);
    const group = inParts.get(folder) ?? (TOGETHER.includes(folder) ? together : files);
    for (
      const { name, isDirectory } of Array.from(Deno.readDirSync(tests + below))
        .sort((a, b) => a.name < b.name ? -1 : 1)
    ) {
      if (isDirectory) add(`${below}${name}/`);
      else if (name.endsWith("_test.ts")) {
        const file = below + name;
        const runsAlone = LONGEST.includes(file) || ALONE.includes(file) || countsOpen(tests + file);
        (runsAlone ? files : group).push(tests + file);
      }
    }
  };
  add("");
  const groups = new Map<string, readonly string[]>();
  const size = Math.ceil(together.length / Math.ceil(together.length / IN_GROUP));
  for (let from = 0; from < together.length; from += size) {
    groups.set(`together_${from / size}`, together.slice(from, from + size));
  }
  for (const [folder, found] of inParts) {
    const parts = Math.ceil(found.length / IN_PART);
    for (let part = 0; part < parts; part++) {
      groups.set(`${folder}_${part}`, found.filter((_, i) => i % parts === part));
    }
  }
  const alone = (file: string): [name: string, group: readonly string[]] => [
    file.slice(tests.length, -"_test.ts".length).replaceAll("/", "_"),
    [file],
  ];
  const first = LONGEST.map((file) => tests + file);
  const longest = first.map(alone);
  const shared = [...groups];
  // In turn with groups, which compute: the longest files wait most of the time.
  const begun = Array.from(
    { length: Math.max(longest.length, shared.length) },
    (_, i) => [longest[i], shared[i]],
  )
    .flat().filter((group) => group !== undefined);
  const made = await Deno.makeTempDir({ prefix: "authserver-tests-" });
  const paths: string[] = [];
  for (const [name, group] of [...begun, ...files.filter((file) => !first.includes(file)).map(alone)]) {
    const module = `${made}/${name}_test.ts`;
    await Deno.writeTextFile(
      module,
      group.map((file) => `import ${JSON.stringify(`file://${file}`)};\n`).join(""),
    );
    paths.push(module);
  }
  return { paths, [Symbol.asyncDispose]: () => Deno.remove(made, { recursive: true }) };
}
