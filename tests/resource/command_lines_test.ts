import assert from "node:assert/strict";
import fc from "fast-check";
import { commandLines, shellWord } from "../../src/resource/command_lines.ts";

Deno.test("commandLines() are those of the stock client, for password and key", () => {
  const [, , list] = commandLines("https://auth.example.org/rest/auth/HPC", "ann");
  assert.equal(list?.line, "pyuftp ls -u ann -P https://auth.example.org/rest/auth/HPC:./");
  const [byKey] = commandLines("https://auth.example.org/rest/auth/HPC", undefined);
  assert.match(byKey?.line ?? "", /-i ~\/\.ssh\/id_ed25519/);
});

Deno.test("shellWord() leaves simple words alone and quotes all others", () => {
  assert.equal(shellWord("ann.example@site"), "ann.example@site");
  assert.equal(shellWord("a b"), "'a b'");
  assert.equal(shellWord("it's"), `'it'\\''s'`);
  assert.equal(shellWord(""), "''");
});

Deno.test("a shell takes any text of shellWord() as it is", async () => {
  const text = fc.string({ unit: fc.constantFrom(..."ab'\"\\$`!;&|<>(){}*?~# \t\n-") });
  await fc.assert(
    fc.asyncProperty(text, async (words) => {
      const { stdout } = await new Deno.Command("/bin/sh", { args: ["-c", `printf %s ${shellWord(words)}`] })
        .output();
      assert.equal(new TextDecoder().decode(stdout), words);
    }),
    { numRuns: 30 },
  );
});
