/**
 * Runs a task once, after so many milliseconds. Handed in, so that tests can move time.
 * @returns Calls it off.
 */
export type Schedule = (ms: number, task: () => void) => () => void;

/** The timers of the platform. */
export const realTime: Schedule = (ms, task) => {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
};
