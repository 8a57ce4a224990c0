import { type Figure, type Measurement, median } from "../figure.ts";
import { SITES } from "../real_daemon.ts";
import {
  download,
  makeFile,
  type SharingBench,
  startBare,
  startSharingBench,
  type Transfer,
} from "../transfers.ts";

/** Bytes of the file: 2 GiB, sparse. */
const SIZE = 2 * 1024 ** 3;

/** Downloads of each side, in turn, so that a disturbance affects both. */
const ROUNDS = 5;

export const shareDownload: Measurement = {
  name: "share-download",
  summary:
    "2 GiB of a share over HTTPS, compared with a bare server that pipes the same bytes from the same daemon; also with a real UFTPD if UFTPD_CHECKOUT is set",
  async run() {
    const figures: Figure[] = [];
    for (const { at, make } of SITES) {
      await using service = await startSharingBench(make());
      figures.push(...(await against(service)).map((figure) => ({ ...figure, what: `${figure.what}${at}` })));
    }
    return figures;
  },
};

async function against(service: SharingBench): Promise<readonly Figure[]> {
  const path = `${service.site.data}/d/big`;
  await makeFile(path, SIZE);
  const yardstick = await startBare("./bare_download.ts", service, [path, SIZE]);
  await using bare = yardstick.process;
  const ours = service.process;
  const link = await service.share(path);
  await download(ours, link, SIZE); // compiles hot code of both sides
  await download(bare, yardstick.url, SIZE);
  const rounds: { readonly ours: Transfer; readonly bare: Transfer }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    rounds.push({
      ours: await download(ours, link, SIZE),
      bare: await download(bare, yardstick.url, SIZE),
    });
  }
  const figure = (what: string, unit: string, of: (round: typeof rounds[number]) => number): Figure => ({
    what,
    unit,
    value: median(rounds.map(of)),
  });
  return [
    {
      ...figure(
        "processor time, relative to the bare program",
        "×",
        (r) => (r.ours.cpu.total ?? NaN) / (r.bare.cpu.total ?? NaN),
      ),
      target: { atMost: 2 },
    },
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
    { what: "resident memory", value: ours.memory(), unit: "MiB" },
    { what: "resident memory, bare", value: bare.memory(), unit: "MiB" },
  ];
}
