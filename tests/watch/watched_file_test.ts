import { InvalidFile } from "../../src/model/diagnostic.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import {
  DEBOUNCE_MS,
  DISK,
  type FileSource,
  POLL_MS,
  refusedFiles,
  type WatchedFile,
  watchFile,
  type WatchOptions,
} from "../../src/watch/watched_file.ts";

/** Returns the first diagnostic of a file whose version on disk is not in use. */
function diagnosticOf({ path }: WatchedFile<unknown>): string | undefined {
  return refusedFiles().find((diagnostic) => diagnostic.includes(path));
}

/** Parses a text; refuses texts that contain `broken`. */
function parse(text: string): string {
  if (text.includes("broken")) throw new SyntaxError("this is broken");
  return text.trim();
}

interface Scene {
  readonly folder: string;
  readonly path: string;
  write(text: string | Uint8Array): Promise<void>;
  watch(options?: Partial<WatchOptions<string>>): Promise<WatchedFile<string>>;
  /** Lines logged so far, without time. */
  readonly lines: string[];
}

/** Registers a test with a new folder, in which a file contains `first`. */
function scene(name: string, run: (scene: Scene) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    const path = join(folder, "users.txt");
    const opened: WatchedFile<string>[] = [];
    const lines: string[] = [];
    const log = createLogger((line) => lines.push(line.slice(25)), { clock: () => 0 });
    const write = (text: string | Uint8Array) =>
      Deno.writeFile(path, typeof text === "string" ? new TextEncoder().encode(text) : text);
    try {
      await write("first");
      await run({
        folder,
        path,
        lines,
        write,
        async watch(options = {}) {
          const file = await watchFile(path, parse, { log, ...options });
          opened.push(file);
          return file;
        },
      });
    } finally {
      opened.forEach((file) => file.close());
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** Writes a new file and renames it over the old one, as careful editors do. */
async function renameOver(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${path}.new`, text);
  await Deno.rename(`${path}.new`, path);
}

/** Returns options with a short interval, and a function that waits for the next content. */
function listening(): { options: Partial<WatchOptions<string>>; next: () => Promise<string> } {
  const contents: string[] = [];
  let wake = () => {};
  return {
    options: {
      intervalMs: 5,
      onChange(content) {
        contents.push(content);
        wake();
      },
    },
    async next() {
      // A watch does not keep the process alive, so this timer must.
      const { promise: late, reject } = Promise.withResolvers<never>();
      const deadline = setTimeout(() => reject(new Error("the change was not seen")), 5000);
      try {
        while (contents.length === 0) {
          await Promise.race([new Promise<void>((resolve) => wake = resolve), late]);
        }
      } finally {
        clearTimeout(deadline);
      }
      return contents.shift() ?? "";
    },
  };
}

scene("watchFile() reads the first content without a log line", async ({ watch, lines, path }) => {
  let told = 0;
  const file = await watch({ onChange: () => told++ });
  assert.equal(file.current, "first");
  assert.equal(diagnosticOf(file), undefined);
  assert.equal(file.path, path);
  assert.equal(told, 0);
  assert.deepEqual(lines, []);
});

scene("watchFile() throws what the parser throws for the first content", async ({ watch, write }) => {
  await write("broken");
  await assert.rejects(watch(), new SyntaxError("this is broken"));
});

scene("watchFile() throws if the first content is not UTF-8", async ({ path, watch, write }) => {
  await write(new Uint8Array([0xc3, 0x28]));
  await assert.rejects(watch(), { constructor: InvalidFile, message: `${path}:1: expected UTF-8 text` });
});

scene("watchFile() throws if there is no file and no fallback", async ({ watch, path }) => {
  await Deno.remove(path);
  await assert.rejects(watch(), Deno.errors.NotFound);
});

scene("watchFile() removes a byte order mark", async ({ watch, write }) => {
  await write("\ufefffirst");
  assert.equal((await watch()).current, "first");
});

const CHANGES: [string, (scene: Scene) => Promise<void>][] = [
  ["a file written in place", ({ write }) => write("second")],
  ["a file renamed over", ({ path }) => renameOver(path, "second")],
  ["a file removed and written again", async ({ path, write }) => {
    await Deno.remove(path);
    await write("second");
  }],
  ["a file replaced by a symbolic link", async ({ path, folder }) => {
    await Deno.writeTextFile(join(folder, "target"), "second");
    await Deno.remove(path);
    await Deno.symlink("target", path);
  }],
  ["a file truncated, then written", async ({ path, write }) => {
    await Deno.truncate(path);
    await write("second");
  }],
];

for (const [what, change] of CHANGES) {
  scene(`WatchedFile reloads ${what}, when checked`, async (scene) => {
    const contents: string[] = [];
    const file = await scene.watch({ onChange: (content) => contents.push(content) });
    await change(scene);
    await file.check();
    assert.equal(file.current, "second");
    assert.deepEqual(contents, ["second"]);
    assert.deepEqual(scene.lines, [`info  file read again file=${scene.path}`]);
  });

  scene(`WatchedFile reloads ${what}, by itself`, async (scene) => {
    const { options, next } = listening();
    const file = await scene.watch(options);
    await change(scene);
    // A slow machine may see a state in between; the last one must arrive.
    while (await next() !== "second");
    assert.equal(file.current, "second");
  });
}

scene(
  "WatchedFile follows a link whose target changes, and a replaced link",
  async ({ folder, path, watch }) => {
    await Deno.mkdir(join(folder, "1"));
    await Deno.mkdir(join(folder, "2"));
    await Deno.writeTextFile(join(folder, "1", "users"), "one");
    await Deno.writeTextFile(join(folder, "2", "users"), "two");
    await Deno.symlink("1", join(folder, "now"));
    await Deno.remove(path);
    await Deno.symlink(join("now", "users"), path);
    const file = await watch();
    assert.equal(file.current, "one");

    await Deno.writeTextFile(join(folder, "1", "users"), "uno");
    await file.check();
    assert.equal(file.current, "uno");

    await Deno.symlink("2", join(folder, "next"));
    await Deno.rename(join(folder, "next"), join(folder, "now"));
    await file.check();
    assert.equal(file.current, "two");
  },
);

scene("WatchedFile sees another content with the same size and times", async ({ path, watch, write }) => {
  const { options, next } = listening();
  const file = await watch(options);
  await Deno.utime(path, 1, 1);
  await file.check();
  await write("other");
  await Deno.utime(path, 1, 1);
  assert.equal(await next(), "other");
});

scene("WatchedFile keeps the last good content if the file is broken, and logs it once", async (scene) => {
  const { path, watch, write, lines } = scene;
  const file = await watch();
  await write("broken");
  await file.check();
  await file.check();
  assert.equal(file.current, "first");
  assert.equal(diagnosticOf(file), `${path}: this is broken`);
  const complaint =
    `error file not usable, the last good content stays file=${path} error="SyntaxError: this is broken"`;
  assert.deepEqual(lines, [complaint]);

  await write("broken, too");
  await file.check();
  assert.deepEqual(lines, [complaint, complaint]);

  await write("second");
  await file.check();
  assert.equal(file.current, "second");
  assert.equal(diagnosticOf(file), undefined);
});

scene(
  "refusedFiles() returns a diagnostic for each broken file, until it is usable or no longer watched",
  async (scene) => {
    const { path, watch, write } = scene;
    const refused = () => refusedFiles().filter((diagnostic) => diagnostic.includes(path));
    const [first, second] = [await watch(), await watch()];
    await write("broken");
    await first.check();
    assert.deepEqual(refused(), [`${path}: this is broken`]);
    await second.check();
    await write(new Uint8Array([0x61, 0xff]));
    await first.check();
    first.close();
    assert.deepEqual(refused(), [`${path}: this is broken`]);
    await write("second");
    await second.check();
    assert.deepEqual(refused(), []);
  },
);

scene(
  "WatchedFile removes its diagnostic when a broken file is restored",
  async ({ path, watch, write, lines }) => {
    let told = 0;
    const file = await watch({ onChange: () => told++ });
    await write("broken");
    await file.check();
    await write("first");
    await file.check();
    assert.equal(diagnosticOf(file), undefined);
    assert.equal(lines.at(-1), `info  file usable again, with the content in use file=${path}`);
    assert.equal(told, 0);
  },
);

scene(
  "WatchedFile keeps the last good content if the file is not UTF-8",
  async ({ path, watch, write }) => {
    const file = await watch();
    await write(new Uint8Array([0x61, 0xff]));
    await file.check();
    assert.equal(file.current, "first");
    assert.equal(diagnosticOf(file), `${path}:1: expected UTF-8 text`);
  },
);

scene(
  "WatchedFile keeps the last good content while the file is missing",
  async ({ path, watch, write, lines }) => {
    const file = await watch();
    await Deno.remove(path);
    await file.check();
    await file.check();
    assert.equal(file.current, "first");
    assert.equal(diagnosticOf(file), `the file ${path} is gone`);
    assert.equal(lines.length, 1);
    await write("first");
    await file.check();
    assert.equal(diagnosticOf(file), undefined);
  },
);

scene(
  "WatchedFile uses its fallback content for an absent file",
  async ({ path, watch, write, lines }) => {
    await Deno.remove(path);
    const file = await watch({ fallback: "nobody" });
    assert.equal(file.current, "nobody");
    await write("first");
    await file.check();
    assert.equal(file.current, "first");
    await Deno.remove(path);
    await file.check();
    assert.equal(file.current, "nobody");
    assert.equal(diagnosticOf(file), undefined);
    await write("first");
    await file.check();
    assert.equal(file.current, "first");
    assert.equal(lines.length, 3);
  },
);

for (
  const [what, damage, diagnostic] of [
    ["broken", ({ write }: Scene) => write("broken"), /: this is broken$/],
    ["not UTF-8", ({ write }: Scene) => write(new Uint8Array([0xff])), /:1: expected UTF-8 text$/],
    ["too long", ({ write }: Scene) => write("x".repeat(11)), /expected at most 10$/],
    ["a folder", async ({ path }: Scene) => {
      await Deno.remove(path);
      await Deno.mkdir(path);
    }, /is a folder$/],
  ] as const
) {
  scene(
    `watchFile() begins with its fallback if the first version is ${what}, and uses the next`,
    async (scene) => {
      const { path, watch, write, lines } = scene;
      await damage(scene);
      let told = 0;
      const file = await watch({ fallback: "nobody", maxBytes: 10, onChange: () => told++ });
      assert.equal(file.current, "nobody");
      assert.match(diagnosticOf(file) ?? "", diagnostic);
      await file.check();
      assert.equal(lines.length, 1, lines.join("\n"));
      assert.ok(
        lines[0]?.startsWith(`error file not usable, it counts as absent file=${path} error=`),
        lines[0],
      );
      assert.equal(told, 0);

      await Deno.remove(path);
      await file.check();
      assert.equal(diagnosticOf(file), undefined);
      await write("second");
      await file.check();
      assert.equal(file.current, "second");
      assert.equal(told, 1);
    },
  );
}

scene("WatchedFile keeps the last good content while the file cannot be read", async ({ watch, lines }) => {
  let readable = true;
  const file = await watch({
    source: {
      fingerprint: (path) => DISK.fingerprint(path).then((fingerprint) => `${fingerprint} ${readable}`),
      read: (path, maxBytes) =>
        readable ? DISK.read(path, maxBytes) : Promise.reject(new Deno.errors.PermissionDenied("no")),
    },
  });
  readable = false;
  await file.check();
  await file.check();
  assert.equal(file.current, "first");
  assert.equal(diagnosticOf(file), `${file.path}: no`);
  assert.equal(lines.length, 1);
  readable = true;
  await file.check();
  assert.equal(diagnosticOf(file), undefined);
});

scene(
  "WatchedFile does not use content that changed during the read, until the file is at rest",
  async ({ watch, write }) => {
    let writesDuringRead = 0;
    const file = await watch({
      source: {
        fingerprint: DISK.fingerprint,
        async read(path, maxBytes) {
          const bytes = await DISK.read(path, maxBytes);
          if (writesDuringRead > 0) await write(`part ${writesDuringRead--}`.repeat(writesDuringRead + 1));
          return bytes;
        },
      },
    });
    await write("half");
    writesDuringRead = 3; // as many as attempts
    await file.check();
    assert.equal(file.current, "first");
    await file.check();
    assert.equal(file.current, "part 1");
  },
);

scene(
  "a poll does not use content that changed during the read, until the file is at rest",
  async ({ watch, write }) => {
    let cuts = 0;
    const { options, next } = listening();
    const restedFor = new Map<string, number>();
    await watch({
      ...options,
      source: {
        async fingerprint(path) {
          const fingerprint = await DISK.fingerprint(path);
          restedFor.set(fingerprint ?? "", (restedFor.get(fingerprint ?? "") ?? 0) + 1);
          // The writer of the truncated file continues after two checks, not between two reads.
          if (cuts === 1 && restedFor.get(fingerprint ?? "") === 2) {
            cuts = 0;
            await write("the whole");
          }
          return fingerprint;
        },
        async read(path, maxBytes) {
          if (cuts === 2) await write("");
          if (cuts === 2) cuts = 1;
          return await DISK.read(path, maxBytes);
        },
      },
    });
    cuts = 2;
    await write("other");
    assert.equal(await next(), "the whole");
  },
);

scene("WatchedFile tries again at once when a file changed while it was read", async ({ watch, write }) => {
  let changes = 0;
  const contents: string[] = [];
  const file = await watch({
    onChange: (content) => contents.push(content),
    source: {
      fingerprint: DISK.fingerprint,
      async read(path, maxBytes) {
        const bytes = await DISK.read(path, maxBytes);
        if (changes > 0) await write(changes-- === 2 ? "more of it" : "the whole");
        return bytes;
      },
    },
  });
  await write("half");
  changes = 2;
  await file.check();
  assert.deepEqual(contents, ["the whole"]);
});

scene("WatchedFile waits by itself until a file is at rest", async ({ watch, write }) => {
  // Each check except the last two finds the file changed.
  const fingerprints = ["a", "b", "c", "d", "d"];
  const readAt: number[] = [];
  const { options, next } = listening();
  await watch({
    ...options,
    source: {
      fingerprint: () => Promise.resolve(fingerprints.length > 1 ? fingerprints.shift() : fingerprints[0]),
      read(path, maxBytes) {
        readAt.push(fingerprints.length);
        return DISK.read(path, maxBytes);
      },
    },
  });
  await write("second");
  assert.equal(await next(), "second");
  assert.deepEqual(readAt.slice(0, 2), [5, 1]);
});

scene("WatchedFile no longer reads a file once it has settled", async ({ watch }) => {
  let reads = 0;
  const file = await watch({
    intervalMs: 1000,
    source: {
      fingerprint: DISK.fingerprint,
      read(path, maxBytes) {
        reads++;
        return DISK.read(path, maxBytes);
      },
    },
  });
  for (let look = 0; look < 10; look++) await file.check();
  // Five reads: the first content, the first check (not at rest), half a second later, and for two seconds.
  assert.equal(reads, 5);
});

scene("WatchedFile does not settle while a file changes, and reads it again", async ({ watch, write }) => {
  let [reads, change] = [0, false];
  const file = await watch({
    intervalMs: 60_000, // two checks at rest are enough
    source: {
      fingerprint: DISK.fingerprint,
      async read(path, maxBytes) {
        reads++;
        const bytes = await DISK.read(path, maxBytes);
        if (change) await write("the whole");
        change = false;
        return bytes;
      },
    },
  });
  await write("half");
  [reads, change] = [0, true];
  const counts: number[] = [];
  for (let look = 0; look < 4; look++) {
    await file.check();
    counts.push(reads);
  }
  assert.deepEqual(counts, [2, 3, 4, 4]);
  assert.equal(file.current, "the whole");
});

scene("WatchedFile does not parse a touched file again", async ({ path }) => {
  let parsed = 0;
  const file = await watchFile(path, (text) => {
    parsed++;
    return text;
  }, { log: SILENT, intervalMs: 60_000 });
  await Deno.utime(path, 5, 5);
  await file.check();
  file.close();
  assert.equal(parsed, 1);
});

scene("WatchedFile discards the result of a parse when it is closed", async ({ path, write }) => {
  const parsing = Promise.withResolvers<void>();
  const parsed = Promise.withResolvers<string>();
  let told = 0;
  const file = await watchFile(path, (text) => {
    if (text === "first") return text;
    parsing.resolve();
    return parsed.promise;
  }, { log: SILENT, intervalMs: 60_000, onChange: () => told++ });
  await write("second");
  const checked = file.check();
  await parsing.promise;
  file.close();
  file.close();
  parsed.resolve("second");
  await checked;
  assert.equal(file.current, "first");
  assert.equal(told, 0);
  await write("third");
  await file.check();
  assert.equal(file.current, "first");
});

scene("WatchedFile runs concurrent checks one after the other", async ({ path, write }) => {
  const order: string[] = [];
  const file = await watchFile(path, async (text) => {
    await Promise.resolve();
    return text;
  }, { log: SILENT, intervalMs: 60_000, onChange: (content) => order.push(content) });
  await write("second");
  const first = file.check();
  const second = file.check();
  await Promise.all([first, second]);
  file.close();
  assert.deepEqual(order, ["second"]);
});

scene("WatchedFile survives a listener that throws", async ({ watch, write, lines }) => {
  const file = await watch({
    onChange: () => {
      throw new Error("listener");
    },
  });
  await write("second");
  await file.check();
  assert.equal(file.current, "second");
  assert.equal(diagnosticOf(file), undefined);
  assert.match(lines.at(-1) ?? "", /^error listener to a file failed/);
});

scene(
  "WatchedFile uses a saved file after the second check, which is within two seconds",
  async ({ watch, path }) => {
    const { options, next } = listening();
    let saved = false;
    let looks = 0;
    const source: FileSource = {
      ...DISK,
      fingerprint(file) {
        if (saved) looks++;
        return DISK.fingerprint(file);
      },
    };
    await watch({ ...options, source });
    await renameOver(path, "second");
    saved = true;
    assert.equal(await next(), "second");
    // Two checks and one after the read, in addition to a check under way.
    assert.ok(looks <= 5, `${looks} stamps`);
    assert(POLL_MS + DEBOUNCE_MS < 2000); // the promise of the manual
  },
);

scene(
  "watchFile() refuses a file over the maximum length, and keeps its content",
  async ({ watch, path }) => {
    const file = await watch({ maxBytes: 16 });
    await Deno.writeTextFile(path, "x".repeat(17));
    await file.check();
    assert.match(diagnosticOf(file) ?? "", /17 bytes: expected at most 16/);
    assert.notEqual(file.current, "x".repeat(17));
  },
);

scene("WatchedFile.check() resolves when the new content is in use", async ({ path, write }) => {
  const file = await watchFile(path, async (text) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return text;
  }, { log: SILENT, intervalMs: 60_000 });
  await write("second");
  await file.check();
  file.close();
  assert.equal(file.current, "second");
});

scene("WatchedFile does not parse content if it is closed during the read", async ({ path, write }) => {
  const parsed: string[] = [];
  const opened: WatchedFile<string>[] = [];
  const file = await watchFile(path, (text) => {
    parsed.push(text);
    return text;
  }, {
    log: SILENT,
    intervalMs: 60_000,
    source: {
      fingerprint: DISK.fingerprint,
      read(path, maxBytes) {
        opened[0]?.close();
        return DISK.read(path, maxBytes);
      },
    },
  });
  opened.push(file);
  await write("second");
  await file.check();
  assert.deepEqual(parsed, ["first"]);
});

/** Paths that are not files, and may be endless. */
const ENDLESS: readonly [string, (path: string) => Promise<unknown>][] = [
  ["a pipe without a writer", (path) => new Deno.Command("mkfifo", { args: [path] }).output()],
  ["an endless device", (path) => Deno.symlink("/dev/zero", path)],
  ["a folder", (path) => Deno.mkdir(path)],
];
for (const [what, put] of ENDLESS) {
  scene(
    `WatchedFile continues watching when ${what} replaces its file`,
    async ({ watch, path, write }) => {
      const { options, next } = listening();
      const file = await watch(options);
      await Deno.remove(path);
      await put(path);
      await file.check();
      assert.match(diagnosticOf(file) ?? "", /is no regular file|is a folder/);
      assert.equal(file.current, "first");
      await Deno.remove(path);
      await write("second");
      assert.equal(await next(), "second", "who was removed meanwhile does not get in");
      assert.equal(diagnosticOf(file), undefined);
    },
  );
}

scene("watchFile() does not wait for a pipe without a writer", async ({ path, watch }) => {
  await Deno.remove(path);
  await new Deno.Command("mkfifo", { args: [path] }).output();
  await assert.rejects(watch(), /is no regular file/);
});

/** Returns a settled file whose fingerprint and content the test sets, and which is read only by checks. */
async function settled(fingerprint: string | undefined, fallback?: string) {
  const state = { fingerprint, error: undefined as Error | undefined };
  const source: FileSource = {
    fingerprint: () =>
      state.error === undefined ? Promise.resolve(state.fingerprint) : Promise.reject(state.error),
    read: () =>
      Promise.resolve(
        state.fingerprint === undefined ? undefined : new TextEncoder().encode(state.fingerprint),
      ),
  };
  const options = { log: SILENT, intervalMs: 3_600_000, source, fallback };
  const file = await watchFile("link", parse, options);
  for (let i = 0; i < 4; i++) await file.check();
  return { state, file };
}

for (const [what, away, fallback] of [["another one", "b"], ["nothing", undefined, "none"]] as const) {
  Deno.test(`WatchedFile uses a version again that ${what} replaced briefly`, async () => {
    const { state, file } = await settled("a", fallback);
    state.fingerprint = away;
    await file.check();
    assert.equal(file.current, away ?? fallback);
    state.fingerprint = "a";
    await file.check();
    assert.equal(file.current, "a");
    file.close();
  });
}

Deno.test("WatchedFile removes its diagnostic when a file is accessible again", async () => {
  const { state, file } = await settled("a");
  state.error = new Deno.errors.PermissionDenied("no way");
  await file.check();
  assert.match(diagnosticOf(file) ?? "", /no way/);
  state.error = undefined;
  await file.check();
  assert.deepEqual([diagnosticOf(file), file.current], [undefined, "a"]);
  file.close();
});
