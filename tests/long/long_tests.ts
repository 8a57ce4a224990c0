/**
 * `deno task test:long [PART[:WORD]...]`: runs the tests that last too long for every day, all of them or the
 * named parts, prints their tables and writes them to `docs/reliability.md`. With a word, it runs only files
 * of the part with the word in their path; their rows replace rows with the same names. `campaign --seed N
 * --minutes M` sets the random faults of the campaign, and their duration. Exits with 1 if a test fails; its
 * tables then stay unchanged.
 */
import type { FaultRow, ParserRow, Results, TrialRow } from "./results.ts";
import { inPlace, reliabilityPage } from "./reliability_page.ts";

interface Part {
  /** Table of its rows; a part without a table only passes or fails. */
  readonly table?: keyof Results;
  readonly tests: readonly string[];
  /** Regular expression for the names of its tests; default: all. */
  readonly filter?: string;
  /** Whether files may run in parallel: not if tests measure time. */
  readonly parallel: boolean;
  /** Whether its rows replace rows with the same names, in a table that it shares with other parts. */
  readonly joins?: boolean;
  /** Size of the young generation in MiB, enough to avoid copies in measurements; default: the runtime's. */
  readonly young?: number;
}

const PARTS: Readonly<Record<string, Part>> = {
  faults: { table: "faults", tests: ["faults"], parallel: false },
  parsers: {
    table: "parsers",
    tests: ["fuzz", "daemon/encode_command_test.ts"],
    filter: "^(?!.*twice the text)",
    parallel: true,
  },
  growth: {
    tests: ["regular_expressions_test.ts", "fuzz", "daemon/encode_command_test.ts"],
    filter: "regular expression|twice the text",
    parallel: false,
    young: 64,
  },
  trials: {
    table: "trials",
    tests: [
      "attack",
      "resource/access/hostile_paths_test.ts",
      "sharing/store/killed_writer_test.ts",
      "system/sharing/memory_test.ts",
    ],
    parallel: false,
  },
  instances: {
    table: "instances",
    tests: [
      "system/one_time_long.ts",
      "system/news_of_instances_long.ts",
      "system/rate_of_instances_long.ts",
      "system/size_long.ts",
      "system/idle_long.ts",
    ],
    parallel: false,
  },
  campaign: { table: "instances", tests: ["campaign/campaign_test.ts"], parallel: false, joins: true },
  speed: { tests: ["bench/speed_long.ts"], parallel: false },
  repetitions: {
    tests: [
      "authentication/check_identity_test.ts",
      "browser",
      "model/distinguished_name_test.ts",
      "model/text_test.ts",
      "outgoing/ldap/ldap_directory_test.ts",
      "pages/qr_picture_test.ts",
      "resource/dav/dav_test.ts",
      "system/attributes_test.ts",
      "system/damaged_files_test.ts",
      "system/dav_test.ts",
      "system/every_command_test.ts",
      "system/group_test.ts",
      "system/issuers_test.ts",
      "system/several_instances_test.ts",
      "system/sharing/download_test.ts",
      "system/throttling_test.ts",
      "system/worker_deaths_test.ts",
      "system/workers_test.ts",
      "throttling/login_throttle_test.ts",
    ],
    parallel: false,
  },
  listings: { tests: ["system/sharing/listings_long.ts"], parallel: false },
  builds: {
    tests: ["build/executable_long.ts", "build/deb_long.ts", "build/release_long.ts"],
    parallel: false,
  },
};

const DATA = new URL("../../docs/reliability.json", import.meta.url);
const PAGE = new URL("../../docs/reliability.md", import.meta.url);

