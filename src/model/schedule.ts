/** Runs a task once after some milliseconds; the returned function cancels it. Injected for tests. */
export type Schedule = (ms: number, task: () => void) => () => void;

/** Timers of the platform. */
export const realTime: Schedule = (ms, task) => {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
};
