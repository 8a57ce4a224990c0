/** Length of a clock tick of `/proc`, in milliseconds: every Linux in use has 100 a second. */
const MS_PER_TICK = 10;

/**
 * Returns the processor time in milliseconds that a process and all its children have used, including
 * children that ended and were waited for.
 */
export function cpuOfTree(pid: number): number {
  for (;;) {
    const [[, endedBefore] = [0, 0]] = treeOf(pid);
    let all = 0;
    for (const [used, ofEnded] of treeOf(pid)) all += used + ofEnded;
    const [[, endedAfter] = [0, 0]] = treeOf(pid);
    // A child that ended meanwhile would be missing: among the children, and in the time of ended ones.
    if (endedBefore === endedAfter) return all;
  }
}

function* treeOf(pid: number): Generator<readonly [used: number, ofEnded: number]> {
  try {
    const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
    const ms = (at: number) => Number(fields[at]) * MS_PER_TICK;
    yield [ms(11) + ms(12), ms(13) + ms(14)];
    const tasks = [...Deno.readDirSync(`/proc/${pid}/task`)].map(({ name }) => name);
    for (const task of tasks) {
      const children = Deno.readTextFileSync(`/proc/${pid}/task/${task}/children`).trim();
      for (const child of children.split(" ").filter((text) => text !== "")) yield* treeOf(Number(child));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
