import { setImmediate } from "node:timers";

/** How long work in steps may hold the event loop at a time, in milliseconds. */
const STEP_MS = 8;

/**
 * Long work in small steps, so that requests are served meanwhile. To be asked after each piece of work:
 * `if (steps.isLong) await steps.rest();`
 */
export class TimeSlicer {
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

/**
 * Takes the lines of a file one after the other, in small steps: without their ends (`\n` or `\r\n`), and the first without
 * the byte order mark that some editors put before it.
 * @param take Told the number of each line, from 1 on.
 */
export async function eachLine(text: string, take: (line: string, number: number) => void): Promise<void> {
  const steps = new TimeSlicer();
  let number = 0;
  for (const line of linesOf(text.startsWith("\ufeff") ? text.slice(1) : text)) {
    if (steps.isLong) await steps.rest();
    take(line.endsWith("\r") ? line.slice(0, -1) : line, ++number);
  }
}

/** The lines of a text one after the other, without line feeds; no list of them is made. */
function* linesOf(text: string): Generator<string, void> {
  for (let from = 0;;) {
    const end = text.indexOf("\n", from);
    if (end < 0) return yield text.slice(from);
    yield text.slice(from, end);
    from = end + 1;
  }
}
