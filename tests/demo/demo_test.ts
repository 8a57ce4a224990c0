/** The demo as the task starts it: same flags, real requests. */
import assert from "node:assert/strict";
import project from "../../deno.json" with { type: "json" };
import { readProject, ROOT } from "../../bin/build/project.ts";
import { ask } from "../system/ask.ts";
import { DEMO_USER } from "./demo_configuration.ts";

const [, ...words] = project.tasks.demo.command.split(" ");

Deno.test("the demo has the permissions of the product, and no others", async () => {
  const allowed = (flags: readonly string[]) => flags.filter((flag) => flag.startsWith("--allow-"));
  assert.deepEqual(allowed(words), allowed((await readProject()).programFlags));
});

Deno.test("the demo serves its user, shares a file of its daemon, and gives it to whoever has the link", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...words, "--port", "0"],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  try {
    let printed = "";
    const output = child.stdout.pipeThrough(new TextDecoderStream()).values();
    while (!printed.includes("Press Ctrl-C")) {
      const { done, value } = await output.next();
      assert(!done, printed);
      printed += value;
    }
    const [, port] = /https:\/\/localhost:(\d+)\/rest\/auth/.exec(printed) ?? [];
    const [, folder] = /The configuration is in (\S+)\/conf/.exec(printed) ?? [];
    assert.match(printed, /It answers 200:/);
    const url = `https://localhost:${port}/rest`;
    const trusted = await Deno.readTextFile(`${folder}/conf/ca-cert.pem`);
    const made = await ask(`${url}/share/DEMO`, trusted, {
      as: [DEMO_USER.name, DEMO_USER.password],
      body: { path: `${folder}/home/welcome.txt`, user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN", access: "READ" },
    });
    assert.equal(made.status, 201, made.text);
    const share = await ask(String(made.headers.location), trusted, {
      as: [DEMO_USER.name, DEMO_USER.password],
    });
    const [, link = ""] = /"http": *"([^"]+)"/.exec(share.text) ?? [];
    const file = await ask(link, trusted);
    assert.deepEqual([file.status, file.text], [200, "Hello from the demo transfer daemon\n"]);
    await output.return?.();
  } finally {
    child.kill("SIGTERM");
    assert.equal((await child.status).code, 0);
  }
});
