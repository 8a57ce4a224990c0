import type { Measurement } from "../figure.ts";
import { download, makeFile, PATIENT, startSharingBench, upload } from "../transfers.ts";

/** Number of concurrent archives, and of concurrent uploads. */
const EACH = 20;
/** Files of an archive, and bytes of each of them. */
const FILES = 128;
const SIZE = 1024 ** 2;
/** Rounds of single transfers, enough to run all code: the garbage of more would hide the added memory. */
const WARM_UP = 3;
/** Pause between two readings of the memory, in milliseconds. */
const LOOK_MS = 50;

export const transferMemory: Measurement = {
  name: "transfer-memory",
  summary: `Resident memory that ${EACH} .zip streams and ${EACH} uploads at once add`,
  note:
    "Each of 128 MiB, an archive in 128 files. Above the most that the same service had while one archive, one file and one upload of the same size went through, one after the other.",
  async run() {
    await using service = await startSharingBench();
    const { process, site: { data, folder } } = service;
    await Deno.mkdir(`${data}/d/many`);
    for (let i = 0; i < FILES; i++) await makeFile(`${data}/d/many/${i}`, SIZE);
    await makeFile(`${folder}/source`, FILES * SIZE);
    const many = `${await service.share(`${data}/d/many/`)}/?view=zip`;
    const incoming = await service.share(`${data}/d/`, "WRITE");
    const atRest = process.memory();
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memory());
    }, LOOK_MS);
    try {
      for (let i = 0; i < WARM_UP; i++) {
        await download(process, many, FILES * SIZE);
        await upload(process, `${folder}/source`, `${incoming}/0`);
        await download(process, `${incoming}/0`, FILES * SIZE);
      }
      const before = most;
      await Promise.all(Array.from({ length: EACH }, async (_, i) => {
        await Promise.all([
          download(process, many, FILES * SIZE, PATIENT),
          upload(process, `${folder}/source`, `${incoming}/${i}`, PATIENT),
        ]);
      }));
      return [
        {
          what: `added by ${EACH} of each at once`,
          value: Math.round((most - before) * 10) / 10,
          unit: "MiB",
          target: { atMost: 64 },
        },
        { what: "resident memory, before any transfer", value: atRest, unit: "MiB" },
        { what: "resident memory, one at a time", value: before, unit: "MiB" },
        { what: "resident memory, all at once", value: most, unit: "MiB" },
      ];
    } finally {
      clearInterval(timer);
    }
  },
};
