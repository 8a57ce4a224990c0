import { setImmediate } from "node:timers";

const STEP_MS = 8;

/** Time slicing for long work: call `if (steps.isLong) await steps.rest();` after each piece. */
export class TimeSlicer {
  #restAt = performance.now() + STEP_MS;

  get isLong(): boolean {
    return performance.now() >= this.#restAt;
  }

  async rest(): Promise<void> {
    await nextStep();
    this.#restAt = performance.now() + STEP_MS;
  }
}

const resting: (() => void)[] = [];

/** Resumes one waiting task per turn of the event loop, so that other work waits for one slice at most. */
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

/** Reads lines in slices, without line ends or byte order mark; `take` gets each with its number, from 1. */
export async function eachLine(text: string, take: (line: string, number: number) => void): Promise<void> {
  const steps = new TimeSlicer();
  let number = 0;
  for (const line of linesOf(text.startsWith("\ufeff") ? text.slice(1) : text)) {
    if (steps.isLong) await steps.rest();
    take(line.endsWith("\r") ? line.slice(0, -1) : line, ++number);
  }
}

/** Yields the lines of a text without building a list. */
function* linesOf(text: string): Generator<string, void> {
  for (let from = 0;;) {
    const end = text.indexOf("\n", from);
    if (end < 0) return yield text.slice(from);
    yield text.slice(from, end);
    from = end + 1;
  }
}
