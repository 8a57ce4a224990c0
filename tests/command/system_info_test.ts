import assert from "node:assert/strict";

/** Script for a separate process, since a process cannot regain revoked permissions. */
const SCRIPT = `
  import { copySystemInfo, dropSystemAccess } from ${
  JSON.stringify(new URL("../../src/command/system_info.ts", import.meta.url).href)
};
  import { resolveHost } from ${
  JSON.stringify(new URL("../../src/workers/permissions.ts", import.meta.url).href)
};
  const { environment, hostName } = copySystemInfo();
  await dropSystemAccess();
  const refused = (look) => {
    try {
      look();
      return false;
    } catch (error) {
      return error instanceof Deno.errors.NotCapable;
    }
  };
  console.log(JSON.stringify({
    remembered: [environment("REMEMBERED"), environment("UNKNOWN") ?? null, hostName().length > 0],
    refused: [
      refused(() => Deno.env.get("REMEMBERED")),
      refused(() => Deno.env.toObject()),
      refused(() => Deno.env.set("REMEMBERED", "2")),
      refused(() => Deno.hostname()),
      refused(() => Deno.uid()),
      refused(() => Deno.systemMemoryInfo()),
    ],
    lookUp: await resolveHost("localhost") !== undefined,
  }));
`;

for (
  const [what, allowed] of [
    ["the program's permissions", ["--allow-env", "--allow-sys=hostname,uid", "--allow-net"]],
    ["all permissions", ["--allow-all"]],
  ] as const
) {
  Deno.test(`dropSystemAccess() permanently revokes access to environment and system, with ${what}`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(`${folder}/script.ts`, SCRIPT);
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-check", "--no-prompt", "--no-lock", ...allowed, `${folder}/script.ts`],
        env: { REMEMBERED: "1", NO_COLOR: "1" },
      }).output();
      const printed = new TextDecoder().decode(stdout);
      assert(printed !== "", new TextDecoder().decode(stderr));
      assert.deepEqual(JSON.parse(printed), {
        remembered: ["1", null, true],
        refused: [true, true, true, true, true, true],
        lookUp: true,
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
