import assert from "node:assert/strict";
import fc from "fast-check";
import { SILENT } from "../../src/logging/logger.ts";
import type { Credentials } from "../../src/model/credentials.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import type { Ban } from "../../src/throttling/ban.ts";
import { LoginThrottle } from "../../src/throttling/login_throttle.ts";
import { CoreState } from "../../src/workers/cores.ts";
import { basic, bearer } from "../authentication/sample_credentials.ts";

const CONFIG = {
  enabled: true,
  maxFailures: 2,
  windowSeconds: 3600,
  baseDelaySeconds: 30,
  maxDelaySeconds: 900,
};

const ASOF = 1_700_000_000_000;

/** Returns a login throttle and the copy of its state. */
function followed() {
  const now = () => ASOF;
  const copy = new CoreState(CONFIG, now);
  const throttle = new LoginThrottle({
    config: CONFIG,
    log: SILENT,
    steady: now,
    onUpdate: (throttling) => copy.adopt(structuredClone({ throttling })),
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

Deno.test("CoreState equals the state of the login throttle after each attempt", () => {
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
        assert.deepEqual(copy.logins.throttling, throttle.memory.state());
      }
    },
  ));
});

Deno.test("CoreState adopts an operator's bans, and keeps its state when the configuration changes", () => {
  const { copy, throttle } = followed();
  for (let i = 0; i < 3; i++) attempt(throttle, basic("ann", "x"), "failed");
  const ban: Ban = { user: "bob", reason: "operator", failures: 0, until: ASOF + 60_000 };
  const state = () => copy.logins.throttling;
  copy.adopt({ throttling: { asOf: ASOF, operator: [ban] } });
  assert.deepEqual(state().operator.map(({ user }) => user), ["bob"]);
  const before = state();
  copy.configure({ ...CONFIG, maxFailures: 50 });
  assert.equal(JSON.stringify(state()), JSON.stringify(before));
  for (const user of ["bob", "ann"]) copy.adopt({ throttling: { asOf: ASOF, lifted: [{ user }] } });
  assert.deepEqual([state().operator, state().pairs, state().users], [[], [], []]);
  assert.equal(state().addresses.length, 1, "the address is not lifted with its user");
});

Deno.test("CoreState adopts only logins from a core with a successor", () => {
  const { copy } = followed();
  const proof = { owner: "ann", key: "a proof", endsAt: Date.now() + 60_000 };
  const servers = { servers: [] };
  copy.adopt({ behindMs: 5 });
  copy.adopt({ behindMs: 7, proofs: [proof] }, true);
  assert.deepEqual(copy.logins.proofs, [proof]);
  assert.equal(copy.initial(servers).behindMs, 5);
});
