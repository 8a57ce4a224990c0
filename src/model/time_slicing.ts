import { setImmediate } from "node:timers";

const SLICE_MS = 8;

/** Time slicing for long work: call `if (steps.shouldYield) await steps.yield();` after each piece. */
export class TimeSlicer {
  #yieldAt = performance.now() + SLICE_MS;

  get shouldYield(): boolean {
    return performance.now() >= this.#yieldAt;
  }

  async yield(): Promise<void> {
    await nextSlice();
    this.#yieldAt = performance.now() + SLICE_MS;
  }
}

const waiting: (() => void)[] = [];

/** Resumes one waiting task per turn of the event loop, so that other work waits for one slice at most. */
function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(callNext);
  });
}

function callNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(callNext);
}

/** Reads lines in slices, without line ends or byte order mark; `take` gets each with its number, from 1. */
export async function eachLine(text: string, take: (line: string, number: number) => void): Promise<void> {
  const steps = new TimeSlicer();
  let number = 0;
  for (const line of linesOf(text.startsWith("\ufeff") ? text.slice(1) : text)) {
    if (steps.shouldYield) await steps.yield();
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
