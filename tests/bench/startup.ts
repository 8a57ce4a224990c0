/**
 * Start-up and memory of the service, from source and as the executable: `deno task bench:startup [EXECUTABLE]`, default
 * `dist/authserver`. Time from the start of the process to the first answer, and resident memory from `/proc`.
 */
import { Agent } from "node:https";
import { ask } from "../system/ask.ts";
import { ALICE, createSite, type Site } from "../system/running_service.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const STARTS = 7;
const REQUESTS = 10_000;
const CONNECTIONS = 16;

interface Figures {
  /** Milliseconds. */
  readonly version: number;
  readonly firstAnswer: number;
  /** MiB. */
  readonly idle: number;
  readonly afterRequests: number;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
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

/** @param command Words before those of the service. */
async function measure(command: readonly string[], site: Site, port: number): Promise<Figures> {
  const [program = "", ...words] = command;
  const run = (...args: readonly string[]) =>
    new Deno.Command(program, {
      args: [...words, ...args],
      cwd: site.folder,
      env: { HOME: site.folder, DENO_DIR: `${site.folder}/deno`, XDG_CACHE_HOME: `${site.folder}/cache` },
      stdout: "null",
      stderr: "null",
    }).spawn();
  const question = { as: ALICE };
  const get = (agent?: Agent) =>
    ask(`https://localhost:${port}/rest/auth`, site.authority.certificate, {
      ...question,
      ...(agent && { agent }),
    });

  await run("version").status; // unpacks, or fills the compiler's cache
  const versions: number[] = [];
  const answers: number[] = [];
  let idle = 0;
  let afterRequests = 0;
  for (let i = 0; i < STARTS; i++) {
    let began = performance.now();
    await run("version").status;
    versions.push(performance.now() - began);

    began = performance.now();
    const service = run("serve");
    for (;;) {
      try {
        await get();
        break;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 2)); // does not listen yet
      }
    }
    answers.push(performance.now() - began);
    if (i === STARTS - 1) {
      await new Promise((resolve) => setTimeout(resolve, 3000));
      idle = await memory(service.pid);
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
      let left = REQUESTS;
      await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
        while (left-- > 0) await get(agent);
      }));
      agent.destroy();
      afterRequests = await memory(service.pid);
    }
    service.kill("SIGTERM");
    await service.status;
  }
  return { version: median(versions), firstAnswer: median(answers), idle, afterRequests };
}

const [executable = `${ROOT}dist/authserver`] = Deno.args;
const port = freePort();
await using site = await createSite({ properties: { "container.port": String(port) } });
const source = [
  Deno.execPath(),
  "run",
  "--quiet",
  "--no-check",
  "-P=service",
  `--config=${ROOT}deno.json`,
  `${ROOT}main.ts`,
];
const rows: (readonly [string, Figures])[] = [
  ["source", await measure(source, site, port)],
  [executable, await measure([executable], site, port)],
];
console.log(`               version   first answer   idle      after ${REQUESTS} requests`);
for (const [name, { version, firstAnswer, idle, afterRequests }] of rows) {
  const cells = [`${version.toFixed(0)} ms`, `${firstAnswer.toFixed(0)} ms`, `${idle.toFixed(0)} MiB`];
  console.log(
    `${name.slice(-14).padEnd(14)} ${cells.map((cell) => cell.padEnd(10)).join(" ")} ${
      afterRequests.toFixed(0)
    } MiB`,
  );
}

/** What the script at the head of a self-extracting file adds to each start: the same with a runtime that does nothing. */
if (new TextDecoder().decode((await Deno.readFile(executable)).subarray(0, 2)) === "#!") {
  const { packSelfExtracting } = await import("../../bin/build/self_extracting.ts");
  const file = `${site.folder}/nothing`;
  const nothing = packSelfExtracting({
    version: "0",
    target: "",
    runtime: await Deno.readFile("/bin/true"),
    program: new Map([["main.js", ""]]),
    flags: [],
  });
  await Deno.writeFile(file, nothing, { mode: 0o755 });
  const times = async (program: string) => {
    const measured: number[] = [];
    for (let i = 0; i < 40; i++) {
      const began = performance.now();
      await new Deno.Command(program, { env: { XDG_CACHE_HOME: `${site.folder}/nothings` } }).output();
      measured.push(performance.now() - began);
    }
    return median(measured);
  };
  const added = await times(file) - await times("/bin/true");
  console.log(`The script of the self-extracting file adds ${added.toFixed(1)} ms to a start.`);
}
