/** The demo as the task starts it: same flags, real requests. */
import assert from "node:assert/strict";
import { readProject } from "../../bin/build/project.ts";
import { ask } from "../system/ask.ts";
import { DEMO_USER } from "./demo_configuration.ts";
import { DEMO_ARGUMENTS, startDemo } from "./started_demo.ts";

Deno.test("the demo has the permissions of the product, and may run programs for several instances", async () => {
  const allowed = (flags: readonly string[]) => flags.filter((flag) => flag.startsWith("--allow-"));
  assert.deepEqual(allowed(DEMO_ARGUMENTS), [
    ...allowed((await readProject()).programFlags),
    "--allow-run",
  ]);
});

Deno.test("the demo serves its user, and everybody with a link to a shared file of its daemon", async () => {
  await using demo = await startDemo();
  assert.match(demo.printed, /It answers 200:/);
  const url = `https://localhost:${demo.port}/rest`;
  const trusted = await Deno.readTextFile(`${demo.folder}/conf/ca-cert.pem`);
  const as = [DEMO_USER.name, DEMO_USER.password] as const;
  const made = await ask(`${url}/share/DEMO`, trusted, {
    as,
    body: {
      path: `${demo.folder}/home/welcome.txt`,
      user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN",
      access: "READ",
    },
  });
  assert.equal(made.status, 201, made.text);
  const share = await ask(String(made.headers.location), trusted, { as });
  const [, link = ""] = /"http": *"([^"]+)"/.exec(share.text) ?? [];
  const file = await ask(link, trusted);
  assert.deepEqual([file.status, file.text], [200, "Hello from the demo transfer daemon\n"]);
});
