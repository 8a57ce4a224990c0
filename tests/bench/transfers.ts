import { ask } from "../system/ask.ts";
import { ALICE } from "../system/running_service.ts";
import { EVERYBODY } from "../system/sharing/sharing_system.ts";
import { ChildProcess } from "./child_process.ts";
import { engineFlags } from "./program.ts";
import { type SharingSite, simulatedSite } from "./real_daemon.ts";

const MIB = 1024 ** 2;

/** A service with data sharing, in a separate process. */
export interface SharingBench extends SharingSite {
  readonly process: ChildProcess;
  /** Shares a path with everybody. @returns Its link. */
  share(path: string, access?: "READ" | "WRITE"): Promise<string>;
}

/**
 * Starts a service in front of a site's daemon and disposes of both together; default: a simulated daemon.
 */
export async function startSharingBench(made = simulatedSite()): Promise<SharingBench> {
  const sharing = await made;
  const { site } = sharing;
  const { process, said } = await ChildProcess.start(
    new URL("../../main.ts", import.meta.url),
    ["serve", "--config", site.main],
    /service started .*port=(\d+)/,
    await engineFlags(),
  );
  return {
    ...sharing,
    process,
    async share(path, access = "READ") {
      const made = await ask(`https://localhost:${said}/rest/share/HPC`, site.authority.certificate, {
        as: ALICE,
        body: { path, user: EVERYBODY, access },
      });
      if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
      return (made.headers.location ?? "").replace("/share/", "/access/");
    },
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await sharing[Symbol.asyncDispose]();
    },
  };
}

/** Starts a yardstick: a script that carries bytes between HTTPS and a daemon. @returns It, with its URL. */
export async function startBare(
  script: string,
  { site, daemon }: SharingSite,
  words: readonly (string | number)[],
): Promise<{ readonly process: ChildProcess; readonly url: string }> {
  const { commandPort, listenPort, user } = daemon;
  const { process, said } = await ChildProcess.start(
    new URL(script, import.meta.url),
    [`${site.folder}/conf`, commandPort, listenPort, user, ...words].map(String),
    /listening on (\d+)/,
  );
  return { process, url: `https://127.0.0.1:${said}/` };
}

/** Creates a sparse file of zeros. */
export async function makeFile(path: string, bytes: number): Promise<void> {
  await Deno.writeFile(path, new Uint8Array());
  await Deno.truncate(path, bytes);
}

/** Result of a transfer. */
export interface Transfer {
  /** MiB of file content per second. */
  readonly rate: number;
  /** Milliseconds of processor time, by thread. */
  readonly cpu: Readonly<Record<string, number>>;
}

/** Arguments for curl to retry when a daemon of many clients is late; only where no rate is measured. */
export const PATIENT: readonly string[] = ["--retry", "10", "--retry-delay", "1"];

/**
 * Downloads from a link with curl and discards the content.
 * @param bytes Smallest size.
 * @throws If it is incomplete.
 */
export async function download(
  process: ChildProcess,
  link: string,
  bytes: number,
  words: readonly string[] = [],
): Promise<Transfer> {
  return await measured(process, bytes, async () => {
    const { status, downloaded, seconds } = await curl([...words, link]);
    if (status !== 200 || downloaded < bytes) throw new Error(`download: ${status}, ${downloaded} bytes`);
    return seconds;
  });
}

/** Uploads a file to a link with curl. @throws If the server does not accept it. */
export async function upload(
  process: ChildProcess,
  file: string,
  link: string,
  words: readonly string[] = [],
): Promise<Transfer> {
  const { size } = await Deno.stat(file);
  return await measured(process, size, async () => {
    const { status, uploaded, seconds } = await curl([...words, "-T", file, link]);
    if ((status !== 200 && status !== 201) || uploaded !== size) {
      throw new Error(`upload: ${status}, ${uploaded} bytes`);
    }
    return seconds;
  });
}

async function curl(words: readonly string[]) {
  const { success, stdout, stderr } = await new Deno.Command("curl", {
    args: [
      "-sSk",
      "-o",
      "/dev/null",
      "-w",
      "%{http_code} %{size_download} %{size_upload} %{time_total}",
      ...words,
    ],
  }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`curl: ${text.decode(stderr)}`);
  const [status = NaN, downloaded = NaN, uploaded = NaN, seconds = NaN] = text.decode(stdout).split(" ").map(
    Number,
  );
  return { status, downloaded, uploaded, seconds };
}

async function measured(
  process: ChildProcess,
  bytes: number,
  run: () => Promise<number>,
): Promise<Transfer> {
  const before = process.cpu();
  const seconds = await run();
  const after = Object.entries(process.cpu());
  return {
    rate: bytes / MIB / seconds,
    cpu: Object.fromEntries(after.map(([thread, used]) => [thread, used - (before[thread] ?? 0)])),
  };
}
