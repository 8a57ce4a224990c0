/**
 * Replaces data files of a core by files of 100,000 entries. Prints for each kind of file the processor time
 * of the longest piece of work in milliseconds, in the system's steps of 10 ms.
 */
import process from "node:process";
import { createLogger } from "../../src/logging/logger.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { createService } from "../../src/service/service.ts";
import { publicKeyWords } from "../authentication/ssh_key/user_keys.ts";
import { createSite, passwordLine } from "../system/running_service.ts";

const ENTRIES = 100_000;
const TIMES = 3;
/** Pause for work after a change, such as garbage collection, in milliseconds. */
const AFTERWARDS_MS = 1_500;

const [type, blob] = publicKeyWords("user_ed25519");
const lines = (line: (user: number) => string) => Array.from({ length: ENTRIES }, (_, user) => line(user));
const hashed = passwordLine(["", "wonder"], "").trim();

const FILES: readonly (readonly [name: string, path: string, text: (time: number) => string])[] = [
  [
    "keys",
    "conf/keys.txt",
    (time) => lines((i) => `user${i}:${type} ${blob}:CN=User ${i} ${time}\n`).join(""),
  ],
  ["passwords", "conf/users.txt", (time) => lines((i) => `user${i}${hashed}CN=User ${i} ${time}\n`).join("")],
  ["map", "conf/mapfile.json", (time) => {
    const entry = (i: number) =>
      `"CN=User ${i} ${time}": {"role": ["user"], "xlogin": ["user${i}"], "group": ["hpc"]}`;
    return `{\n${lines(entry).join(",\n")}\n}`;
  }],
];

await using site = await createSite({
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY",
    "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
  },
  files: { "conf/keys.txt": "" },
});
let readAgain = Promise.withResolvers<void>();
const log = createLogger((line) => line.includes("file read again") && readAgain.resolve());
const { snapshot } = await loadSnapshot(site.main, { environment: () => undefined });
if (snapshot === undefined) throw new TypeError("the configuration cannot be used");
const service = await createService({ ...snapshot, generation: 1, upSince: Date.now(), port: 9000 }, { log });

const found: Record<string, number> = {};
for (const [name, path, text] of FILES) {
  found[name] = 0;
  for (let time = 0; time < TIMES; time++) {
    await Deno.writeTextFile(`${site.folder}/next`, text(time), { mode: 0o600 });
    await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS)); // for garbage of the write
    readAgain = Promise.withResolvers();
    const pieces = watchPieces();
    await Deno.rename(`${site.folder}/next`, `${site.folder}/${path}`);
    await readAgain.promise;
    await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS));
    found[name] = Math.max(found[name], pieces.longestMs());
  }
}
await service.close();
console.log(`pieces: ${JSON.stringify(found)}`);

/** Measures the processor time of this thread between two turns of the event loop. */
function watchPieces(): { longestMs(): number } {
  let longest = 0;
  let before = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user + now.system - before.user - before.system);
    before = now;
  }, 1);
  return {
    longestMs: () => {
      clearInterval(timer);
      return longest / 1000;
    },
  };
}
