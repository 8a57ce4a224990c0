import { exchange } from "../../daemon_simulator/command_client.ts";
import { readAll, SessionClient } from "../../daemon_simulator/session_client.ts";
import { type Figure, type Measurement, median } from "../figure.ts";
import { SITES } from "../real_daemon.ts";
import { download, type SharingBench, startSharingBench } from "../transfers.ts";

/** Files uploaded in a round, each of {@link BYTES}, and concurrent uploads, as on the page. */
const UPLOADED = 200;
const AT_ONCE = 4;
const ARCHIVED = 5000;
/** Archived files that are also read one by one: a UFTPD needs 50 ms for each. */
const READ = 1000;
/** Rounds of uploads and STORs, in turn, so that a disturbance affects both. */
const ROUNDS = 9;
/** Rounds before, in which programs compile hot code. */
const WARM_UP = 2;
const BYTES = 1024;

export const smallFiles: Measurement = {
  name: "small-files",
  summary:
    "1,800 small uploads as the page sends them, and an archive of 5,000 small files, compared with one bare session to the same daemon; also with a real UFTPD if UFTPD_CHECKOUT is set",
  note:
    "The uploads have headers and bodies as the page sends them, over four kept connections, from a client that does little else: browsers run on machines of their own.",
  async run() {
    const figures: Figure[] = [];
    for (const { at, make } of SITES) {
      await using service = await startSharingBench(make());
      const found = await against(service, at === "" ? 0.3 : 0.25);
      figures.push(...found.map((figure) => ({ ...figure, what: `${figure.what}${at}` })));
    }
    return figures;
  },
};

/** @param promised Rate of uploads, relative to STOR. A UFTPD shares the cores with client and service. */
async function against(service: SharingBench, promised: number): Promise<readonly Figure[]> {
  const [up, bare, many] = [
    await service.makeDirectory("up"),
    await service.makeDirectory("bare"),
    await service.makeDirectory("many"),
  ];
  const content = "x".repeat(BYTES);
  for (let i = 0; i < ARCHIVED; i++) await Deno.writeTextFile(`${many}/${i}`, content);

  const session = await bareSession(service);
  const store = async (i: number) => {
    const socket = await session.openData();
    await session.command(`STOR ${bare}/${i}`);
    acknowledge(session);
    socket.end(content);
    await session.reply();
  };
  const link = await service.share(`${up}/`, "WRITE");
  const browser = new Browser(new URL(link), service.site.authority.certificate);
  const upload = (i: number) => browser.upload(`/${i}?upload=${String(i).padStart(20, "k")}`, content);
  const rounds: { readonly stored: number; readonly uploaded: number }[] = [];
  for (let i = 0; i < WARM_UP + ROUNDS; i++) {
    const range = { from: i * UPLOADED, to: (i + 1) * UPLOADED };
    rounds.push({ stored: await rate(range, 1, store), uploaded: await rate(range, AT_ONCE, upload) });
  }
  browser.close();

  const read = await rate({ from: 0, to: READ }, 1, async (i) => {
    const socket = await session.openData();
    await session.command(`RETR ${many}/${i}`);
    acknowledge(session);
    await readAll(socket);
    await session.reply();
  });
  session.close();
  const archive = `${await service.share(`${many}/`)}/?view=zip`;
  const { rate: mebibytes } = await download(service.process, archive, ARCHIVED * BYTES);
  const archived = mebibytes * 1024 ** 2 / BYTES;
  const of = (pick: (round: typeof rounds[number]) => number) => median(rounds.slice(WARM_UP).map(pick));
  return [
    {
      what: "uploads, relative to STOR on one session",
      value: of(({ uploaded, stored }) => uploaded / stored),
      unit: "×",
      target: { atLeast: promised },
    },
    {
      what: "archive, relative to RETR on one session",
      value: archived / read,
      unit: "×",
      target: { atLeast: 0.5 },
    },
    { what: "uploads", value: of(({ uploaded }) => uploaded), unit: "files/s" },
    { what: "STOR on one session", value: of(({ stored }) => stored), unit: "files/s" },
    { what: "archive", value: archived, unit: "files/s" },
    { what: "RETR on one session", value: read, unit: "files/s" },
  ];
}

