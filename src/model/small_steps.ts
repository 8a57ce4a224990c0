import { setImmediate } from "node:timers";

/** How long work in steps may hold the event loop at a time, in milliseconds. */
const STEP_MS = 8;

/**
 * Long work in small steps, so that requests are served meanwhile. To be asked after each piece of work:
 * `if (steps.isLong) await steps.rest();`
 */
export class SmallSteps {
  #restAt = performance.now() + STEP_MS;

  /** Whether this step has lasted long enough. */
  get isLong(): boolean {
    return performance.now() >= this.#restAt;
  }

  /** Lets all others have their turn. */
  async rest(): Promise<void> {
    await nextStep();
    this.#restAt = performance.now() + STEP_MS;
  }
}

/** Those who rest, in their order. */
const resting: (() => void)[] = [];

/**
 * One of those who rest goes on in each turn of the event loop: however many work at the same time, whoever else waits for
 * the loop waits for one step.
 */
function nextStep(): Promise<void> {
  return new Promise((resolve) => {
    resting.push(resolve);
    if (resting.length === 1) setImmediate(callNext);
  });
}

function callNext(): void {
  resting.shift()?.();
  if (resting.length > 0) setImmediate(callNext);
}

/** The lines of a text one after the other, without line feeds; no list of them is made. */
export function* linesOf(text: string): Generator<string, void> {
  for (let from = 0;;) {
    const end = text.indexOf("\n", from);
    if (end < 0) return yield text.slice(from);
    yield text.slice(from, end);
    from = end + 1;
  }
}
