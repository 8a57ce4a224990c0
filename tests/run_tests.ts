/**
 * `deno task test [PATH...]`: every test, or those in the paths. Prints how far it is in a few lines, what fails in full, and
 * at the end the runner's own summary and what was skipped. Ends with the runner's status, after half an hour at the latest.
 */
import { runSuite } from "./suite.ts";

Deno.exit(await runSuite(Deno.args.length > 0 ? Deno.args : ["tests/"], (line) => console.log(line)));
