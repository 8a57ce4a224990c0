import assert from "node:assert/strict";
import { failure, type Fault, isAboutDaemon, isCertain } from "../../src/daemon/exchange.ts";

/** Faults, whether each proves that the daemon is unusable, and whether it concerns the daemon at all. */
const FACTS: readonly (readonly [Fault, certain: boolean, aboutDaemon: boolean])[] = [
  ["untrusted", true, true],
  ["not-tls", true, true],
  ["own-certificate-refused", true, true],
  ["empty-reply", false, true],
  ["reply-timeout", false, true],
  ["invalid-reply", false, true],
  ["aborted", false, false],
  ["busy", false, false],
  ["closing", false, false],
];
for (const [fault, certain, aboutDaemon] of FACTS) {
  Deno.test(`after the fault ${fault} the daemon ${certain ? "is unusable" : "may still be usable"}`, () => {
    const failed = failure(fault, "before");
    assert.deepEqual([isCertain(failed), isAboutDaemon(failed)], [certain, aboutDaemon]);
  });
}
