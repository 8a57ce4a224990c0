/** Tests that packages with one `SOURCE_DATE_EPOCH` are identical; for the program: `executable_long.ts`. */
import assert from "node:assert/strict";
import { runTool } from "../../bin/build/run_tool.ts";

const there = (tool: string) => runTool(tool, ["--version"]).then(() => true, () => false);
const SCRIPT = new URL("./packages_to.ts", import.meta.url).pathname;

Deno.test({
  name: "two builds of each package with one SOURCE_DATE_EPOCH are identical under any umask",
  ignore: !await there("dpkg-deb") || !await there("rpmbuild"),
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const sums: string[] = [];
      for (const umask of ["022", "077"]) {
        await Deno.mkdir(`${folder}/${umask}`);
        const run = [Deno.execPath(), "run", "--no-check", "-A", SCRIPT, `${folder}/${umask}`];
        await runTool("sh", ["-c", 'umask "$0"; exec "$@"', umask, ...run], {
          env: { SOURCE_DATE_EPOCH: "1780000000" },
        });
        sums.push(
          await runTool("sha256sum", ["all.tar.gz", "all.deb", "all.rpm"], { cwd: `${folder}/${umask}` }),
        );
      }
      assert.equal(sums[0], sums[1]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