const options = { seed: "1", minutes: "5" };
const words: string[] = [];
for (let i = 0; i < Deno.args.length; i++) {
  const word = Deno.args[i] ?? "";
  if (word === "--seed" || word === "--minutes") {
    options[word === "--seed" ? "seed" : "minutes"] = Deno.args[++i] ?? "";
  } else words.push(word);
}
if (!/^\d{1,9}$/.test(options.seed) || !(Number(options.minutes) > 0)) {
  console.error("test:long: expected a whole number with --seed, and a number above 0 with --minutes");
  Deno.exit(2);
}
const wanted = words.map((arg) => {
  const [name = "", word] = arg.split(":", 2);
  return { name, word };
});
const unknown = wanted.map(({ name }) => name).filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`test:long: found ${unknown.join(", ")}, expected some of ${Object.keys(PARTS).join(", ")}`);
  Deno.exit(2);
}
for (const [name, part] of Object.entries(PARTS)) {
  const one = wanted.find((one) => one.name === name);
  if (wanted.length === 0 || one !== undefined) await run(name, part, one?.word);
}

/** Runs a part. @param word Word in the paths of its files; default: all files. */
async function run(name: string, part: Part, word?: string): Promise<void> {
  const tests: string[] = [];
  for (const test of part.tests) tests.push(...(word === undefined ? [test] : await filesWith(word, test)));
  if (tests.length === 0) {
    console.error(`test:long: found no test of ${name} with ${word} in its path`);
    Deno.exit(2);
  }
  const folder = await Deno.makeTempDir({ prefix: "authserver-results-" });
  try {
    const began = performance.now();
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "--no-check",
        "--allow-all",
        ...(part.parallel ? ["--parallel"] : []),
        ...(part.young === undefined ? [] : [`--v8-flags=--max-semi-space-size=${part.young}`]),
        ...(part.filter === undefined ? [] : [`--filter=/${part.filter}/`]),
        ...tests.map((test) => new URL(`../${test}`, import.meta.url).pathname),
      ],
      env: {
        AUTHSERVER_LONG_TESTS: "1",
        AUTHSERVER_RESULTS: folder,
        AUTHSERVER_CAMPAIGN_SEED: options.seed,
        AUTHSERVER_CAMPAIGN_MINUTES: options.minutes,
      },
      stdout: "inherit",
      stderr: "inherit",
    }).spawn().status;
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(`${name}: ${success ? "passed" : "FAILED"} after ${seconds} s`);
    if (!success) Deno.exitCode = 1;
    else if (part.table !== undefined) {
      const isWhole = word === undefined && part.joins !== true;
      await keep(part.table, await rowsIn(folder), isWhole ? seconds : undefined);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns the rows in files of a folder, sorted by their texts. */
async function rowsIn(folder: string): Promise<(FaultRow | ParserRow | TrialRow)[]> {
  const texts: string[] = [];
  for await (const { name } of Deno.readDir(folder)) texts.push(await Deno.readTextFile(`${folder}/${name}`));
  return texts.sort().map((text) => JSON.parse(text));
}

/** Returns test files with a word in their paths: the file itself, or files in the folder. */
async function filesWith(word: string, path: string): Promise<string[]> {
  if (path.endsWith(".ts")) return path.includes(word) ? [path] : [];
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(`../${path}`, import.meta.url))) {
    if (isDirectory) found.push(...await filesWith(word, `${path}/${name}`));
    else if (name.endsWith("_test.ts") && `${path}/${name}`.includes(word)) found.push(`${path}/${name}`);
  }
  return found.sort();
}

/** Writes rows to the page. @param seconds Duration of the part; absent if only some of its files ran. */
async function keep(
  table: keyof Results,
  rows: readonly (FaultRow | ParserRow | TrialRow)[],
  seconds: number | undefined,
): Promise<void> {
  console.table(rows);
  const kept = JSON.parse(await Deno.readTextFile(DATA));
  const day = new Date().toISOString().slice(0, 10);
  kept[table] = seconds === undefined
    ? { ...kept[table], again: day, rows: inPlace(kept[table].rows, rows) }
    : { day, seconds, rows };
  await Deno.writeTextFile(DATA, `${JSON.stringify(kept, undefined, 1)}\n`);
  await Deno.writeTextFile(PAGE, reliabilityPage(kept));
  console.log(`${rows.length} rows, written to ${PAGE.pathname}`);
}
