/** Time in milliseconds since the epoch; injected, so that tests can move it. */
export type Clock = () => number;

/** Returns the current time in whole seconds since the epoch. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock() / 1000);
}

/** Latest time that a date can hold, in seconds since the epoch. */
export const LAST_SECOND = 8.64e12;

/** Formats milliseconds since the epoch (RFC 3339, UTC). */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

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

/** Reads the monotonic clock of the platform. */
export const stopwatch: Stopwatch = () => performance.now();

/** Clock that never jumps. Each thread has its own offset: send the current time along with readings. */
export const steadyClock: Clock = () => Math.floor(performance.timeOrigin + performance.now());

/** Runs a task once after some milliseconds; the returned function cancels it. Injected for tests. */
export type Schedule = (ms: number, task: () => void) => () => void;

/** Timers of the platform. */
export const realTime: Schedule = (ms, task) => {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
};

/** Timers that keep no process alive. */
const unrefTimeout: Schedule = (ms, task) => {
  const timer = setTimeout(task, Math.ceil(ms));
  Deno.unrefTimer(timer as unknown as number);
  return () => clearTimeout(timer);
};

/** Grids of {@link coalesceTimeouts}, in milliseconds. */
const GRIDS_MS = [1000, 500, 250];

/**
 * Returns timers for regular work. Whole seconds end on full seconds, quarters on quarters, early rather than late, so that
 * a thread wakes once for all: waking costs more than checking for work.
 */
export function coalesceTimeouts(schedule: Schedule, elapsed: Stopwatch): Schedule {
  const steps = new Map<number, { readonly tasks: Set<() => void>; readonly cancel: () => void }>();
  return (ms, task) => {
    const now = elapsed();
    const grid = GRIDS_MS.find((each) => ms > 0 && ms % each === 0);
    // Platforms may be early by a millisecond.
    const at = grid === undefined ? now + ms : Math.floor((now + ms + 1) / grid) * grid;
    const { tasks, cancel } = steps.getOrInsertComputed(at, () => {
      const tasks = new Set<() => void>();
      const run = () => {
        steps.delete(at);
        // Each in its own microtask, so that a failing task stops no other.
        for (const task of tasks) queueMicrotask(() => tasks.delete(task) && task());
      };
      return { tasks, cancel: schedule(at - now, run) };
    });
    const own = () => task(); // a task may wait more than once
    tasks.add(own);
    return () => {
      if (!tasks.delete(own) || tasks.size > 0) return;
      steps.delete(at);
      cancel();
    };
  };
}

/** Timers of this thread for regular work, which keep no process alive. */
export const coalescedTimeout = coalesceTimeouts(unrefTimeout, stopwatch);

/** Runs a task after each interval in milliseconds, see {@link coalescedTimeout}; the returned function stops that. */
export function coalescedInterval(ms: number, task: () => void): () => void {
  let cancel: () => void;
  const run = () => {
    cancel = coalescedTimeout(ms, run);
    task();
  };
  cancel = coalescedTimeout(ms, run);
  return () => cancel();
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses `90s`, `30m`, `12h` or `7d` to seconds; `undefined` if invalid or zero. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ""] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNITS[unit] ?? NaN);
  return seconds > 0 ? seconds : undefined;
}

/** Waits for a promise or the signal, whose reason it throws; a later result or error is ignored. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    const settled = <R>(settle: (result: R) => void) => (result: R) => {
      signal.removeEventListener("abort", abort);
      settle(result);
    };
    // Always handled: an unhandled rejection ends the process.
    promise.then(settled(resolve), settled(reject));
  });
}

/** Waits for a promise for some milliseconds at most. */
export async function within<T>(
  promise: Promise<T>,
  ms: number,
  schedule = realTime,
): Promise<T | undefined> {
  const { promise: overdue, resolve } = Promise.withResolvers<undefined>();
  const cancel = schedule(ms, () => resolve(undefined));
  return await Promise.race([promise, overdue]).finally(cancel);
}
