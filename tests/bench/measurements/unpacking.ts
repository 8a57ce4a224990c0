import { packSelfExtracting } from "../../../bin/build/self_extracting.ts";
import { type Measurement, median } from "../figure.ts";

const STARTS = 40;

export const unpacking: Measurement = {
  name: "unpacking",
  summary:
    "Time that the script at the head of a self-extracting executable adds to each start after the first",
  async run() {
    const folder = await Deno.makeTempDir({ prefix: "authserver-bench-" });
    try {
      // The program does nothing, so that the difference is the cost of the script.
      const file = `${folder}/nothing`;
      const nothing = packSelfExtracting({
        version: "0",
        target: "",
        runtime: await Deno.readFile("/bin/true"),
        program: new Map([["main.js", ""]]),
        flags: [],
      });
      await Deno.writeFile(file, nothing, { mode: 0o755 });
      const env = { XDG_CACHE_HOME: `${folder}/cache` };
      const timeOf = async (program: string) => {
        const began = performance.now();
        await new Deno.Command(program, { env }).output();
        return performance.now() - began;
      };
      await timeOf(file); // unpacks
      const added: number[] = [];
      for (let i = 0; i < STARTS; i++) added.push(await timeOf(file) - await timeOf("/bin/true"));
      return [{ what: "added to a start", value: median(added), unit: "ms", target: { atMost: 20 } }];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};
