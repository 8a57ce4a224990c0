import assert from "node:assert/strict";
import process from "node:process";
import fc from "fast-check";
import { ServiceError } from "../../src/model/service_error.ts";

/** Whether this is the long run. */
const LONG = Deno.env.get("AUTHSERVER_LONG_TESTS") !== undefined;
/** How many cases each parser gets. */
const CASES = LONG ? 1_000_000 : 10_000;

/** Traces of so many errors would take longer than the parsers; fast-check shows the case all the same. */
Error.stackTraceLimit = 2;

type ErrorClass = abstract new (...parameters: never[]) => Error;

/** What is to be tried with what. */
export interface Parser<Input> {
  readonly name: string;
  readonly input: fc.Arbitrary<Input>;
  readonly parse: (input: Input) => unknown;
  /** What it may throw; nothing else. */
  readonly throws?: readonly ErrorClass[];
}

/** Milliseconds of processor time; a busy machine may let us wait for longer. */
const LONGEST_MS = 1000;
/**
 * Bytes by which the least memory in use during the last quarter of the cases may exceed that of the second. Only the long
 * run tells: the engine does not look for garbage that often.
 */
const GROWTH = 16 * 1024 * 1024;

/** What it came to, by the name of the parser; shown at the end of the long run. */
const table: Record<string, Record<string, number>> = {};
if (LONG) Deno.test.afterAll(() => console.table(table));

/**
 * Registers a test of a parser with texts that are nearly right. Each must give a result or an error that it promises,
 * within a second, and leave everything as it was.
 */
export function fuzz<Input>({ name, input, parse, throws = [] }: Parser<Input>): void {
  Deno.test(`${name} reads or refuses whatever comes`, async () => {
    let [cases, refused, longest] = [0, 0, 0];
    const least = [Infinity, Infinity, Infinity, Infinity, Infinity];
    const started = performance.now();
    const property = fc.asyncProperty(input, async (value) => {
      const began = process.cpuUsage();
      try {
        const result = parse(value);
        if (result instanceof Promise) await result;
      } catch (error) {
        assert(
          throws.some((kind) => error instanceof kind),
          `${error instanceof Error ? error.stack : error}`,
        );
        assert(!(error instanceof ServiceError) || error.status !== 500, "what comes in is no fault of ours");
        refused++;
      }
      const { user, system } = process.cpuUsage(began);
      longest = Math.max(longest, (user + system) / 1000);
      assert(longest < LONGEST_MS, `took ${longest} ms`);
      if (++cases % 100 === 0) {
        const quarter = Math.floor(cases * 4 / CASES);
        least[quarter] = Math.min(least[quarter] ?? Infinity, process.memoryUsage().heapUsed);
      }
    });
    await fc.assert(property, { numRuns: CASES });
    assert.equal(
      Reflect.ownKeys({}).length + Object.keys(Object.prototype).length,
      0,
      "a prototype was changed",
    );
    if (throws.length > 0) assert(refused > 0, "nothing was spoiled enough to be refused");
    const growth = (least[3] ?? NaN) - (least[1] ?? NaN);
    assert(!LONG || growth < GROWTH, `memory in use grew by ${growth} bytes`);
    table[name] = {
      "cases": cases,
      "refused": refused,
      "longest, ms": Math.round(longest),
      "seconds": Math.round((performance.now() - started) / 1000),
    };
  });
}
