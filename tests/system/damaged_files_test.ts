/** Every file of a configuration, damaged in every way: `check` and `serve` report the same file and line. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { startService } from "../../src/command/serving/running_service.ts";
import { CommandFailed } from "../../src/command/command.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { assertRemedies } from "../fixtures/remedies.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { LONG } from "../long/results.ts";
import { createFullSite, FILES } from "./full_site.ts";
import { type Site, withProperties } from "./running_service.ts";

/** Text files in UTF-8; properties may be in Latin-1, as the Java service writes them. */
const TEXTS = [
  "users.txt",
  "keys.txt",
  "authorities.txt",
  "mapfile.json",
  "reservations.json",
];

const concat = (...parts: readonly (string | Uint8Array)[]) =>
  new Uint8Array(
    parts.flatMap((part) => [...(typeof part === "string" ? new TextEncoder().encode(part) : part)]),
  );

/** Appends a line with these bytes, as a comment where the format has comments. */
const afterLast = (path: string, bytes: Uint8Array, what: Uint8Array) =>
  concat(bytes, path.endsWith(".json") ? "\n" : "# ", what, "\n");

const DAMAGES: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  "cut": async (path) => await Deno.truncate(path, Math.floor((await Deno.stat(path)).size / 2)),
  "empty": (path) => Deno.truncate(path),
  "Latin-1": async (path) =>
    await Deno.writeFile(path, afterLast(path, await Deno.readFile(path), new Uint8Array([0xe4]))),
  "NUL": async (path) =>
    await Deno.writeFile(path, afterLast(path, await Deno.readFile(path), new Uint8Array(1))),
  "BOM": async (path) =>
    await Deno.writeFile(path, concat(new Uint8Array([0xef, 0xbb, 0xbf]), await Deno.readFile(path))),
  "folder": async (path) => {
    await Deno.remove(path);
    await Deno.mkdir(path);
  },
  "pipe": async (path) => {
    await Deno.remove(path);
    assert((await new Deno.Command("mkfifo", { args: [path] }).output()).success);
  },
  "no permission": (path) => Deno.chmod(path, 0),
  "too large": (path) => Deno.truncate(path, 65 * 1024 ** 2),
  "dangling link": async (path) => {
    await Deno.remove(path);
    await Deno.symlink(`${path}.gone`, path);
  },
};

/** Files that the service can start without, even if unusable; `watched_file_test.ts` has more damages. */
const OPTIONAL = ["reservations.json", "ca.crl"];

interface Told {
  readonly starts: boolean;
  /** Errors; if the service starts, warnings, too. */
  readonly diagnostics: readonly string[];
}

async function checked({ main }: Site): Promise<Told> {
  const io = recordedIo();
  const status = await runCommand(["check", "--config", main, "--json"], io);
  const { diagnostics } = JSON.parse(io.out);
  assert(Array.isArray(diagnostics));
  assertRemedies(diagnostics);
  return { starts: status === 0, diagnostics: diagnostics.map((diagnostic) => formatDiagnostic(diagnostic)) };
}

async function served({ main }: Site): Promise<Told> {
  const told: string[] = [];
  const lines: string[] = [];
  try {
    const service = await startService(main, (diagnostic) => told.push(formatDiagnostic(diagnostic)), {
      console: (text) => lines.push(text),
    });
    service.stop();
    await service.stopped;
    return { starts: true, diagnostics: [] };
  } catch (error) {
    assert(error instanceof CommandFailed, `not a message for the operator: ${error}\n${lines.join("")}`);
    assert.equal(error.status, 78, error.message);
    return { starts: false, diagnostics: told };
  }
}

/** Damage that root does not notice, except in a process without the capability to read everything. */
const UNREADABLE = "no permission";
const WITHOUT_RIGHTS = "AUTHSERVER_TEST_WITHOUT_RIGHTS";
const isWithoutRights = Deno.env.has(WITHOUT_RIGHTS);
const isRoot = Deno.uid() === 0 && !isWithoutRights;

/** Site for tests that leave it unchanged. */
const site = await createFullSite();
Deno.test.afterAll(() => site[Symbol.asyncDispose]());

// That `serve` starts with them follows from the last test.
Deno.test({
  name: "check accepts the files before they are damaged",
  ignore: isWithoutRights,
  async fn() {
    const { starts, diagnostics } = await checked(site);
    assert.equal(starts, true, diagnostics.join("\n"));
  },
});

