import { type Figure, type Measurement, median } from "../figure.ts";
import { download, makeFile, startSharingBench, type Transfer } from "../transfers.ts";

const FILES = 1000;
/** Bytes of each file, 1 GiB in all; the files are sparse. */
const SIZE = Math.ceil(1024 ** 3 / FILES);

/** Downloads of each kind, in turn, so that a disturbance affects both. */
const ROUNDS = 3;

export const zipStream: Measurement = {
  name: "zip-stream",
  summary:
    "1 GiB of a shared directory in 1,000 files as one .zip stream, compared with one file of that size",
  async run() {
    await using service = await startSharingBench();
    const { process, site: { data } } = service;
    await Deno.mkdir(`${data}/d/many`);
    for (let i = 0; i < FILES; i++) await makeFile(`${data}/d/many/${String(i).padStart(4, "0")}`, SIZE);
    await makeFile(`${data}/d/one`, FILES * SIZE);
    const many = `${await service.share(`${data}/d/many/`)}/?view=zip`;
    const one = await service.share(`${data}/d/one`);
    const rounds: { readonly many: Transfer; readonly one: Transfer }[] = [];
    for (let i = 0; i <= ROUNDS; i++) {
      const round = {
        many: await download(process, many, FILES * SIZE),
        one: await download(process, one, FILES * SIZE),
      };
      if (i > 0) rounds.push(round); // the first round compiles hot code
    }
    const figure = (what: string, unit: string, of: (round: typeof rounds[number]) => number): Figure => ({
      what,
      unit,
      value: median(rounds.map(of)),
    });
    return [
      {
        ...figure("throughput, relative to one file", "×", (r) => r.many.rate / r.one.rate),
        target: { atLeast: 0.6 },
      },
      figure("throughput", "MiB/s", (r) => r.many.rate),
      figure("throughput, one file", "MiB/s", (r) => r.one.rate),
      figure("processor time", "ms", (r) => r.many.cpu.total ?? NaN),
      figure("processor time, one file", "ms", (r) => r.one.cpu.total ?? NaN),
      { what: "resident memory", value: process.memory(), unit: "MiB" },
    ];
  },
};
