import assert from "node:assert/strict";
import { runCommand } from "../../../src/command/run_command.ts";
import { recordedIo } from "../recorded_io.ts";

const WRONG: readonly [what: string, args: string[], message: RegExp][] = [
  ["nobody", ["ban", "add"], /a user, an address, or both/],
  ["a host name", ["ban", "add", "--address", "host"], /an IP address such as/],
  ["an empty name", ["ban", "add", "--user", ""], /1 to 256 characters/],
  ["an invalid time", ["ban", "add", "--user", "a", "--for", "long"], /a time such as 90s/],
  [
    "an excessive time",
    ["ban", "add", "--user", "a", "--for", "99999d"],
    /at most 3650d, behind --for$/m,
  ],
  [
    "a timeout that no timer can wait for",
    ["status", "--timeout", "25d"],
    /such as 5, 5s or 1m, at most 1d, behind --timeout$/m,
  ],
  ["a removal without a subject", ["ban", "remove"], /a user, an address, or both/],
  ["a duplicate user", ["ban", "add", "--user", "a", "--user", "b"], /given twice/],
  ["an unknown command", ["ban", "all"], /Unknown command "all"/],
  ["no account", ["user", "show"], /Expected <uid>/],
  ["an invalid account", ["user", "show", "a b"], /name of a Unix account/],
  ["an unknown shell", ["completion", "tcsh"], /one of bash, zsh, fish/],
];

for (const [what, args, message] of WRONG) {
  Deno.test(`${args.slice(0, 2).join(" ")} refuses ${what}`, async () => {
    const io = recordedIo();
    assert.equal(await runCommand(args, io), 2);
    assert.match(io.err, message);
    assert.equal(io.out, "");
  });
}

Deno.test("commands for a running service report where they looked for it", async () => {
  const io = recordedIo();
  assert.equal(await runCommand(["ban", "list", "--socket", "/nowhere/control.sock"], io), 1);
  assert.equal(io.err, "authserver ban list: no service listens at /nowhere/control.sock\n");
});

Deno.test("commands for a running service require a configuration or a socket", async () => {
  const io = recordedIo();
  assert.equal(await runCommand(["status", "--config", "/nowhere/c"], io), 1);
  assert.match(io.err, /expected --socket PATH or a configuration that can be read/);
});
