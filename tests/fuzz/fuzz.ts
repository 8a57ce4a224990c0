import assert from "node:assert/strict";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import type { ErrorCode } from "../../src/model/errors.ts";
import { HttpError, isHttpError } from "../../src/model/http_error.ts";
import { LONG, note } from "../long/results.ts";
import { checkGrowth, type Growth } from "./growth.ts";

/** Number of cases for each parser. */
const CASES = LONG ? 1_000_000 : 1000;

/** Full stack traces of all errors would take longer than the parsers; fast-check shows the case anyway. */
Error.stackTraceLimit = 2;

type ErrorClass = abstract new (...parameters: never[]) => Error;

/** Parser under test and its inputs. */
export interface Parser<Input> {
  readonly name: string;
  readonly input: fc.Arbitrary<Input>;
  readonly parse: (input: Input) => unknown;
  /** The only errors that it may throw. */
  readonly throws?: readonly (ErrorClass | ErrorCode)[];
  /** Cost of one case compared with other parsers; divides the number of cases. */
  readonly cost?: number;
  /** Longest input that may arrive, and its worst contents. */
  readonly growth: Growth<Input>;
}

/** Longest duration of one case, in milliseconds. */
const LONGEST_MS = 1000;
/** Bytes by which memory may grow after a quarter of the cases; compiled code takes some of them. */
const GROWTH = 4 * 1024 * 1024;

setFlagsFromString("--expose-gc");
/** Collects all garbage: V8's `gc` if the runner exposes it, else that of a new context. */
const collect: unknown = Reflect.get(globalThis, "gc") ?? runInNewContext("gc");

/** Collects all garbage and returns the memory in use, in bytes. */
function memoryInUse(): number {
  if (typeof collect !== "function") throw new TypeError("garbage cannot be collected");
  collect();
  return process.memoryUsage().heapUsed;
}

/** Parses once. */
async function attempt<Input>({ parse, throws = [] }: Parser<Input>, input: Input) {
  const began = performance.now();
  let refused = false;
  try {
    const result = parse(input);
    if (result instanceof Promise) await result;
  } catch (error) {
    assert(
      throws.some((kind) => typeof kind === "string" ? isHttpError(error, kind) : error instanceof kind),
      `${error instanceof Error ? error.stack : error}`,
    );
    assert(!(error instanceof HttpError) || error.status !== 500, "what comes in is no fault of ours");
    refused = true;
  }
  return { refused, ms: performance.now() - began };
}

/**
 * Registers a test that gives a parser nearly correct inputs. The parser must return or throw one of its
 * errors within a second, and change no prototype. A second, long test checks how its time grows with length.
 */
export function fuzz<Input>(parser: Parser<Input>): void {
  const { name, input, throws = [], growth, parse, cost = 1 } = parser;
  const most = Math.max(100, Math.round(CASES / cost));
  Deno.test(`${name} reads or refuses any input`, async () => {
    let [cases, refusals, longest] = [0, 0, 0];
    const inUse: number[] = [];
    const started = performance.now();
    const property = fc.asyncProperty(input, async (value) => {
      const { refused, ms } = await attempt(parser, value);
      if (refused) refusals++;
      if (ms > longest) {
        // Times it again: a busy machine may have delayed it, and code is slow the first time.
        const again = await attempt(parser, value);
        longest = Math.max(longest, Math.min(ms, again.ms));
        assert(longest < LONGEST_MS, `took ${longest} ms`);
      }
      if (++cases === Math.ceil(most / 4) || cases === most) inUse.push(memoryInUse());
    });
    await fc.assert(property, { numRuns: most });
    assert.equal(
      Reflect.ownKeys({}).length + Object.keys(Object.prototype).length,
      0,
      "a prototype was changed",
    );
    if (throws.length > 0) assert(refusals > 0, "nothing was spoiled enough to be refused");
    assert(refusals < most, "everything was spoiled so much that it was refused");
    const [early = NaN, late = NaN] = inUse;
    assert(late - early < GROWTH, `memory in use grew by ${late - early} bytes`);
    note("parsers", {
      parser: name,
      cases,
      refused: throws.length > 0 ? refusals : undefined,
      longestMs: longest,
      growth: late - early,
      seconds: Math.round((performance.now() - started) / 1000),
    });
  });
  Deno.test({
    name: `${name} takes no more than 2.6 times as long for twice the text`,
    ignore: !LONG,
    fn: () => checkGrowth(growth, parse),
  });
}
