import assert from "node:assert/strict";
import { inspectKeys } from "../../../src/authentication/ssh_key/inspect.ts";
import { certificateLine } from "./certificate/certificates.ts";

Deno.test("inspectKeys() names what cannot be used in the files of authorities and of revoked keys", async () => {
  const folder = await Deno.makeTempDir();
  const [authorities, revoked] = [`${folder}/ssh_ca.pub`, `${folder}/revoked`];
  const found = async (first: string, second: string) => {
    await Deno.writeTextFile(authorities, first);
    await Deno.writeTextFile(revoked, second);
    const { problems } = await inspectKeys({
      name: "SSHKEY",
      kind: "SSHKeyAuthenticator",
      file: undefined,
      dnTemplate: "CN=%s",
      certificateAuthorities: authorities,
      revokedKeys: revoked,
    });
    return problems.map(({ file, line, expected }) => [file, line, expected]);
  };
  const key = certificateLine("ca_ed25519");
  assert.deepEqual(await found(`${key}\n`, "# none\n"), []);
  assert.deepEqual(await found(`${key}\nhello\n`, `${key}\nssh-ed25519 x\n`), [
    [authorities, 2, "authority is not used: no key type where one belongs"],
    [revoked, undefined, "line 2: key is not in base64"],
  ]);
  await Deno.remove(folder, { recursive: true });
});
