import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { SharingSystem } from "./sharing_system.ts";

const UNZIP = await new Deno.Command("unzip", { args: ["-v"], stdout: "null", stderr: "null" }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: `the archive of a shared directory has all its files${UNZIP ? "" : " (unzip is missing)"}`,
  ignore: !UNZIP,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    const files = new Map([
      ["ten.txt", "0123456789"],
      ["sub/x.dat", "x"],
      ["sub/ä 日本.txt", "hello"],
      ["sub/deeper/large", "large ".repeat(100_000)],
      ["sub/empty", ""],
    ]);
    await Deno.mkdir(`${sharing.data}/d/sub/deeper`);
    await Deno.mkdir(`${sharing.data}/d/nothing here`);
    for (const [name, text] of files) await Deno.writeTextFile(`${sharing.data}/d/${name}`, text);
    const response = await sharing.open(`${await sharing.share("d")}/?view=zip`);
    assert.equal(response.headers["content-disposition"], 'attachment; filename="d.zip"');
    const folder = await Deno.makeTempDir();
    await Deno.writeFile(
      `${folder}/d.zip`,
      await Array.fromAsync(response).then((parts) => Buffer.concat(parts)),
    );
    const { success, stdout, stderr } = await new Deno.Command("unzip", {
      args: [`${folder}/d.zip`, "-d", folder],
      env: { LC_ALL: "C.UTF-8" },
    }).output();
    assert(success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
    for (const [name, text] of files) {
      assert.equal(await Deno.readTextFile(`${folder}/d/${name}`), text, name);
    }
    assert((await Deno.stat(`${folder}/d/nothing here`)).isDirectory);
    await sharing.sessionsClosed();
    await Deno.remove(folder, { recursive: true });
  },
});
