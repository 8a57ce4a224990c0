import assert from "node:assert/strict";
import { init } from "../../../src/command/files/init.ts";
import { systemFiles, UNIT_FOLDERS } from "../../../src/command/files/installation/sample_file.ts";
import { KINDS } from "../../../src/service/kinds.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { formatDiagnostic } from "../../../src/model/diagnostic.ts";
import { recordedIo } from "../recorded_io.ts";

const CONF = new URL("../../../conf/", import.meta.url);

async function folder() {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function run(...args: readonly string[]) {
  const io = recordedIo();
  return { status: await init.run(args, io), out: io.out, err: io.err };
}

/** Returns the files below a folder: path -> mode. */
async function filesIn(root: string, below = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(`${root}/${below}`)) {
    const path = `${below}${name}`;
    if (isDirectory) Object.assign(found, await filesIn(root, `${path}/`));
    else found[path] = ((await Deno.stat(`${root}/${path}`)).mode ?? 0).toString(8).slice(-3);
  }
  return found;
}

Deno.test("init writes the shipped configuration", async () => {
  await using at = await folder();
  const { status, out } = await run("--directory", at.path);
  assert.equal(status, 0);
  assert.deepEqual(await filesIn(at.path), {
    "bin/authserver-start.sh": "755",
    "bin/authserver-status.sh": "755",
    "bin/authserver-stop.sh": "755",
    "bin/launch-settings.sh": "644",
    "conf/container.properties": "640",
    "conf/mapfile.json": "644",
    "conf/ssh-keys.txt": "644",
    "conf/startup.properties": "644",
    "conf/trusted/README.txt": "644",
    "conf/users.txt": "600",
  });
  for (const name of Object.keys(await filesIn(`${at.path}/conf`))) {
    assert.equal(
      await Deno.readTextFile(`${at.path}/conf/${name}`),
      await Deno.readTextFile(new URL(name, CONF)),
    );
  }
  assert.match(out, /^written \S+\/conf\/container\.properties$/m);
  assert.match(out, /^Next:\n {2}edit /m);
});

Deno.test("init changes no existing file", async () => {
  await using at = await folder();
  await Deno.mkdir(`${at.path}/conf`);
  await Deno.writeTextFile(`${at.path}/conf/users.txt`, "mine\n", { mode: 0o604 });
  const { status, out } = await run("--directory", at.path);
  assert.equal(status, 0);
  assert.match(out, /^kept {4}\S+\/conf\/users\.txt$/m);
  assert.equal(await Deno.readTextFile(`${at.path}/conf/users.txt`), "mine\n");
  assert.equal((await filesIn(at.path))["conf/users.txt"], "604");
});

Deno.test("init names the scripts of a site, in the folder of the file that --config names", async () => {
  await using at = await folder();
  const { status, out } = await run(
    ...["--config", `${at.path}/site/conf/container.properties`, "--scripts-prefix", "unicore"],
  );
  assert.equal(status, 0);
  assert.match(out, /in the background bin\/unicore-authserver-start\.sh$/m);
  assert.deepEqual(Object.keys(await filesIn(`${at.path}/site/bin`)).sort(), [
    "launch-settings.sh",
    "unicore-authserver-start.sh",
    "unicore-authserver-status.sh",
    "unicore-authserver-stop.sh",
  ]);
});

for (
  const [args, message] of [
    [
      ["--scripts-prefix", "../x"],
      /Expected letters, digits, - _ and \. behind --scripts-prefix, found \.\.\/x/,
    ],
    [["--scripts-prefix", "a", "--system"], /Expected --scripts-prefix without --system/],
    [
      ["--config", "conf/my.properties"],
      /Expected a file such as DIR\/conf\/container\.properties behind --config/,
    ],
    [["--config", "conf/container.properties", "--system"], /Expected --config without --system/],
    [
      ["--config", "conf/container.properties", "--directory", "x"],
      /Expected --directory or --config, found both/,
    ],
  ] as const
) {
  Deno.test(`init reports ${args.join(" ")} as wrong usage`, async () => {
    const { status, err } = await run(...args);
    assert.equal(status, 2);
    assert.match(err, message);
  });
}

Deno.test("init reports why it cannot write", async () => {
  await using at = await folder();
  await Deno.writeTextFile(`${at.path}/conf`, "");
  const { status, err } = await run("--directory", at.path);
  assert.equal(status, 1);
  assert.match(err, /^authserver init: \S+\/conf\/container\.properties: /);
});

Deno.test("init --system writes a system configuration, a unit and its related files", async () => {
  await using root = await folder();
  assert.equal((await run("--system", "--directory", root.path)).status, 0);
  assert.deepEqual(await filesIn(root.path), {
    "etc/authserver/container.properties": "640",
    "etc/authserver/mapfile.json": "644",
    "etc/authserver/ssh-keys.txt": "644",
    "etc/authserver/trusted/README.txt": "644",
    "etc/authserver/users.txt": "600",
    "etc/fail2ban/filter.d/authserver.conf": "644",
    "etc/fail2ban/jail.d/authserver.conf": "644",
    "etc/logrotate.d/authserver": "644",
    "etc/systemd/system/authserver.service": "644",
    "etc/sysusers.d/authserver.conf": "644",
    "etc/tmpfiles.d/authserver.conf": "644",
  });
  const main = `${root.path}/etc/authserver/container.properties`;
  assert.doesNotMatch(await Deno.readTextFile(main), /^[^#\n]*=(?:conf|logs|data)\b/m);
  const { config, diagnostics } = await loadConfiguration(main, {
    kinds: KINDS,
    environment: () => undefined,
  });
  const beyond = diagnostics.filter(({ expected }) => !expected.includes("/etc/authserver/"));
  assert.deepEqual(beyond.map(formatDiagnostic), []);
  assert.equal(
    config?.logging.file ?? "/var/log/authserver/authserver.log",
    "/var/log/authserver/authserver.log",
  );
});

Deno.test("systemFiles() of a package and of an administrator differ only in the paths of units", () => {
  const [ours, theirs] = (["administrator", "package"] as const).map(systemFiles);
  const moved = ours?.map(({ path, ...rest }, i) => ({ ...rest, from: path, to: theirs?.[i]?.path }))
    .filter(({ from, to }) => from !== to);
  assert.deepEqual(
    moved?.map(({ from, to = "" }) => [from.replace(/\/[^/]*$/, ""), to.replace(/\/[^/]*$/, "")]),
    (["units", "sysusers", "tmpfiles"] as const).map((kind) => [
      UNIT_FOLDERS.administrator[kind],
      UNIT_FOLDERS.package[kind],
    ]),
  );
});

Deno.test("init tells the user to change to a folder that it created, but not to the current one", async () => {
  const folder = await Deno.makeTempDir();
  const steps = async (...where: readonly string[]) => {
    const main = new URL("../../../main.ts", import.meta.url).pathname;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--allow-all", main, "init", ...where],
      cwd: folder,
    }).output();
    const text = new TextDecoder();
    return `${text.decode(stdout)}${text.decode(stderr)}`;
  };
  try {
    const made = await steps("--directory", "site");
    assert.match(made, /edit site\/conf\/container\.properties[^\n]*\n[^\n]*cd site\n/);
    const here = await steps();
    assert.match(here, /edit conf\/container\.properties/);
    assert.doesNotMatch(here, /\bcd /);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
