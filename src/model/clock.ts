/** The time, in milliseconds since the epoch. Handed in, so that tests can move it. */
export type Clock = () => number;
