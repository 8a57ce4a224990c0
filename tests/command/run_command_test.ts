import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { VERSION } from "../../src/service/version.ts";
import { recordedIo } from "./recorded_io.ts";

async function run(...args: readonly string[]) {
  const io = recordedIo();
  return { status: await runCommand(args, io), out: io.out, err: io.err };
}

for (const args of [["--help"], ["-h"], ["help"]]) {
  Deno.test(`authserver ${args.join(" ")} lists all commands`, async () => {
    const { status, out } = await run(...args);
    assert.equal(status, 0);
    assert.match(out, /^Usage: authserver \[command\] \[options\]/);
  });
}

for (const args of [["help", "ban"], ["ban", "help"], ["ban", "-h"], ["ban", "--help"]]) {
  Deno.test(`authserver ${args.join(" ")} explains bans`, async () => {
    const { status, out } = await run(...args);
    assert.equal(status, 0);
    assert.match(out, /^Usage: authserver ban <command>/);
  });
}

for (const args of [["help", "ban", "add"], ["ban", "help", "add"], ["ban", "add", "-h"]]) {
  Deno.test(`authserver ${args.join(" ")} explains one of several commands`, async () => {
    const { status, out } = await run(...args);
    assert.equal(status, 0);
    assert.match(out, /^Usage: authserver ban add \[options\]/);
  });
}

Deno.test("authserver --version equals authserver version, also as JSON", async () => {
  assert.match((await run("--version")).out, new RegExp(`^authserver ${RegExp.escape(VERSION)} \\(Deno `));
  const { status, out } = await run("version", "--json", "--config", "conf/other.properties");
  assert.equal(status, 0);
  const { version, configuration, ...rest } = JSON.parse(out);
  assert.deepEqual(Object.keys(rest), ["deno", "v8", "target"]);
  assert.deepEqual([version, configuration], [VERSION, "conf/other.properties"]);
});

const MISTYPED: readonly (readonly [args: readonly string[], says: string])[] = [
  [["statsu"], 'authserver: Unknown command "statsu", did you mean status?'],
  [["help", "chek"], 'authserver: Unknown command "chek", did you mean check?'],
  [["ban", "ad"], 'authserver ban: Unknown command "ad", did you mean add?'],
  [["check", "--onlin"], "authserver check: Unknown option --onlin, did you mean --online?"],
  [["check", "--cofig=x"], "authserver check: Unknown option --cofig, did you mean --config?"],
  [["check", "--something"], "authserver check: Unknown option --something"],
  [["xyzzy"], 'authserver: Unknown command "xyzzy"'],
  [["passwd", "add", "j\ufffdrg", "--dn", "CN=J"], "authserver: Expected arguments in UTF-8"],
];
for (const [args, says] of MISTYPED) {
  Deno.test(`authserver ${args.join(" ")} reports the error, with a suggestion if one is close`, async () => {
    const { status, out, err } = await run(...args);
    assert.deepEqual([status, out, err.split("\n")[0]], [2, "", says]);
  });
}
