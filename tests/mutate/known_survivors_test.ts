import assert from "node:assert/strict";
import { KNOWN_SURVIVORS } from "./known_survivors.ts";
import { mutantsOf } from "./mutant.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

for (const { file, at, change, why } of KNOWN_SURVIVORS) {
  Deno.test(`KNOWN_SURVIVORS: ${file} still has ${at}, and ${change}`, async () => {
    const mutants = mutantsOf(await Deno.readTextFile(ROOT + file));
    const found = mutants.filter((mutant) => mutant.at === at && mutant.change === change);
    assert.equal(found.length, 1, "one place, so that the reason is that of this one");
    assert.notEqual(why, "");
  });
}
