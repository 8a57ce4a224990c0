/** Commands of the manual for `curl` and upload shares, with the real curl. */
import assert from "node:assert/strict";
import { ROOT } from "../../../bin/build/project.ts";
import { cutting } from "./cut_way.ts";
import { digestOf, largeFile } from "./large_file.ts";
import { SharingSystem } from "./sharing_system.ts";

const CURL = await new Deno.Command("curl", { args: ["--version"], stdout: "null" }).output()
  .then(({ success }) => success, () => false);
if (!CURL) console.warn("No curl on this machine, its uploads are not tried");

Deno.test({
  name: "curl resumes an upload after a lost connection, as the manual says",
  ignore: !CURL,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    await using way = cutting(sharing.system.port, [7_000_000, 9_000_000]);
    const folder = await Deno.makeTempDir();
    const digest = await largeFile(`${folder}/big.tar`, 20_000_000);
    const id = await sharing.share("d/", { access: "DROP" });
    const page = await Deno.readTextFile(`${ROOT}/docs/sharing.md`);
    const [, text = ""] = /```sh\n(link=[^]*?)```/.exec(page) ?? [];
    const [begin = "", again = ""] = text.replace(
      /https:[^"]*<id>/,
      `https://localhost:${way.port}/rest/access/HPC/${id}`,
    )
      .replaceAll("curl ", "curl -sk ").split(/^# after.*$/m);
    // The second attempt ends early, too; the third one completes the upload.
    const { stderr } = await new Deno.Command("sh", {
      args: ["-c", `${begin}\n${again}\n${again}`],
      cwd: folder,
      stdout: "null",
    }).output();
    assert.equal(new TextDecoder().decode(stderr), "");
    assert.equal(way.state.cut, 2);
    assert.equal(await digestOf(`${sharing.data}/d/big.tar`), digest);
    assert.deepEqual([...Deno.readDirSync(`${sharing.data}/d`)].map(({ name }) => name).toSorted(), [
      "big.tar",
      "sub",
      "ten.txt",
    ]);
    await Deno.remove(folder, { recursive: true });
  },
});
