/** The time, in milliseconds since the epoch. Handed in, so that tests can move it. */
export type Clock = () => number;

/**
 * Milliseconds since some moment of the past, for durations: goes on evenly, whatever becomes of the clock of the machine.
 * Handed in, so that tests can move it. Readings of one process's threads cannot be compared.
 */
export type Stopwatch = () => number;

/** The platform's. */
export const stopwatch: Stopwatch = () => performance.now();
