import { Agent } from "node:https";
import { until } from "../../fixtures/deadline.ts";
import { freePort } from "../../fixtures/free_port.ts";
import { ask } from "../../system/ask.ts";
import { ALICE, createSite, type Site } from "../../system/running_service.ts";
import { type Figure, type Measurement, median } from "../figure.ts";
import { atReferenceSpeed, slowness } from "../reference_machine.ts";
import { fromSource, makeExecutable, type Program } from "../program.ts";

/** Measured starts of each program; the figure is their median. */
const STARTS = 7;
/** Numbers of requests after which memory is measured; between the last two it must have levelled off. */
const MARKS = [20_000, 40_000];
const CONNECTIONS = 16;
/** Pause after the first answer, in milliseconds, in which the service collects the garbage of its start. */
const REST_MS = 40_000;
/** Pause after requests, in milliseconds, in which the engine returns memory that it no longer needs. */
const CALM_MS = 40_000;

export const footprint: Measurement = {
  name: "footprint",
  summary: "Start-up and memory, from source and of the executable, which the measurement builds",
  async run() {
    await using sites = new AsyncDisposableStack();
    const createSubject = async (program: (site: Site, port: number) => Program | Promise<Program>) => {
      const port = freePort();
      const site = sites.use(await createSite({ properties: { "container.port": String(port) } }));
      return new Subject(await program(site, port), site, port);
    };
    const bare = await createSubject(bareProgram);
    const subjects = [
      await createSubject(async () => serving(await fromSource())),
      await createSubject(async ({ folder }) => serving(await makeExecutable(folder))),
    ];
    for (const subject of [bare, ...subjects]) await subject.prepare();
    // In turn, so that other load on the machine affects all programs alike.
    for (let i = 0; i < STARTS; i++) for (const subject of [bare, ...subjects]) await subject.start();
    const bareMs = median(bare.starts);
    const figures: Figure[] = [{
      what: "start to first answer, bare Deno",
      value: bareMs,
      unit: "ms",
    }];
    const slower = await subjects[0]?.slowness() ?? NaN;
    // At once, since they rest most of the time.
    for (const found of await Promise.all(subjects.map((subject) => subject.figures(bareMs, slower)))) {
      figures.push(...found);
    }
    return figures;
  },
};

/** Program under measurement, in the folder of a site. */
class Subject {
  readonly #program: Program;
  readonly #site: Site;
  readonly #base: string;
  readonly #get: (agent?: Agent) => Promise<number>;
  readonly starts: number[] = [];

  constructor(program: Program, site: Site, port: number) {
    this.#program = program;
    this.#site = site;
    this.#base = `https://localhost:${port}`;
    this.#get = async (agent) =>
      (await ask(`${this.#base}/rest/auth`, site.authority.certificate, {
        as: ALICE,
        ...(agent && { agent }),
      })).status;
  }

