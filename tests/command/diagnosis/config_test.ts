import assert from "node:assert/strict";
import { runCommand } from "../../../src/command/run_command.ts";
import { MINIMAL } from "../../config/load_fixture.ts";
import { recordedIo } from "../recorded_io.ts";

async function show(lines: string, ...args: string[]) {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/c`;
    await Deno.writeTextFile(file, `${MINIMAL}${lines}\n`, { mode: 0o600 });
    const io = recordedIo();
    const status = await runCommand(["config", "show", "--config", file, ...args], io);
    return { status, out: io.out.replaceAll(folder, ""), err: io.err.replaceAll(folder, "") };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("config show prints file and line of configured keys, and marks defaults", async () => {
  const { status, out, err } = await show("container.port=9000");
  assert.equal(err, "");
  assert.equal(status, 0);
  assert.match(out, /^container\.port = 9000 +# \/c:9$/m);
  assert.match(out, /^container\.sitename = DEMO-SITE +# default$/m);
  assert.match(out, /^authservice\.server\.HPC\.commandPort = 64435 +# \/c:7$/m);
  assert.match(out, /^# Failed logins$/m);
  assert.doesNotMatch(out, /externalurl/, "neither set nor with a default");
});

Deno.test("config show --all prints all possible keys", async () => {
  const { out } = await show("", "--all");
  assert.match(out, /^container\.externalurl = +# default$/m);
});

Deno.test("config show replaces variables", async () => {
  const { out } = await show("$var.SITE=HERE\ncontainer.sitename=${SITE}");
  assert.match(out, /^container\.sitename = HERE +# \/c:10$/m);
});

const SECRETS: readonly [what: string, lines: string][] = [
  ["of the key store", "container.security.credential.password=canary-4711"],
  ["of issued tokens", `container.security.rest.jwt.hmacSecret=canary-4711${"x".repeat(32)}`],
  ["too short to be used", "container.security.rest.jwt.hmacSecret=canary-4711"],
  ["from a variable", "$var.S=canary-4711\ncontainer.security.credential.password=${S}"],
  ["in a URL, where it does not belong", "container.externalurl=https://ann:canary-4711@gw:1/X"],
  ["in a URL of baseurl", "container.baseurl=https://ann:canary-4711@gw:1/X/services"],
];

for (const [what, lines] of SECRETS) {
  for (const form of [[], ["--json"], ["--all"]]) {
    Deno.test(`config show ${form.join("")} prints no secret ${what}`, async () => {
      const { out, err } = await show(lines, ...form);
      assert.doesNotMatch(out + err, /canary/);
      assert.match(out, /\*\*\*/);
    });
  }
}

Deno.test("config show prints the file of a secret, but never the secret", async () => {
  const secret = await Deno.makeTempFile();
  await Deno.writeTextFile(secret, "canary-4711");
  try {
    for (const form of [[], ["--json"], ["--all"]]) {
      const { out, err } = await show(`container.security.credential.passwordFile=${secret}`, ...form);
      assert.doesNotMatch(out + err, /canary/);
      assert(out.includes(secret) && out.includes("***"), out);
    }
  } finally {
    await Deno.remove(secret);
  }
});

Deno.test("config show prints the valid keys of a configuration with errors, and the errors", async () => {
  const { status, out, err } = await show("container.port=x");
  assert.equal(status, 1);
  assert.match(out, /^container\.sitename = /m);
  assert.match(err, /^error: \/c:9: container\.port = x: expected a port number/m);
});

Deno.test("config show escapes terminal control characters in values", async () => {
  const { out } = await show("container.sitename=a\\u001b[2Jb\\u202ec");
  assert.match(out, /^container\.sitename = a\\u001b\[2Jb\\u202ec /m);
});

Deno.test("config show fails for a missing file", async () => {
  const io = recordedIo();
  assert.equal(await runCommand(["config", "show", "--config", "/nowhere/c"], io), 1);
  assert.match(io.err, /there is no such file/);
});
