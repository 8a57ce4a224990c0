import assert from "node:assert/strict";
import { CommandFailed } from "../../src/command/command.ts";
import { configFile, installedFile } from "../../src/command/config_option.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "./recorded_io.ts";
import { runFromSource } from "../system/service_process.ts";

const given = (config?: string) => ({ text: () => config });

async function folder() {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** Creates a folder that only root may enter; its disposal opens it for removal. */
function closedFolder(parent: string) {
  const path = `${parent}/closed`;
  Deno.mkdirSync(path, { mode: 0 });
  return { path, [Symbol.dispose]: () => Deno.chmodSync(path, 0o700) };
}

Deno.test("configFile() prefers the installation's own file to the system's", async () => {
  await using own = await folder();
  await using system = await folder();
  const places = [own.path, system.path];
  await Deno.writeTextFile(`${system.path}/container.properties`, "");
  assert.equal(await configFile(given(), places), `${system.path}/container.properties`);
  await Deno.writeTextFile(`${own.path}/container.properties`, "");
  assert.equal(await configFile(given(), places), `${own.path}/container.properties`);
  assert.equal(await configFile(given("elsewhere"), places), "elsewhere");
});

Deno.test("configFile() reports where it looked", async () => {
  await using own = await folder();
  await assert.rejects(configFile(given(), [own.path, "/nowhere"]), (error: Error) => {
    assert(error instanceof CommandFailed);
    assert.equal(
      error.message,
      `There is neither ${own.path}/container.properties nor /nowhere/container.properties; ` +
        "expected --config FILE, or authserver init to make one",
    );
    return true;
  });
});

Deno.test("installedFile() skips a file in place of a folder", async () => {
  await using own = await folder();
  await Deno.writeTextFile(`${own.path}/conf`, "");
  assert.equal(await installedFile([`${own.path}/conf`]), undefined);
});

Deno.test({
  name: "installedFile() assumes that an inaccessible folder contains the file",
  ignore: Deno.uid() === 0,
  async fn() {
    await using own = await folder();
    using closed = closedFolder(own.path);
    assert.equal(await installedFile([closed.path]), `${closed.path}/container.properties`);
  },
});

Deno.test({
  name: "installedFile() skips an inaccessible working directory",
  ignore: Deno.uid() === 0,
  async fn() {
    await using own = await folder();
    await using system = await folder();
    await Deno.writeTextFile(`${system.path}/container.properties`, "");
    using closed = closedFolder(own.path);
    assert.equal(
      await installedFile([`${closed.path}/conf`, system.path]),
      `${system.path}/container.properties`,
    );
  },
});

Deno.test("authserver with its permissions skips an inaccessible working directory", async () => {
  await using own = await folder();
  // Root may enter any folder, unless it gives up its capabilities.
  const bare = Deno.uid() === 0 ? "setpriv --bounding-set=-all --inh-caps=-all" : "";
  const script = `mkdir closed && cd closed && chmod 0 . && exec ${bare} "$@"`;
  const { stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", script, "sh", Deno.execPath(), ...runFromSource(), "version", "--json"],
    cwd: own.path,
    env: { NO_COLOR: "1" },
  }).output();
  await Deno.chmod(`${own.path}/closed`, 0o700);
  const [said, complaint] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(complaint, "");
  assert.ok(!said?.includes(own.path) && !said?.includes('"conf/'), said);
});

Deno.test("passwd refuses an empty file name", async () => {
  const io = recordedIo();
  assert.equal(await runCommand(["passwd", "list", "--file", ""], io), 2);
  assert.match(io.err, /Expected a file name behind --file/);
});
