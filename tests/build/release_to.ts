/** Builds a release in a given folder, in a process with its own environment. */
import { release } from "../../bin/build/release.ts";
import { isTarget } from "../../bin/build/target.ts";

const [folder] = Deno.args;
const { target } = Deno.build;
if (folder === undefined || !isTarget(target)) Deno.exit(2);
await release(target, folder);
