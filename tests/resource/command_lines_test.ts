import assert from "node:assert/strict";
import fc from "fast-check";
import { commandLines, shellWord } from "../../src/resource/command_lines.ts";

const HREF = "https://auth.example.org/rest/auth/HPC";
const SCRIPT = "https://auth.example.org/login.sh";

/** Returns the first line, and the option in the line that lists a directory. */
function linesOf(method: string, facts: { login?: string; userName?: string; script?: string }) {
  const { login, userName, script } = facts;
  const identity = { dn: "CN=Ann", method, via: "X", login };
  const all = commandLines(HREF, { caller: { kind: "authenticated", identity }, userName, script });
  const listing = all.find(({ line }) => line.startsWith("pyuftp ls"));
  return { first: all[0]?.line, option: listing?.line.slice("pyuftp ls ".length, -` ${HREF}:./`.length) };
}

Deno.test("commandLines() log in as the caller did, with the login script where stock clients cannot", () => {
  const stored = '-A "$(cat ~/.uftp-token)"';
  const facts: readonly (readonly [string, Parameters<typeof linesOf>[1], string, string])[] = [
    ["PASSWORD_FILE", { login: "ann", userName: "ann" }, "-u ann -P", "-u ann -P"],
    ["UNITY-SAML", { userName: "ann b" }, "-u 'ann b' -P", "-u 'ann b' -P"],
    ["SSHKEY", { login: "ann" }, "-u ann -i ~/.ssh/id_ed25519", "-u ann -i ~/.ssh/id_ed25519"],
    ["SSHKEY", {}, "-u USER -i ~/.ssh/id_ed25519", "-u USER -i ~/.ssh/id_ed25519"],
    ["OAUTH", {}, stored, "-O ACCOUNT"],
    ["X509", {}, stored, "-A TOKEN"],
    ["ETD", { login: "ann" }, stored, "-A TOKEN"],
  ];
  for (const [method, login, withScript, without] of facts) {
    const by = linesOf(method, { ...login, script: SCRIPT });
    assert.equal(by.option, withScript, method);
    assert.equal(by.first?.startsWith(`curl -fsSO ${SCRIPT} && sh login.sh`), withScript === stored, method);
    const plain = linesOf(method, login);
    assert.equal(plain.option, without, method);
    assert.match(plain.first ?? "", /^pyuftp cp /, method);
  }
});

Deno.test("shellWord() leaves simple words alone and quotes all others", () => {
  assert.equal(shellWord("ann.example@site"), "ann.example@site");
  assert.equal(shellWord("a b"), "'a b'");
  assert.equal(shellWord("it's"), `'it'\\''s'`);
  assert.equal(shellWord(""), "''");
});

Deno.test("shellWord() quotes any text so that a shell reads it unchanged", async () => {
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
