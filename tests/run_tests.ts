/**
 * `deno task test [PATH...]`: runs all tests, or the tests in the paths. Prints progress in a few lines,
 * failures in full, and at the end the runner's summary and the skipped tests. Exits with the runner's
 * status, after half an hour at the latest.
 */
import { makeScratchFolder } from "./scratch_folder.ts";
import { runSuite } from "./suite.ts";
import { writeTestGroups } from "./test_groups.ts";

Deno.exit(await runTests());

async function runTests(): Promise<number> {
  const print = (line: string) => console.log(line);
  await using scratch = await makeScratchFolder();
  const run = (paths: readonly string[]) => runSuite(paths, print, { scratch });
  if (Deno.args.length > 0) return await run(Deno.args);
  await using groups = await writeTestGroups(new URL("./", import.meta.url).pathname);
  return await run(["--config=deno.json", ...groups.paths]);
}
