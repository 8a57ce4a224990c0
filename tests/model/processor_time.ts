import process from "node:process";

/** Milliseconds that this thread computes for some work, whatever else the machine does. */
export async function processorTime(work: () => unknown): Promise<number> {
  const began = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1000;
}
