import { createSharingSite, EVERYBODY } from "../../system/sharing/sharing_system.ts";
import { ask } from "../../system/ask.ts";
import { ALICE } from "../../system/running_service.ts";
import { ChildProcess } from "../child_process.ts";
import { engineFlags } from "../program.ts";
import { type Figure, type Measurement, median } from "../figure.ts";

/** Bytes of the file: 1 GiB, sparse. */
const SIZE = 1024 ** 3;
const MIB = 1024 ** 2;

/** Downloads on each side, in turn, so that a disturbance meets both. */
const ROUNDS = 3;

export const shareDownload: Measurement = {
  name: "share-download",
  summary:
    "1 GiB of a share over HTTPS, against a bare server that pipes the same from the same daemon; needs curl",
  async run() {
    await using site = await createSharingSite();
    const path = `${site.data}/d/big`;
    await Deno.writeFile(path, new Uint8Array());
    await Deno.truncate(path, SIZE);
    const daemon = site.daemon();
    const service = await ChildProcess.start(
      new URL("../../../main.ts", import.meta.url),
      ["serve", "--config", site.main],
      /service started .*port=(\d+)/,
      await engineFlags(),
    );
    await using ours = service.process;
    const bareServer = await ChildProcess.start(
      new URL("../bare_download.ts", import.meta.url),
      [`${site.folder}/conf`, daemon.commandPort, daemon.listenPort, path, SIZE].map(String),
      /listening on (\d+)/,
    );
    await using bare = bareServer.process;
    const origin = `https://localhost:${service.said}`;
    const shared = await ask(`${origin}/rest/share/HPC`, site.authority.certificate, {
      as: ALICE,
      body: { path, user: EVERYBODY },
    });
    const link = (shared.headers.location ?? "").replace("/share/", "/access/");
    const bareLink = `https://127.0.0.1:${bareServer.said}/`;
    await download(ours, link); // both are compiled by then
    await download(bare, bareLink);
    const rounds: { readonly ours: Download; readonly bare: Download }[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      rounds.push({ ours: await download(ours, link), bare: await download(bare, bareLink) });
    }
    const figure = (what: string, unit: string, of: (round: typeof rounds[number]) => number): Figure => ({
      what,
      unit,
      value: median(rounds.map(of)),
    });
    return [
      {
        ...figure(
          "processor time, of the bare one's",
          "×",
          (r) => (r.ours.cpu.total ?? NaN) / (r.bare.cpu.total ?? NaN),
        ),
        target: { atMost: 2 },
      },
      figure("throughput, of the bare one's", "×", (r) => r.ours.rate / r.bare.rate),
      figure("throughput", "MiB/s", (r) => r.ours.rate),
      figure("throughput, bare", "MiB/s", (r) => r.bare.rate),
      figure("processor time", "ms", (r) => r.ours.cpu.total ?? NaN),
      figure("processor time, edge", "ms", (r) => r.ours.cpu["worker-1"] ?? NaN),
      figure("processor time, core", "ms", (r) => r.ours.cpu["worker-2"] ?? NaN),
      figure("processor time, bare", "ms", (r) => r.bare.cpu.total ?? NaN),
      { what: "resident memory", value: ours.memory(), unit: "MiB" },
      { what: "resident memory, bare", value: bare.memory(), unit: "MiB" },
    ];
  },
};

interface Download {
  /** MiB a second. */
  readonly rate: number;
  /** Milliseconds of processor time, by thread. */
  readonly cpu: Readonly<Record<string, number>>;
}

/** Gets everything with curl and throws it away. @throws If it is not whole. */
async function download(process: ChildProcess, link: string): Promise<Download> {
  const before = process.cpu();
  const { stdout, stderr } = await new Deno.Command("curl", {
    args: ["-sSk", "-o", "/dev/null", "-w", "%{http_code} %{size_download} %{time_total}", link],
  }).output();
  const text = new TextDecoder();
  const [status, size, seconds] = text.decode(stdout).split(" ").map(Number);
  if (status !== 200 || size !== SIZE || seconds === undefined) {
    throw new Error(`download failed: ${text.decode(stdout)} ${text.decode(stderr)}`);
  }
  const after = Object.entries(process.cpu());
  return {
    rate: SIZE / MIB / seconds,
    cpu: Object.fromEntries(after.map(([thread, used]) => [thread, used - (before[thread] ?? 0)])),
  };
}
