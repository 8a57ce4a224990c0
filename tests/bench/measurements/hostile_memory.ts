import { ask } from "../../system/ask.ts";
import { ALICE, type Site } from "../../system/running_service.ts";
import { createSharingSite, EVERYBODY } from "../../system/sharing/sharing_system.ts";
import { BASIC } from "../bench_site.ts";
import { ChildProcess } from "../child_process.ts";
import { engineFlags } from "../program.ts";
import type { Figure, Measurement } from "../figure.ts";
import { runWrk } from "../wrk.ts";

const CLIENTS = 500;
/** Entries of the listed directory. */
const ENTRIES = 5_000;
/** Bytes of the downloaded file, which is sparse. */
const FILE = 1024 ** 3;
/** Pause between two readings of the memory, in milliseconds. */
const LOOK_MS = 100;

/** Names of the figures, kinds of `hostile_clients.ts`, and paths to share for them. */
const KINDS: readonly (readonly [what: string, kind: string, shared?: string])[] = [
  ["headers without end", "headers"],
  ["bodies of uploads", "bodies", "list/"],
  ["bodies of requests for sessions", "small bodies"],
  ["requests without end", "requests"],
  ["listings", "answers", "list/"],
  ["downloads", "answers", "file"],
];

export const hostileMemory: Measurement = {
  name: "hostile-memory",
  summary: `Resident memory that ${CLIENTS} connections add that send as much as they can and read nothing`,
  note:
    "Above the most that the same service had while it was busy with good clients. Bodies are sent with a wrong password; answers are a listing of 5,000 entries and a large file, both shared with everybody.",
  async run() {
    const figures: Figure[] = [];
    for (const [what, kind, shared] of KINDS) {
      const target = { atMost: 100 };
      figures.push({ what: `added by ${what}`, value: await added(kind, shared), unit: "MiB", target });
    }
    return figures;
  },
};

async function fill(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/list`);
  for (let i = 0; i < ENTRIES; i++) {
    await Deno.writeTextFile(`${folder}/list/${String(i).padStart(5, "0")}-${"n".repeat(60)}`, "");
  }
  await Deno.writeTextFile(`${folder}/file`, "");
  await Deno.truncate(`${folder}/file`, FILE);
}

async function added(kind: string, shared: string | undefined): Promise<number> {
  await using site = await createSharingSite();
  await fill(`${site.data}/d`);
  const service = await ChildProcess.start(
    new URL("../../../main.ts", import.meta.url),
    ["serve", "--config", site.main],
    /service started .*port=(\d+)/,
    await engineFlags(),
  );
  await using process = service.process;
  const url = `https://localhost:${service.said}`;
  const path = shared === undefined ? "/" : await share(site, url, `${site.data}/d/${shared}`);
  // The initial growth of the engine's heap must not be measured.
  await runWrk({ url: `${url}/rest/auth`, connections: 32, seconds: 4, headers: { Authorization: BASIC } });
  const before = process.memory();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memory());
  }, LOOK_MS);
  try {
    const clients = await ChildProcess.start(
      new URL("../hostile_clients.ts", import.meta.url),
      [service.said, `${site.folder}/conf/ca.pem`, String(CLIENTS), kind, path],
      /open: (\d+)/,
    );
    await clients.process[Symbol.asyncDispose]();
  } finally {
    clearInterval(timer);
  }
  return Math.round((most - before) * 10) / 10;
}

/** Shares a path with everybody. @returns Path of its URL. */
async function share(site: Site, url: string, path: string): Promise<string> {
  const body = { path, user: EVERYBODY, access: path.endsWith("/") ? "WRITE" : "READ" };
  const made = await ask(`${url}/rest/share/HPC`, site.authority.certificate, { as: ALICE, body });
  const { pathname } = new URL(made.headers.location ?? "");
  return pathname.replace("/share/", "/access/");
}
