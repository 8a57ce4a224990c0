/** WebDAV with Debian's programs litmus and rclone, against the service with the flags of the product. */
import assert from "node:assert/strict";
import { bothWays, litmus, LITMUS_EXCEPTIONS } from "./dav_clients.ts";
import { LONG } from "../long/results.ts";
import { ALICE, runService, type SystemUnderTest } from "./running_service.ts";

const installed = async (name: string) =>
  (await new Deno.Command("which", { args: [name], stdout: "null", stderr: "null" }).output()).success;
const LITMUS = await installed("litmus");
const RCLONE = await installed("rclone");

let system: SystemUnderTest | undefined;
Deno.test.afterAll(() => system?.[Symbol.asyncDispose]());

async function address(): Promise<string> {
  system ??= await runService({
    properties: { "container.feature.Files.enable": "true", "persistence.directory": "{folder}" },
  });
  return `https://localhost:${system.port}/dav/HPC/~/`;
}

Deno.test({
  name: "litmus passes, except for tests that the manual lists",
  ignore: !LITMUS,
  fn: async () => {
    const failed = await litmus(await address(), ALICE);
    assert.deepEqual(failed.filter((name) => !LITMUS_EXCEPTIONS.includes(name)), []);
  },
});

Deno.test({
  name: "rclone uploads a tree, compares it, and downloads it again",
  ignore: !RCLONE,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    await bothWays(await address(), ALICE, folder, LONG ? 200 : 4);
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("WebDAV accepts no cookies", async () => {
  await address();
  const asked = await system?.ask("/dav/HPC/~/", { method: "GET", headers: { Cookie: "__Host-session=x" } });
  assert.equal(asked?.status, 401);
});
