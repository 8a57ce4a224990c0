import process from "node:process";

/** Returns the processor time of this thread for some work, in milliseconds, independently of other load. */
export async function processorTime(work: () => unknown): Promise<number> {
  const began = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1000;
}
