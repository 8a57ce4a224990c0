/** Time in milliseconds since the epoch; injected, so that tests can move it. */
export type Clock = () => number;

/** Monotonic milliseconds for durations. Readings of different threads cannot be compared. */
export type Stopwatch = () => number;

/** Monotonic clock of the platform. */
export const stopwatch: Stopwatch = () => performance.now();

/** Clock that never jumps. Each thread has its own offset: send the current time along with readings. */
export const steadyClock: Clock = () => Math.floor(performance.timeOrigin + performance.now());
