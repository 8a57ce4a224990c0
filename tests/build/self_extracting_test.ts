import assert from "node:assert/strict";
import { packSelfExtracting } from "../../bin/build/self_extracting.ts";

/** Replacement for the runtime that prints its arguments and environment. */
const RUNTIME = `#!/bin/sh
[ "$1" = --version ] && exit
printf '%s\\n' "$@" "DENO_DIR=$DENO_DIR" "NODE_OPTIONS=\${NODE_OPTIONS-}" "umask=$(umask)"
`;
const PROGRAM = new Map([["main.js", "main"], ["core_worker.js", "core"]]);
const FLAGS = ["--allow-net", "--no-prompt"];

function pack(
  { runtime = RUNTIME, program = PROGRAM }: { runtime?: string; program?: Map<string, string> } = {},
) {
  return packSelfExtracting({
    version: "1.2.3",
    target: "a test",
    runtime: new TextEncoder().encode(runtime),
    program,
    flags: FLAGS,
  });
}

/** Folder with the packed file, which runs with its own environment. */
class Site implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async create(file = pack()): Promise<Site> {
    const site = new Site(await Deno.makeTempDir());
    await Deno.writeFile(`${site.folder}/authserver`, file, { mode: 0o755 });
    return site;
  }

  async start(
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = { XDG_CACHE_HOME: `${this.folder}/cache` },
    program = `${this.folder}/authserver`,
  ) {
    const { code, stdout, stderr } = await new Deno.Command(program, {
      args: [...args],
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin", ...env },
      cwd: this.folder,
    }).output();
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
  }

  /** Returns the names in the folder of unpacked programs. */
  async unpacked(base = `${this.folder}/cache/authserver`): Promise<string[]> {
    return (await Array.fromAsync(Deno.readDir(base), ({ name }) => name)).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function mode(path: string): Promise<number> {
  return ((await Deno.stat(path)).mode ?? 0) & 0o7777;
}

Deno.test("packSelfExtracting() is deterministic", () => {
  assert.deepEqual(pack(), pack({ program: new Map([...PROGRAM].reverse()) }));
  assert.notDeepEqual(pack(), pack({ program: new Map([["main.js", "other"]]) }));
});

Deno.test("a self-extracting file unpacks only for its user, and runs the program with its flags and arguments", async () => {
  await using site = await Site.create();
  const { code, out, err } = await site.start(["serve", "--name", "two words", "$HOME", ""]);
  const [id = "", ...others] = await site.unpacked();
  const program = `${site.folder}/cache/authserver/${id}`;
  assert.equal(err, "");
  assert.equal(code, 0);
  assert.match(id, /^[0-9a-f]{64}$/);
  assert.deepEqual(others, []);
  assert.deepEqual(out.split("\n"), [
    "run",
    "--quiet",
    "--no-config",
    "--no-lock",
    ...FLAGS,
    `${program}/main.js`,
    ...["serve", "--name", "two words", "$HOME", ""],
    `DENO_DIR=${program}/deno`,
    "NODE_OPTIONS=",
    "umask=0022",
    "",
  ]);
  assert.equal(await mode(program), 0o700);
  assert.equal(await mode(`${program}/authserver`), 0o700);
  assert.equal(await mode(`${program}/main.js`), 0o600);
  assert.equal(await Deno.readTextFile(`${program}/core_worker.js`), "core");
  assert.deepEqual(await site.unpacked(program), ["authserver", "core_worker.js", "main.js"]);
});

Deno.test("a self-extracting file passes on the exit status, and drops options that would load other code", async () => {
  await using site = await Site.create(pack({ runtime: `${RUNTIME}\nexit 7\n` }));
  const { code, out } = await site.start([], { HOME: site.folder, NODE_OPTIONS: "--require /tmp/x.js" });
  assert.equal(code, 7);
  assert.match(out, /^NODE_OPTIONS=$/m);
});

Deno.test("a self-extracting file does not unpack again", async () => {
  await using site = await Site.create();
  await site.start();
  const [id] = await site.unpacked();
  const unpacked = await Deno.stat(`${site.folder}/cache/authserver/${id}`);
  assert.equal((await site.start()).code, 0);
  const later = await Deno.stat(`${site.folder}/cache/authserver/${id}`);
  assert.deepEqual([later.ino, later.mtime], [unpacked.ino, unpacked.mtime]);
});

Deno.test("a self-extracting file unpacks into the folder from the environment, the service manager's first", async () => {
  await using site = await Site.create();
  const at = (name: string) => `${site.folder}/${name}`;
  const cases: [Record<string, string>, string][] = [
    [{ HOME: at("a") }, at("a/.cache/authserver")],
    [{ HOME: at("b"), XDG_CACHE_HOME: at("c") }, at("c/authserver")],
    [{ HOME: at("d"), XDG_CACHE_HOME: at("e"), CACHE_DIRECTORY: `${at("f")}:${at("g")}` }, at("f")],
  ];
  for (const [env, base] of cases) {
    assert.equal((await site.start([], env)).code, 0);
    assert.equal((await site.unpacked(base)).length, 1);
  }
  assert.deepEqual(await site.unpacked(site.folder), ["a", "authserver", "c", "f"]);
});

Deno.test("a self-extracting file without HOME, as under systemd, unpacks into the home of its user", async () => {
  await using site = await Site.create();
  const user =
    `#!/bin/sh\n[ "$*" = "passwd ${Deno.uid()}" ] && echo "user:x:1:1:A user:${site.folder}/home:/bin/sh"\n`;
  await Deno.mkdir(`${site.folder}/home`);
  await Deno.writeTextFile(`${site.folder}/getent`, user, { mode: 0o755 });
  const { code, err } = await site.start(["version"], { PATH: `${site.folder}:/usr/bin:/bin` });
  assert.deepEqual([code, err], [0, ""]);
  assert.equal((await site.unpacked(`${site.folder}/home/.cache/authserver`)).length, 1);
});

Deno.test("a self-extracting file runs through a link, from the search path and as an argument of a shell", async () => {
  await using site = await Site.create();
  await Deno.symlink(`${site.folder}/authserver`, `${site.folder}/link`);
  assert.equal((await site.start(["x"], undefined, `${site.folder}/link`)).code, 0);
  const env = (name: string) => ({
    XDG_CACHE_HOME: `${site.folder}/${name}`,
    PATH: `${site.folder}:/usr/bin:/bin`,
  });
  for (const command of ["authserver x", "sh authserver x", "bash authserver x", "./authserver x"]) {
    const { code, out, err } = await site.start(["-c", command], env(command.replaceAll(/\W/g, "")), "sh");
    assert.equal(code, 0, `${command}: ${err}`);
    assert.match(out, /\nx\n/);
  }
});

Deno.test("a self-extracting file works under a service manager, which ignores broken pipes", async () => {
  const noise = Array.from({ length: 20_000 }, () => crypto.randomUUID()).join("");
  const program = new Map([["main.js", noise]]);
  await using site = await Site.create(pack({ program }));
  const { code, err } = await site.start(["-c", "trap '' PIPE; exec ./authserver x"], undefined, "sh");
  assert.deepEqual([code, err], [0, ""]);
});

Deno.test("concurrent starts of a self-extracting file unpack it once", async () => {
  await using site = await Site.create();
  const starts = await Promise.all(Array.from({ length: 6 }, () => site.start(["x"])));
  for (const { code, err } of starts) assert.deepEqual([code, err], [0, ""]);
  assert.equal((await site.unpacked()).length, 1);
});

Deno.test("a damaged self-extracting file reports the damage, runs nothing and leaves no files", async () => {
  const good = pack({ program: new Map([["main.js", crypto.randomUUID().repeat(1000)]]) });
  const flipped = good.slice();
  flipped[flipped.length - 40] = (flipped[flipped.length - 40] ?? 0) ^ 1;
  for (const [name, file] of [["a byte changed", flipped], ["cut short", good.slice(0, -100)]] as const) {
    await using site = await Site.create(file);
    const { code, out, err } = await site.start();
    assert.deepEqual([code, out], [1, ""], name);
    assert.match(err, /authserver: cannot unpack into .*: this file is damaged/);
    assert.deepEqual(await site.unpacked(), [], name);
  }
});

Deno.test("a self-extracting file does not use folders that others may write to", async () => {
  await using site = await Site.create();
  await site.start();
  const base = `${site.folder}/cache/authserver`;
  const program = `${base}/${(await site.unpacked())[0]}`;
  for (const path of [base, program]) {
    for (const loose of [0o720, 0o702]) {
      await Deno.chmod(path, loose);
      const { code, out, err } = await site.start();
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, /others may write to it: not used/);
    }
    await Deno.chmod(path, 0o700);
  }
  assert.equal((await site.start()).code, 0);
});

