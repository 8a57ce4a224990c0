import assert from "node:assert/strict";
import { runCommand } from "../../../src/command/run_command.ts";
import { recordedIo } from "../recorded_io.ts";

const WRONG: readonly [what: string, args: string[], message: RegExp][] = [
  ["nobody", ["ban", "add"], /a user, an address, or both/],
  ["a host name", ["ban", "add", "--address", "host"], /an IP address such as/],
  ["an empty name", ["ban", "add", "--user", ""], /1 to 256 characters/],
  ["a time that is none", ["ban", "add", "--user", "a", "--for", "long"], /a time such as 90s/],
  [
    "a time beyond all measure",
    ["ban", "add", "--user", "a", "--for", "99999d"],
    /at most 3650d, behind --for$/m,
  ],
  ["a lift of nobody", ["ban", "remove"], /a user, an address, or both/],
  ["a user twice", ["ban", "add", "--user", "a", "--user", "b"], /given twice/],
  ["an unknown command", ["ban", "all"], /Unknown command "all"/],
  ["no account", ["user", "show"], /Expected <uid>/],
  ["an account that cannot be one", ["user", "show", "a b"], /name of a Unix account/],
  ["a shell that it does not know", ["completion", "tcsh"], /one of bash, zsh, fish/],
];

for (const [what, args, message] of WRONG) {
  Deno.test(`${args.slice(0, 2).join(" ")} refuses ${what}`, async () => {
    const io = recordedIo();
    assert.equal(await runCommand(args, io), 2);
    assert.match(io.err, message);
    assert.equal(io.out, "");
  });
}

Deno.test("commands for a running service say where they looked for it", async () => {
  const io = recordedIo();
  assert.equal(await runCommand(["ban", "list", "--socket", "/nowhere/control.sock"], io), 1);
  assert.equal(io.err, "authserver ban list: no service listens at /nowhere/control.sock\n");
});

Deno.test("commands for a running service need a configuration or a socket", async () => {
  const io = recordedIo();
  assert.equal(await runCommand(["status", "--config", "/nowhere/c"], io), 1);
  assert.match(io.err, /expected --socket PATH or a configuration that can be read/);
});
