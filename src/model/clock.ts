/** Time in milliseconds since the epoch; injected, so that tests can move it. */
export type Clock = () => number;

declare const WHOLE: unique symbol;

/** Milliseconds without a fraction, as databases take them. */
export type WholeMs = number & { readonly [WHOLE]: true };

/** Rounds milliseconds. @throws {RangeError} For a value that is no number, or too large. */
export function wholeMs(ms: number): WholeMs {
  const rounded = Math.round(ms);
  if (!isWhole(rounded)) throw new RangeError(`${ms} are no milliseconds`);
  return rounded;
}

function isWhole(ms: number): ms is WholeMs {
  return Number.isSafeInteger(ms);
}

/** Monotonic milliseconds for durations. Readings of different threads cannot be compared. */
export type Stopwatch = () => number;

/** Monotonic clock of the platform. */
export const stopwatch: Stopwatch = () => performance.now();

/** Clock that never jumps. Each thread has its own offset: send the current time along with readings. */
export const steadyClock: Clock = () => Math.floor(performance.timeOrigin + performance.now());
