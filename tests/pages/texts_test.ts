import assert from "node:assert/strict";
import { TEXTS } from "../../src/pages/texts.ts";

const { home, admin, tokens, shares, listing, upload } = TEXTS;

/** What is said of none or two, and of one. */
const COUNTED: readonly (readonly [says: (count: number) => string, one: string, two: string])[] = [
  [(count) => home.instances(count, count), "1 instance is running.", "2 instances are running."],
  [(count) => home.instances(count, 3), "1 of 3 instances are running.", "2 of 3 instances are running."],
  [
    home.unlessIdle,
    "or until the browser is idle for 1 minute",
    "or until the browser is idle for 2 minutes",
  ],
  [admin.reasons.passwords, "1 wrong password", "2 wrong passwords"],
  [admin.reasons.tokens, "1 wrong token or key", "2 wrong tokens or keys"],
  [admin.reasons.operator, "by an administrator", "by an administrator"],
  [tokens.hours, "1 hour", "2 hours"],
  [shares.count, "1 share", "2 shares"],
  [shares.days, "1 day", "2 days"],
  [shares.usedTimes, "used once", "used 2 times"],
  [shares.files, "1 file", "2 files"],
  [listing.entries, "1 entry", "2 entries"],
  [listing.omitted, "; 1 in this directory cannot be shown", "; 2 in this directory cannot be shown"],
  [upload.brought, "1 file was uploaded", "2 files were uploaded"],
  [upload.filesLeft, "You can upload 1 more file.", "You can upload 2 more files."],
];
for (const [says, one, two] of COUNTED) {
  Deno.test(`TEXTS: "${one}", "${two}"`, () => assert.deepEqual([1, 2].map(says), [one, two]));
}

Deno.test("TEXTS say what there is none of", () => {
  assert.equal(shares.days(0), "never");
  assert.equal(shares.usedTimes(0), "not used yet");
  assert.equal(listing.entries(0), "0 entries");
  assert.equal(listing.modified(undefined), "Modified");
  assert.equal(listing.modified("UTC"), "Modified (UTC)");
});
