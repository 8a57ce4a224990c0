import assert from "node:assert/strict";
import fc from "fast-check";
import { SILENT } from "../../src/logging/logger.ts";
import type { Credentials } from "../../src/model/credentials.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import { LoginThrottle } from "../../src/throttling/login_throttle.ts";
import { ThrottlingCopy } from "../../src/workers/throttling_copy.ts";
import { basic, bearer } from "../authentication/sample_credentials.ts";

const CONFIG = {
  enabled: true,
  maxFailures: 2,
  windowSeconds: 3600,
  baseDelaySeconds: 30,
  maxDelaySeconds: 900,
};

/** A login throttle and the copy that is told of what it learns. */
function followed() {
  const now = () => 1_700_000_000_000;
  const copy = new ThrottlingCopy(CONFIG, now);
  const throttle = new LoginThrottle({
    config: CONFIG,
    log: SILENT,
    steady: now,
    learned: (news) => copy.adopt(structuredClone(news)),
  });
  return { copy, throttle };
}

function attempt(
  throttle: LoginThrottle,
  credentials: Credentials,
  outcome: "succeeded" | "failed",
): void {
  try {
    const admitted = throttle.admit(credentials);
    assert(!(admitted instanceof Promise));
    admitted[outcome]();
  } catch (error) {
    assert(isHttpError(error, "ERR_TOO_MANY_FAILURES"));
  }
}

const CREDENTIALS = [
  basic("ann", "x"),
  basic("bob", "x"),
  basic("ann", "x", "203.0.113.9"),
  bearer("t"),
  bearer("t", "203.0.113.9"),
];

Deno.test("ThrottlingCopy knows after each attempt all that the login throttle does", () => {
  fc.assert(fc.property(
    fc.array(
      fc.tuple(fc.constantFrom(...CREDENTIALS), fc.constantFrom("succeeded" as const, "failed" as const)),
      {
        maxLength: 60,
      },
    ),
    (attempts) => {
      const { copy, throttle } = followed();
      for (const [credentials, outcome] of attempts) {
        attempt(throttle, credentials, outcome);
        assert.deepEqual(copy.state, throttle.memory.state());
      }
    },
  ));
});

Deno.test("ThrottlingCopy follows the operator, and keeps all it knows when the configuration changes", () => {
  const { copy, throttle } = followed();
  for (let i = 0; i < 3; i++) attempt(throttle, basic("ann", "x"), "failed");
  copy.follow({ about: "ban", subject: { user: "bob" }, until: Date.now() + 60_000 }, { about: "ban" });
  assert.deepEqual(copy.state.operator.map(({ user }) => user), ["bob"]);
  const before = copy.state;
  copy.configure({ ...CONFIG, maxFailures: 50 });
  assert.equal(JSON.stringify(copy.state), JSON.stringify(before));
  copy.follow({ about: "lift", subject: { user: "bob" } }, { about: "lift", lifted: 1 });
  copy.follow({ about: "lift", subject: { user: "ann" } }, { about: "lift", lifted: 1 });
  assert.deepEqual([copy.state.operator, copy.state.pairs, copy.state.users], [[], [], []]);
  assert.equal(copy.state.addresses.length, 1, "the address is not lifted with its user");
});