/** Runs a task for each number of a range, several at once. @returns Tasks per second. */
async function rate(
  { from, to }: { readonly from: number; readonly to: number },
  atOnce: number,
  task: (i: number) => Promise<void>,
): Promise<number> {
  let next = from;
  const start = performance.now();
  const worker = async () => {
    for (let i = next++; i < to; i = next++) await task(i);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (to - from) * 1000 / (performance.now() - start);
}

/** Sends an empty line, as the service does: without it, a UFTPD waits 40 ms for an ACK before its next line. */
function acknowledge({ socket }: SessionClient): void {
  socket.write("\n");
}

async function bareSession({ site, daemon }: SharingBench): Promise<SessionClient> {
  const [certificate = "", key = "", trusted = ""] = ["auth-cert", "auth-key", "ca"].map((name) =>
    Deno.readTextFileSync(`${site.folder}/conf/${name}.pem`)
  );
  const { commandPort, listenPort, user } = daemon;
  await exchange(
    { port: commandPort, credential: { certificate, key }, trusted },
    `request-type=uftp-transfer-request\nclient-ip=127.0.0.1\nuser=${user}\nsecret=small-files-bench\nfile=/\nEND\n`,
  );
  const session = await SessionClient.connect(listenPort);
  await session.logIn("small-files-bench");
  return session;
}

/**
 * Connections that send files as `upload.js` does. They do without `node:https`, which needs as much
 * processor time as the edge: browsers run on machines of their own.
 */
class Browser {
  readonly #idle: Deno.TlsConn[] = [];

  constructor(readonly url: URL, readonly trusted: string) {}

  /** Sends a file below the URL and waits. @throws Unless the answer is 201 with the digest. */
  async upload(path: string, content: string): Promise<void> {
    const { host, pathname } = this.url;
    const connection = this.#idle.pop() ?? await this.#connect();
    const head = [
      `PUT ${pathname}${path} HTTP/1.1`,
      `Host: ${host}`,
      "Connection: keep-alive",
      `Content-Length: ${content.length}`,
      `Content-Range: bytes 0-${content.length - 1}/${content.length}`,
      "If-None-Match: *",
      "Want-Repr-Digest: sha-256=10",
    ];
    // Like browsers, which read a file only after they sent the head.
    for (const part of [`${head.join("\r\n")}\r\n\r\n`, content]) {
      const bytes = new TextEncoder().encode(part);
      for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
    }
    const answer = await this.#read(connection);
    if (!/^HTTP\/1.1 201 [^]*\r\nrepr-digest: sha-256=:[^]*\r\ncontent-length: 0\r\n/i.test(answer)) {
      throw new Error(`upload: ${answer}`);
    }
    this.#idle.push(connection);
  }

  /** Opens a connection that sends small pieces at once, as browsers do. */
  async #connect(): Promise<Deno.TlsConn> {
    const { hostname, port } = this.url;
    const connection = await Deno.connect({ hostname, port: Number(port) });
    connection.setNoDelay();
    return await Deno.startTls(connection, { hostname, caCerts: [this.trusted] });
  }

  close(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  /** Reads the head of an answer without a body. */
  async #read(connection: Deno.TlsConn): Promise<string> {
    const into = new Uint8Array(16 * 1024);
    for (let length = 0, text = "";;) {
      const count = await connection.read(into.subarray(length));
      if (count === null) throw new Error(`upload: the connection ended after ${text}`);
      text = new TextDecoder().decode(into.subarray(0, length += count));
      if (text.endsWith("\r\n\r\n")) return text;
    }
  }
}
