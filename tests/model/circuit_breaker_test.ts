import assert from "node:assert/strict";
import fc from "fast-check";
import { CircuitBreaker } from "../../src/model/circuit_breaker.ts";

function create(options: { readonly toleranceMs?: number } = {}) {
  const time = { now: 0.25 };
  const breaker = new CircuitBreaker({
    elapsed: () => time.now,
    firstPauseMs: 1_000,
    maxPauseMs: 15_000,
    ...options,
  });
  return { time, breaker };
}

Deno.test("CircuitBreaker opens at the first failure, and doubles its pauses up to the longest", () => {
  const { time, breaker } = create();
  const pauses: number[] = [];
  for (let i = 0; i < 6; i++) {
    breaker.failed();
    assert.equal(breaker.admits, false);
    pauses.push(breaker.waitMs);
    time.now += breaker.waitMs;
    assert.equal(breaker.admits, true, "half-open");
  }
  assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  breaker.succeeded();
  breaker.failed();
  assert.equal(breaker.waitMs, 1_000, "a success closes it: pauses begin anew");
});

Deno.test("CircuitBreaker pauses no longer for many simultaneous failures than for one", () => {
  const { time, breaker } = create();
  for (let i = 0; i < 8; i++) {
    breaker.failed();
    time.now += 1;
  }
  assert.equal(breaker.waitMs, 992);
  breaker.failed(() => 5_000);
  assert.equal(breaker.waitMs, 5_000, "a longer pause that a system asks for counts");
  time.now += 5_000;
  breaker.failed();
  assert.equal(breaker.waitMs, 2_000, "a failed trial doubles it");
  breaker.succeeded();
  breaker.failed();
  assert.equal(breaker.waitMs, 1_000);
});

Deno.test("CircuitBreaker tolerates failures for a while", () => {
  const { time, breaker } = create({ toleranceMs: 500 });
  breaker.failed();
  assert.deepEqual([breaker.isFailing, breaker.isOpen, breaker.admits], [true, false, true]);
  time.now += 499;
  breaker.failed();
  assert.equal(breaker.admits, true);
  time.now += 1;
  breaker.failed();
  assert.deepEqual([breaker.isOpen, breaker.admits], [true, false]);
});

Deno.test("CircuitBreaker admits one trial at a time while half-open", () => {
  const { time, breaker } = create();
  assert.ok(breaker.begin());
  assert.ok(breaker.begin(), "while closed, every attempt is admitted");
  breaker.failed();
  assert.equal(breaker.begin(), undefined);
  time.now += 1_000;
  const end = breaker.begin();
  assert.ok(end);
  assert.equal(breaker.begin(), undefined, "the trial is under way");
  end();
  assert.ok(breaker.begin(), "it ended without a result");
});

Deno.test("CircuitBreaker admits another trial within its longest pause, after any sequence of results", () => {
  const steps = fc.array(
    fc.oneof(fc.constantFrom("fail", "succeed", "end"), fc.double({ min: 0, max: 20_000, noNaN: true })),
  );
  fc.assert(fc.property(steps, (steps) => {
    const { time, breaker } = create({ toleranceMs: 100 });
    let end: (() => void) | undefined;
    for (const step of steps) {
      if (typeof step === "number") time.now += step;
      else if (step === "fail") breaker.failed();
      else if (step === "succeed") breaker.succeeded();
      else {
        end?.();
        end = breaker.begin();
      }
    }
    end?.();
    time.now += 15_000;
    return breaker.admits;
  }));
});
