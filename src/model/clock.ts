/** The time, in milliseconds since the epoch. Handed in, so that tests can move it. */
export type Clock = () => number;

/**
 * Milliseconds since some moment of the past, for durations: goes on evenly, whatever becomes of the clock of the machine.
 * Handed in, so that tests can move it. Readings of one process's threads cannot be compared.
 */
export type Stopwatch = () => number;

/** The platform's. */
export const stopwatch: Stopwatch = () => performance.now();

/**
 * Moments as a clock tells them that is right when the thread starts and goes on evenly from then on, whatever becomes of
 * that of the machine: for moments between which durations count, and which others are told of. Who hands them to another
 * thread says what the time is, since that one's may be another.
 */
export const steadyClock: Clock = () => Math.floor(performance.timeOrigin + performance.now());