Deno.test({
  name: "a self-extracting file does not use a folder of another user",
  ignore: Deno.uid() !== 0,
  async fn() {
    await using site = await Site.create();
    await Deno.mkdir(`${site.folder}/cache/authserver`, { recursive: true });
    await Deno.chown(`${site.folder}/cache/authserver`, 65534, 65534);
    const { code, err } = await site.start();
    assert.equal(code, 1);
    assert.match(err, /belongs to another user/);
  },
});

Deno.test("a self-extracting file reports missing requirements", async () => {
  await using site = await Site.create();
  const broken = await Site.create(pack({ runtime: "#!/bin/sh\necho no such library >&2\nexit 1\n" }));
  await using _broken = broken;
  await Deno.writeTextFile(`${site.folder}/file`, "");
  const tools = `${site.folder}/tools`;
  await Deno.mkdir(tools);
  await Deno.symlink("/bin/mkdir", `${tools}/mkdir`);
  const withGzip = `${site.folder}/with_gzip`;
  await Deno.mkdir(withGzip);
  for (const name of ["mkdir", "gzip"]) await Deno.symlink(`/bin/${name}`, `${withGzip}/${name}`);
  const cases: [Promise<{ code: number; err: string }>, RegExp][] = [
    [
      site.start([], { PATH: tools }),
      /no folder to unpack into: set CACHE_DIRECTORY, XDG_CACHE_HOME or HOME/,
    ],
    [site.start([], { XDG_CACHE_HOME: `${site.folder}/file` }), /cannot unpack: set XDG_CACHE_HOME/],
    [site.start([], { HOME: site.folder, PATH: tools }), /there is no gzip/],
    [site.start([], { HOME: site.folder, PATH: withGzip }), /there is no tar/],
    [broken.start(), /cannot run programs in .*noexec\?\): no such library/],
  ];
  for (const [start, expected] of cases) {
    const { code, err } = await start;
    assert.equal(code, 1);
    assert.match(err, expected);
  }
  assert.deepEqual(await broken.unpacked(), []);
});

Deno.test("a new version removes the previous one, unless a process still runs it", async () => {
  await using site = await Site.create();
  await site.start();
  const [first = ""] = await site.unpacked();
  await Deno.copyFile("/bin/sleep", `${site.folder}/cache/authserver/${first}/running`);
  await Deno.chmod(`${site.folder}/cache/authserver/${first}/running`, 0o755);
  const running = new Deno.Command(`${site.folder}/cache/authserver/${first}/running`, { args: ["60"] })
    .spawn();
  const update = async (text: string) => {
    await Deno.writeFile(`${site.folder}/authserver`, pack({ program: new Map([["main.js", text]]) }));
    assert.equal((await site.start()).code, 0);
  };
  await update("second");
  assert.equal((await site.unpacked()).length, 2);
  running.kill("SIGKILL");
  await running.status;
  await update("third");
  const left = await site.unpacked();
  assert.equal(left.length, 1);
  assert(!left.includes(first));
});
