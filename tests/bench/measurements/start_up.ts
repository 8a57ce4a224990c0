import { Agent } from "node:https";
import { packSelfExtracting } from "../../../bin/build/self_extracting.ts";
import { ask } from "../../system/ask.ts";
import { ALICE, createSite, type Site } from "../../system/running_service.ts";
import { type Figure, type Measurement, median } from "../figure.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const STARTS = 7;
const REQUESTS = 10_000;
const CONNECTIONS = 16;

export const startUp: Measurement = {
  name: "start-up",
  summary: "Start to the first answer with a password, and memory, from source and as the executable",
  async run() {
    const port = freePort();
    await using site = await createSite({ properties: { "container.port": String(port) } });
    const executable = `${site.folder}/authserver`;
    await compileTo(executable);
    const subjects = [
      new Subject("source", FROM_SOURCE, site, port),
      new Subject("executable", [executable], site, port),
    ];
    for (const subject of subjects) await subject.prepare();
    // In turn, so that whatever else the machine does meets all alike.
    for (let i = 0; i < STARTS; i++) for (const subject of subjects) await subject.start();
    const figures: Figure[] = [];
    for (const { name, versions, answers } of subjects) {
      figures.push(
        { what: `\`authserver version\`, ${name}`, value: median(versions), unit: "ms" },
        { what: `start to the first answer, ${name}`, value: median(answers), unit: "ms" },
      );
    }
    for (const subject of subjects) {
      const { idle, afterRequests } = await subject.memory();
      figures.push(
        { what: `memory, idle, ${subject.name}`, value: idle, unit: "MiB" },
        {
          what: `memory after ${REQUESTS.toLocaleString("en")} requests, ${subject.name}`,
          value: afterRequests,
          unit: "MiB",
        },
      );
    }
    const added = await addedByUnpacking(site);
    figures.push({
      what: "added to a start by the script of a self-extracting executable",
      value: added,
      unit: "ms",
      target: { atMost: 20 },
    });
    return figures;
  },
};

const FROM_SOURCE = [
  Deno.execPath(),
  "run",
  "--quiet",
  "--no-check",
  "--allow-read",
  "--allow-write",
  "--allow-net",
  "--allow-env",
  "--allow-sys=hostname",
  `--config=${ROOT}deno.json`,
  `${ROOT}main.ts`,
];

/** The service of one command in the folder of a site. */
class Subject {
  readonly versions: number[] = [];
  readonly answers: number[] = [];
  readonly #get: (agent?: Agent) => Promise<number>;

  constructor(readonly name: string, readonly command: readonly string[], readonly site: Site, port: number) {
    const url = `https://localhost:${port}/rest/auth`;
    this.#get = async (agent) => {
      const question = { as: ALICE, ...(agent && { agent }) };
      return (await ask(url, site.authority.certificate, question)).status;
    };
  }

  #run(...args: readonly string[]): Deno.ChildProcess {
    const [program = "", ...words] = this.command;
    const { folder } = this.site;
    return new Deno.Command(program, {
      args: [...words, ...args],
      cwd: folder,
      env: { HOME: folder, DENO_DIR: `${folder}/deno`, XDG_CACHE_HOME: `${folder}/cache` },
      stdout: "null",
      stderr: "null",
    }).spawn();
  }

  async #serve(): Promise<Deno.ChildProcess> {
    const service = this.#run("serve");
    for (;;) {
      try {
        if (await this.#get() === 200) return service;
      } catch {
        // It does not listen yet.
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Fills the caches that later starts have: of unpacked programs, of compiled code. */
  async prepare(): Promise<void> {
    await this.#run("version").status;
    await stop(await this.#serve());
  }

  async start(): Promise<void> {
    let began = performance.now();
    await this.#run("version").status;
    this.versions.push(performance.now() - began);
    began = performance.now();
    const service = await this.#serve();
    this.answers.push(performance.now() - began);
    await stop(service);
  }

  async memory(): Promise<{ idle: number; afterRequests: number }> {
    const service = await this.#serve();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const idle = await memory(service.pid);
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    let left = REQUESTS;
    await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) await this.#get(agent);
    }));
    agent.destroy();
    const afterRequests = await memory(service.pid);
    await stop(service);
    return { idle, afterRequests };
  }
}

async function stop(service: Deno.ChildProcess): Promise<void> {
  service.kill("SIGTERM");
  await service.status;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Resident memory of a process, MiB. */
async function memory(pid: number): Promise<number> {
  const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(await Deno.readTextFile(`/proc/${pid}/status`)) ?? [];
  return Number(kib) / 1024;
}

async function compileTo(output: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", `--config=${ROOT}deno.json`, "compile", "--output", output],
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`no executable:\n${new TextDecoder().decode(stderr)}`);
}

/** Milliseconds that the script at the head of a self-extracting file adds: the same with a runtime that does nothing. */
async function addedByUnpacking({ folder }: Site): Promise<number> {
  const file = `${folder}/nothing`;
  const nothing = packSelfExtracting({
    version: "0",
    target: "",
    runtime: await Deno.readFile("/bin/true"),
    program: new Map([["main.js", ""]]),
    flags: [],
  });
  await Deno.writeFile(file, nothing, { mode: 0o755 });
  const timeOf = async (program: string) => {
    const measured: number[] = [];
    for (let i = 0; i < 40; i++) {
      const began = performance.now();
      await new Deno.Command(program, { env: { XDG_CACHE_HOME: `${folder}/nothings` } }).output();
      measured.push(performance.now() - began);
    }
    return median(measured);
  };
  return await timeOf(file) - await timeOf("/bin/true");
}
