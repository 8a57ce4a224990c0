import assert from "node:assert/strict";
import { SingleFlight } from "../../src/model/single_flight.ts";

const NEVER = new AbortController().signal;

/** Returns flights whose answers the test supplies. */
function create() {
  const flights = new SingleFlight<string>();
  const asked: { question: string; signal: AbortSignal; answer: PromiseWithResolvers<string> }[] = [];
  const join = (question: string, signal = NEVER) =>
    flights.join(question, (signal) => {
      const answer = Promise.withResolvers<string>();
      asked.push({ question, signal, answer });
      return answer.promise;
    }, signal);
  return { asked, join };
}

Deno.test("SingleFlight sends one request for concurrent callers, and a new one afterwards", async () => {
  const { asked, join } = create();
  const all = [join("a"), join("a"), join("b")];
  assert.deepEqual(asked.map(({ question }) => question), ["a", "b"]);
  asked[0]?.answer.resolve("A");
  asked[1]?.answer.resolve("B");
  assert.deepEqual(await Promise.all(all), ["A", "A", "B"]);
  const again = join("a");
  asked[2]?.answer.resolve("A2");
  assert.equal(await again, "A2");
});

Deno.test("SingleFlight passes a failure to all waiting callers, but not to later ones", async () => {
  const { asked, join } = create();
  const all = [join("a"), join("a")];
  asked[0]?.answer.reject(new Error("down"));
  for (const one of all) await assert.rejects(one, /down/);
  const again = join("a");
  asked[1]?.answer.resolve("A");
  assert.equal(await again, "A");
});

Deno.test("SingleFlight continues when one caller aborts, and ends when the last one does", async () => {
  const { asked, join } = create();
  const [one, other] = [new AbortController(), new AbortController()];
  const [first, second] = [join("a", one.signal), join("a", other.signal)];
  one.abort(new Error("gone 1"));
  await assert.rejects(first, /gone 1/);
  assert.equal(asked[0]?.signal.aborted, false);
  other.abort(new Error("gone 2"));
  await assert.rejects(second, /gone 2/);
  assert.equal(asked[0]?.signal.aborted, true);
  // A later caller gets its own answer, not the failure of the abandoned request.
  const next = join("a");
  asked[0]?.answer.reject(new Error("given up"));
  asked[1]?.answer.resolve("A");
  assert.equal(await next, "A");
});

Deno.test("SingleFlight sends nothing for a caller that has already aborted", async () => {
  const { asked, join } = create();
  await assert.rejects(join("a", AbortSignal.abort(new Error("gone"))), /gone/);
  assert.equal(asked.length, 0);
});

Deno.test("SingleFlight ends pending and later requests when it closes", async () => {
  const closing = new AbortController();
  const flights = new SingleFlight<string>(closing.signal);
  const hang = (signal: AbortSignal) =>
    new Promise<string>((_resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const all = [flights.join("a", hang, NEVER), flights.join("b", hang, NEVER)];
  closing.abort(new Error("closing"));
  for (const one of [...all, flights.join("c", hang, NEVER)]) await assert.rejects(one, /closing/);
});
