/** Makes a release in the folder that is given, in a process with an environment of its own. */
import { release } from "../../bin/build/release.ts";
import { isTarget } from "../../bin/build/target.ts";

const [folder] = Deno.args;
const { target } = Deno.build;
if (folder === undefined || !isTarget(target)) Deno.exit(2);
await release(target, folder);
