import { type Figure, type Measurement, median } from "../figure.ts";
import { makeFile, startBare, startSharingBench, type Transfer, upload } from "../transfers.ts";

/** Bytes of the file: 1 GiB. */
const SIZE = 1024 ** 3;

/** Uploads of each side, in turn, so that a disturbance affects both. */
const ROUNDS = 3;

export const shareUpload: Measurement = {
  name: "share-upload",
  summary:
    "1 GiB uploaded to a share over HTTPS, compared with a bare server that pipes the same bytes to the same daemon",
  async run() {
    await using service = await startSharingBench();
    const { data, folder } = service.site;
    const source = `${folder}/source`;
    await makeFile(source, SIZE);
    const yardstick = await startBare("./bare_upload.ts", service, [`${data}/d/bare`]);
    await using bare = yardstick.process;
    const ours = service.process;
    const link = `${await service.share(`${data}/d/`, "WRITE")}/ours`;
    const rounds: { readonly ours: Transfer; readonly bare: Transfer }[] = [];
    for (let i = 0; i <= ROUNDS; i++) {
      const round = {
        ours: await upload(ours, source, link),
        bare: await upload(bare, source, yardstick.url),
      };
      if (i > 0) rounds.push(round); // the first round compiles hot code and creates the files
    }
    for (const name of ["ours", "bare"]) {
      const { size } = await Deno.stat(`${data}/d/${name}`);
      if (size !== SIZE) throw new Error(`${name} has ${size} bytes`);
    }
    const figure = (what: string, unit: string, of: (round: typeof rounds[number]) => number): Figure => ({
      what,
      unit,
      value: median(rounds.map(of)),
    });
    return [
      {
        ...figure("throughput, relative to the bare program", "×", (r) => r.ours.rate / r.bare.rate),
        target: { atLeast: 0.6 },
      },
      figure("throughput", "MiB/s", (r) => r.ours.rate),
      figure("throughput, bare", "MiB/s", (r) => r.bare.rate),
      figure("processor time", "ms", (r) => r.ours.cpu.total ?? NaN),
      figure("processor time, edge", "ms", (r) => r.ours.cpu["worker-1"] ?? NaN),
      figure("processor time, core", "ms", (r) => r.ours.cpu["worker-2"] ?? NaN),
      figure("processor time, bare", "ms", (r) => r.bare.cpu.total ?? NaN),
    ];
  },
};