Deno.test({
  name: "check and serve agree about each file that even root cannot read",
  ignore: !isRoot,
  async fn() {
    const { success, stdout, stderr } = await new Deno.Command("setpriv", {
      args: [
        "--bounding-set=-dac_override,-dac_read_search",
        Deno.execPath(),
        ...["test", "--no-check", "--allow-all", "--quiet", import.meta.filename ?? ""],
      ],
      env: { [WITHOUT_RIGHTS]: "1", NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder();
    assert.ok(success, text.decode(stdout) + text.decode(stderr));
    const tried = text.decode(stdout).match(/no permission \.\.\. ok/g)?.length;
    assert.equal(tried, FILES.length, text.decode(stdout));
  },
});

/** Damages of each file that `check` accepts; the last test tries them with `serve`. */
const accepted = new Map<string, string[]>();

for (const file of FILES) {
  Deno.test(`check and serve report the same about ${file}, however it is damaged`, async (test) => {
    const path = `${site.folder}/conf/${file}`;
    const whole = await Deno.readFile(path);
    const { mode } = await Deno.stat(path);
    const found: string[] = [];
    let refused = 0;
    for (const [damage, inflict] of Object.entries(DAMAGES)) {
      await test.step({
        name: damage,
        ignore: damage === UNREADABLE ? isRoot : isWithoutRights,
        fn: async () => {
          try {
            await inflict(path);
            const told = await checked(site);
            const lines = told.diagnostics.join("\n");
            if (told.starts) found.push(damage);
            // A start takes long: outside of long runs, the last test tries one damage per file and start.
            if (!told.starts || LONG) {
              const start = await served(site);
              assert.equal(start.starts, told.starts, `check:\n${lines}`);
              if (!start.starts) assert.deepEqual(start.diagnostics, told.diagnostics);
            }
            // It reads the files like the others: outside of long runs, one damage per file is enough.
            if (!told.starts && (refused++ === 0 || LONG)) {
              const io = recordedIo();
              assert.equal(await runCommand(["whoami-test", "alice", "--config", site.main], io), 1, io.err);
              assert(told.diagnostics.some((line) => line.includes(file)), lines);
            }
            if (damage === "Latin-1" && TEXTS.includes(file)) {
              assert.equal(told.starts, OPTIONAL.includes(file), lines);
              assert.match(
                lines,
                new RegExp(`^\\S+/${file.replace(".", "\\.")}:\\d+: expected UTF-8 text`, "m"),
              );
            }
          } finally {
            await Deno.remove(path, { recursive: true });
            await Deno.writeFile(path, whole, { mode: (mode ?? 0o600) & 0o777 });
          }
        },
      });
    }
    if (found.length > 0) accepted.set(file, found);
  });
}

/** Adds another copy of an optional file to a configuration. @returns Its path. */
async function addCopy({ folder, main, replace }: Site, file: string, name: string): Promise<string> {
  const path = `${folder}/conf/${name}-${file}`;
  await Deno.copyFile(`${folder}/conf/${file}`, path);
  const text = await Deno.readTextFile(main);
  const server = "authservice.server.HPC";
  const ofServer = text.split("\n").flatMap((line) => line.startsWith(`${server}.`) ? [line.split("=")] : []);
  const added = file === "ca.crl" ? { [`container.security.truststore.crlLocations.${name}`]: path } : {
    ...Object.fromEntries(
      ofServer.map(([key = "", value = ""]) => [key.replace("HPC", `HPC${name}`), value]),
    ),
    [`${server}${name}.reservations.file`]: path,
    "authservice.servers": `${/^authservice\.servers=(.*)$/m.exec(text)?.[1]} HPC${name}`,
  };
  await replace("conf/container.properties", withProperties(text, added));
  return path;
}

/** Damages that leave all text in the file, so that one file can have all of them. */
const ADDED = ["Latin-1", "NUL", "BOM"];

/** Returns the damages to try together, for each start. */
const perStart = (damages: readonly string[]): readonly (readonly string[])[] =>
  [
    damages.filter((damage) => ADDED.includes(damage)),
    ...damages.filter((damage) => !ADDED.includes(damage)).map((damage) => [damage]),
  ].filter(({ length }) => length > 0);

Deno.test("serve starts with every damage that check accepts", async () => {
  const ofOthers = new Map(
    [...accepted].flatMap(([file, damages]) => OPTIONAL.includes(file) ? [] : [[file, perStart(damages)]]),
  );
  const rounds = Math.max(1, ...[...ofOthers.values()].map(({ length }) => length));
  assert(ofOthers.size > 0 || isWithoutRights);
  for (let round = 0; round < rounds; round++) {
    await using site = await createFullSite();
    const tried: string[] = [];
    const inflict = async (file: string, damage: string, path = `${site.folder}/conf/${file}`) => {
      await DAMAGES[damage]?.(path);
      tried.push(`${file}: ${damage}`);
    };
    // All damages of an optional file are tried in one start, each with a copy.
    for (const file of round === 0 ? OPTIONAL : []) {
      for (const [index, damage] of (accepted.get(file) ?? []).entries()) {
        await inflict(file, damage, await addCopy(site, file, `${index + 2}`));
      }
    }
    for (const [file, { [round]: damages = [] }] of ofOthers) {
      for (const damage of damages) await inflict(file, damage);
    }
    const { starts, diagnostics } = await served(site);
    assert(starts, `${tried.join(", ")}:\n${diagnostics.join("\n")}`);
  }
});
