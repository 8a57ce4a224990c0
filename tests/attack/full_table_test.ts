/** More failing users than the throttle remembers: no extra guesses, and no known user is locked out. */
import assert from "node:assert/strict";
import { basic } from "../authentication/sample_credentials.ts";
import { SILENT } from "../../src/logging/logger.ts";
import type { Credentials } from "../../src/model/credentials.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import { LoginThrottle } from "../../src/throttling/login_throttle.ts";
import { LONG, note } from "../long/results.ts";

const CONFIG = {
  enabled: true,
  maxFailures: 5,
  windowSeconds: 3600,
  baseDelaySeconds: 60,
  maxDelaySeconds: 900,
};
/** Capacity of each table; the product has 50,000. */
const CAPACITY = LONG ? 50_000 : 500;
const ATTACKERS = 2 * CAPACITY;
const FREE_PER_USER = 4 * CONFIG.maxFailures;

Deno.test("tables full of failures permit no further guesses at a user, and lock out no known user", () => {
  const clock = { now: 1_700_000_000_000 };
  const throttle = new LoginThrottle({
    config: CONFIG,
    log: SILENT,
    steady: () => clock.now,
    ...(!LONG && { capacity: CAPACITY }),
  });
  /** Reports whether the throttle lets a password be checked. */
  const looked = (credentials: Credentials, outcome: "succeeded" | "failed" = "failed"): boolean => {
    try {
      const attempt = throttle.admit(credentials);
      assert(!(attempt instanceof Promise), "others are in the way");
      attempt[outcome]();
      return true;
    } catch (error) {
      assert(isHttpError(error, "ERR_TOO_MANY_FAILURES"), String(error));
      return false;
    }
  };
  const dora = basic("dora", "right", "198.51.100.7");
  assert(looked(dora, "succeeded"));
  let guesses = 0;
  let attempts = 0;
  for (let i = 0; i < ATTACKERS; i++) {
    const from = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
    if (looked(basic("alice", "guess", from))) guesses++;
    for (let at = 0; at < 10 && looked(basic(`user${i}`, "guess", from)); at++) attempts++;
    if (i % (ATTACKERS / 10) !== 0) continue;
    assert(looked(dora, "succeeded"), `dora after ${i}`);
  }
  assert(attempts > CAPACITY, "they were looked at");
  assert(guesses <= FREE_PER_USER + 1, `${guesses} guesses at one user`);
  clock.now += 60_000;
  assert(looked(basic("alice", "guess", "198.51.100.8")), "a wait ends");
  note("trials", {
    trial: "failed logins with more names and addresses than the tables hold",
    done: `${attempts} failures under ${ATTACKERS} names from as many addresses, with tables of ${CAPACITY}`,
    outcome: `known users can always log in; ${guesses} guesses at one user, as with few addresses`,
  });
});
