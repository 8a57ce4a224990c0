import { Agent, request } from "node:https";
import { once } from "node:events";
import { exchange } from "../../daemon_simulator/command_client.ts";
import { readAll, SessionClient } from "../../daemon_simulator/session_client.ts";
import type { Figure, Measurement } from "../figure.ts";
import { download, type SharingBench, startSharingBench } from "../transfers.ts";

/** Files that are uploaded, each of {@link BYTES}, as many at once as the page sends. */
const UPLOADED = 1000;
const AT_ONCE = 4;
const ARCHIVED = 5000;
const BYTES = 1024;

export const smallFiles: Measurement = {
  name: "small-files",
  summary:
    "1,000 small uploads as the page sends them, and an archive of 5,000 small files, against one bare session to the same daemon; needs curl",
  async run() {
    await using service = await startSharingBench();
    const { data } = service.site;
    for (const folder of ["up", "bare", "many"]) await Deno.mkdir(`${data}/d/${folder}`);
    const content = "x".repeat(BYTES);
    for (let i = 0; i < ARCHIVED; i++) await Deno.writeTextFile(`${data}/d/many/${i}`, content);

    const session = await bareSession(service);
    const stored = await rate(UPLOADED, async (i) => {
      const socket = await session.openData();
      await session.command(`STOR ${data}/d/bare/${i}`);
      socket.end(content);
      await session.reply();
    });
    const link = await service.share(`${data}/d/up/`, "WRITE");
    const uploaded = await uploads(link, content);

    const read = await rate(ARCHIVED, async (i) => {
      const socket = await session.openData();
      await session.command(`RETR ${data}/d/many/${i}`);
      await readAll(socket);
      await session.reply();
    });
    session.close();
    const many = await service.share(`${data}/d/many/`);
    const { rate: mebibytes } = await download(service.process, `${many}/?view=zip`, ARCHIVED * BYTES);
    const archived = mebibytes * 1024 ** 2 / BYTES;
    const figures: Figure[] = [
      {
        what: "uploads, of STORs on one session",
        value: uploaded / stored,
        unit: "×",
        target: { atLeast: 0.3 },
      },
      {
        what: "archive, of RETRs on one session",
        value: archived / read,
        unit: "×",
        target: { atLeast: 0.5 },
      },
      { what: "uploads", value: uploaded, unit: "files/s" },
      { what: "STORs on one session", value: stored, unit: "files/s" },
      { what: "archive", value: archived, unit: "files/s" },
      { what: "RETRs on one session", value: read, unit: "files/s" },
    ];
    return figures;
  },
};

/** Times a task one after the other. @returns Tasks per second. */
async function rate(count: number, task: (i: number) => Promise<void>): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < count; i++) await task(i);
  return count * 1000 / (performance.now() - start);
}

async function bareSession({ site }: SharingBench): Promise<SessionClient> {
  const [certificate = "", key = "", trusted = ""] = ["auth-cert", "auth-key", "ca"].map((name) =>
    Deno.readTextFileSync(`${site.folder}/conf/${name}.pem`)
  );
  const { commandPort, listenPort } = site.daemon();
  await exchange(
    { port: commandPort, credential: { certificate, key }, trusted },
    "request-type=uftp-transfer-request\nclient-ip=127.0.0.1\nuser=alice\nsecret=small-files-bench\nfile=/\nEND\n",
  );
  const session = await SessionClient.connect(listenPort);
  await session.logIn("small-files-bench");
  return session;
}

/** Sends files as `upload.js` does. @returns Files per second. */
async function uploads(link: string, content: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE, rejectUnauthorized: false });
  let next = 0;
  const start = performance.now();
  const worker = async () => {
    for (let i = next++; i < UPLOADED; i = next++) {
      const key = String(i).padStart(20, "k");
      const sent = request(`${link}/${i}?upload=${key}`, {
        method: "PUT",
        agent,
        headers: {
          "Content-Length": content.length,
          "Content-Range": `bytes 0-${content.length - 1}/${content.length}`,
          "If-None-Match": "*",
          "Want-Repr-Digest": "sha-256=10",
        },
      });
      sent.end(content);
      const [answer] = await once(sent, "response");
      answer.resume();
      await once(answer, "end");
      if (answer.statusCode !== 201) throw new Error(`upload: ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  agent.destroy();
  return UPLOADED * 1000 / (performance.now() - start);
}