  /** Starts the program once to fill the caches of later starts: the unpacked program, compiled code. */
  async prepare(): Promise<void> {
    await stop(await this.#serve());
  }

  async start(): Promise<void> {
    const began = performance.now();
    const service = await this.#serve();
    this.starts.push(performance.now() - began);
    await stop(service);
  }

  /** Measures this machine's speed by a bare server that copies the program's answer. */
  async slowness(): Promise<number> {
    const service = await this.#serve();
    try {
      return await slowness({ site: this.#site, url: this.#base });
    } finally {
      await stop(service);
    }
  }

  /** @param bareMs Start time of the bare program. @param slower See {@link slowness}. */
  async figures(bareMs: number, slower: number): Promise<Figure[]> {
    const { name } = this.#program;
    const isExecutable = name !== "source";
    const service = await this.#serve();
    try {
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      const idle = memory(service.pid);
      const anonymous = memory(service.pid, "RssAnon");
      const descriptors = descriptorsOf(service.pid);
      const loaded: number[] = [];
      let [done, busiest] = [0, 0];
      for (const mark of MARKS) {
        await this.#ask(mark - done);
        done = mark;
        busiest = Math.max(busiest, memory(service.pid));
        await new Promise((resolve) => setTimeout(resolve, CALM_MS));
        loaded.push(memory(service.pid));
      }
      const [before = NaN, last = NaN] = loaded.slice(-2);
      return [
        ...atReferenceSpeed({
          what: `start to first answer, ${name}`,
          value: median(this.starts),
          unit: "ms",
          target: { atMost: 250 },
        }, slower),
        {
          what: `start to first answer, relative to bare Deno, ${name}`,
          value: median(this.starts) / bareMs,
          unit: "×",
          target: { atMost: 9 },
        },
        {
          what: `memory, idle, ${name}`,
          value: idle,
          unit: "MiB",
          ...isExecutable && { target: { atMost: 100 } },
        },
        {
          what: `memory, idle, anonymous, ${name}`,
          value: anonymous,
          unit: "MiB",
          ...isExecutable && { target: { atMost: 50 } },
        },
        { what: `memory, busy, ${name}`, value: busiest, unit: "MiB" },
        ...MARKS.map((mark, i) => ({
          what: `memory, ${CALM_MS / 1000} s after ${mark.toLocaleString("en")} requests, ${name}`,
          value: loaded[i] ?? NaN,
          unit: "MiB",
          ...isExecutable && mark === MARKS.at(-1) && { target: { atMost: 150 } },
        })),
        {
          what: `growth of memory in the last ${(done / 2).toLocaleString("en")} requests, ${name}`,
          value: (last / before - 1) * 100,
          unit: "%",
          target: { atMost: 5 },
        },
        {
          what: `file descriptors left open after the requests, ${name}`,
          value: descriptorsOf(service.pid) - descriptors,
          unit: "",
          target: { atMost: 2 },
        },
      ];
    } finally {
      await stop(service);
    }
  }

  /** Sends requests with a password over persistent connections. */
  async #ask(requests: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    let left = requests;
    await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) {
        const status = await this.#get(agent);
        if (status !== 200) throw new Error(`answered with ${status}`);
      }
    }));
    agent.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100)); // the service closes its ends
  }

  /** Starts the program and waits for its first answer. */
  async #serve(): Promise<Deno.ChildProcess> {
    const [program = "", ...words] = this.#program.command;
    const { folder } = this.#site;
    const service = new Deno.Command(program, {
      args: words,
      cwd: folder,
      env: { HOME: folder, DENO_DIR: `${folder}/deno`, XDG_CACHE_HOME: `${folder}/cache` },
      stdout: "null",
      stderr: "null",
    }).spawn();
    let ended = false;
    void service.status.then(() => ended = true);
    const answers = async () => {
      if (ended) throw new Error(`${program} ended before it answered`);
      return await this.#get().catch(() => undefined) === 200;
    };
    // Growing pauses would round the start time up.
    await until(answers, { what: `${program} answers`, longestPauseMs: 5 });
    return service;
  }
}

function serving({ name, command }: Program): Program {
  return { name, command: [...command, "serve"] };
}

/** Returns a bare program: Deno, which serves the same address from a worker and does nothing else. */
function bareProgram({ folder }: Site, port: number): Program {
  const script = new URL("../bare_worker_server.ts", import.meta.url).pathname;
  const [certificate, key] = [`${folder}/conf/auth-cert.pem`, `${folder}/conf/auth-key.pem`];
  const flags = ["run", "--quiet", "--no-check", "--no-config", "--allow-net", "--allow-read"];
  return { name: "bare", command: [Deno.execPath(), ...flags, script, certificate, key, String(port)] };
}

async function stop(service: Deno.ChildProcess): Promise<void> {
  service.kill("SIGTERM");
  await service.status;
}

/** Returns the resident memory of a process in MiB. @param part Field of proc_pid_status(5). */
function memory(pid: number, part: "VmRSS" | "RssAnon" = "VmRSS"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${part}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
}

function descriptorsOf(pid: number): number {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
}
