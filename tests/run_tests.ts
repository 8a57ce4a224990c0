/**
 * `deno task test [PATH...]`: every test, or those in the paths. Prints how far it is in a few lines, what fails in full, and
 * at the end the runner's own summary and what was skipped. Ends with the runner's status, after half an hour at the latest.
 */
import { runSuite } from "./suite.ts";
import { writeTestGroups } from "./test_groups.ts";

Deno.exit(await run());

async function run(): Promise<number> {
  const print = (line: string) => console.log(line);
  if (Deno.args.length > 0) return await runSuite(Deno.args, print);
  await using groups = await writeTestGroups(new URL("./", import.meta.url).pathname);
  return await runSuite(["--config=deno.json", ...groups.paths], print);
}
