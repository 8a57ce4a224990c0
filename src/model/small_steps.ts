import { setImmediate } from "node:timers/promises";

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
    await setImmediate();
    this.#restAt = performance.now() + STEP_MS;
  }
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
