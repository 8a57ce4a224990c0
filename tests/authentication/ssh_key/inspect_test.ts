import assert from "node:assert/strict";
import { inspectKeys } from "../../../src/authentication/ssh_key/keys_file.ts";
import { certificateLine } from "./certificate/certificates.ts";

Deno.test("inspectKeys() does not wait for a pipe in place of a list of revoked keys, and reads no list that is too large", async () => {
  const folder = await Deno.makeTempDir();
  const found = async (revokedKeys: string) =>
    (await inspectKeys({
      file: undefined,
      certificateAuthorities: undefined,
      revokedKeys,
    })).diagnostics.map(({ file, expected }) => [file, expected]);
  const [pipe, large] = [`${folder}/pipe`, `${folder}/large`];
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  assert.deepEqual(await found(pipe), [], "that is told where files are expected");
  await Deno.writeFile(large, new Uint8Array());
  await Deno.truncate(large, 64 * 1024 ** 2 + 1);
  assert.deepEqual(await found(large), [[large, `expected at most ${64 * 1024 ** 2}`]]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("inspectKeys() reports unusable lines in the files of authorities and of revoked keys", async () => {
  const folder = await Deno.makeTempDir();
  const [authorities, revoked] = [`${folder}/ssh_ca.pub`, `${folder}/revoked`];
  const found = async (first: string, second: string) => {
    await Deno.writeTextFile(authorities, first);
    await Deno.writeTextFile(revoked, second);
    const { diagnostics } = await inspectKeys({
      file: undefined,
      certificateAuthorities: authorities,
      revokedKeys: revoked,
    });
    return diagnostics.map(({ file, line, expected }) => [file, line, expected]);
  };
  const key = certificateLine("ca_ed25519");
  assert.deepEqual(await found(`${key}\n`, "# none\n"), []);
  assert.deepEqual(await found(`${key}\nhello\n`, `${key}\nssh-ed25519 x\n`), [
    [authorities, 2, "authority is not used: no key type where one belongs"],
    [revoked, undefined, "line 2: key is not in base64"],
  ]);
  await Deno.remove(folder, { recursive: true });
});
