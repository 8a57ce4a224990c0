import { ChildProcess } from "../child_process.ts";
import type { Measurement } from "../figure.ts";
import { engineFlags } from "../program.ts";

export const reload: Measurement = {
  name: "reload",
  summary: "Reload of data files with 100,000 users in a running core",
  note:
    "Processor time of the longest piece of work, that of the collector of garbage in the same thread included. The time on the wall is longer where others want the processor, too.",
  async run() {
    const { process, said } = await ChildProcess.start(
      new URL("../reload_pieces.ts", import.meta.url),
      [],
      /pieces: (\{.*\})/,
      await engineFlags(),
    );
    await process[Symbol.asyncDispose]();
    const pieces: unknown = JSON.parse(said);
    return Object.entries(Object(pieces)).map(([file, ms]) => ({
      what: `longest uninterrupted piece of reading ${file}`,
      value: Number(ms),
      unit: "ms",
      target: { atMost: 100 },
    }));
  },
};
