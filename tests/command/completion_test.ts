import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "./recorded_io.ts";

async function script(shell: string): Promise<string> {
  const io = recordedIo();
  assert.equal(await runCommand(["completion", shell], io), 0);
  return io.out;
}

/** Returns bash's completions after these words. */
async function bashOffers(...words: string[]): Promise<string[]> {
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const code = `${await script("bash")}
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _authserver; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, success } = await new Deno.Command("bash", { args: ["-c", code] }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim().split("\n").filter((word) => word !== "");
}

const BASH: readonly [words: string[], offers: string[]][] = [
  [["authserver", "st"], ["status"]],
  [["authserver", "ban", ""], ["list", "add", "remove", "--help"]],
  [["authserver", "ban", "add", "--u"], ["--user"]],
  [["authserver", "ban", "add", "--for", ""], []],
  [["authserver", "serve", "--config", "deno.js"], ["deno.json"]],
  [["authserver", "nothing", ""], []],
];

for (const [words, offers] of BASH) {
  Deno.test({
    name: `bash completes ${words.join(" ")}`,
    ignore: !await isInstalled("bash"),
    fn: async () => assert.deepEqual(await bashOffers(...words), offers),
  });
}

Deno.test({
  name: "fish completes commands, subcommands and options",
  ignore: !await isInstalled("fish"),
  async fn() {
    const file = await Deno.makeTempFile({ suffix: ".fish" });
    await Deno.writeTextFile(file, await script("fish"));
    const offers = async (line: string) => {
      const code = `source ${file}; complete -C ${JSON.stringify(line)}`;
      const { stdout } = await new Deno.Command("fish", { args: ["--no-config", "-c", code] }).output();
      return new TextDecoder().decode(stdout).trim().split("\n").map((row) => row.split("\t")[0]);
    };
    assert.deepEqual(await offers("authserver st"), ["status"]);
    assert.deepEqual(await offers("authserver ban "), ["add", "list", "remove"]);
    assert.deepEqual(await offers("authserver ban add --u"), ["--user"]);
    await Deno.remove(file);
  },
});

for (const shell of ["bash", "zsh", "fish"]) {
  Deno.test({
    name: `${shell} can read its completion script`,
    ignore: !await isInstalled(shell),
    async fn() {
      const file = await Deno.makeTempFile();
      await Deno.writeTextFile(file, await script(shell));
      const { success, stderr } = await new Deno.Command(shell, { args: ["-n", file] }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
      await Deno.remove(file);
    },
  });
}

async function isInstalled(program: string): Promise<boolean> {
  const { success } = await new Deno.Command("which", { args: [program] })
    .output();
  return success;
}
