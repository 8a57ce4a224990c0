/**
 * `deno task test [PATH...]`: every test, or those in the paths. Prints how far it is in a few lines, what fails in full, and
 * at the end the runner's own summary and what was skipped. Ends with the runner's status, after half an hour at the latest.
 */
import { runSuite } from "./suite.ts";
import { writeTestGroups } from "./test_groups.ts";

/** Files that last longest, by the clock: they begin first, so that none is left alone at the end. */
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
  "command/files/migrate_test.ts",
  "demo/several_instances_demo_test.ts",
  "system/operator_test.ts",
  "system/damaged_files_test.ts",
  "system/daemon_failure_test.ts",
  "system/every_command_test.ts",
  "system/one_time_test.ts",
].map((file) => `tests/${file}`);

const status = await run();
Deno.exit(status);

async function run(): Promise<number> {
  const print = (line: string) => console.log(line);
  if (Deno.args.length > 0) return await runSuite(Deno.args, print);
  await using groups = await writeTestGroups(new URL("./", import.meta.url));
  const others = [`--ignore=${groups.folders.join(",")}`, "--config=deno.json"];
  return await runSuite([...others, ...LONGEST, ...groups.modules, "tests/"], print);
}
