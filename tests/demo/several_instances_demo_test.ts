/** The demo of several instances, as its task starts it. */
import assert from "node:assert/strict";
import { ROOT } from "../../bin/build/project.ts";
import { HAPROXY } from "../fixtures/haproxy.ts";
import { POSTGRES } from "../fixtures/postgres.ts";
import { readDemoArguments, WrongArguments } from "./demo_arguments.ts";
import { requireForSeveral } from "./demo_requirements.ts";
import { DEMO_ARGUMENTS } from "./started_demo.ts";

if (HAPROXY === undefined) {
  console.warn("No HAProxy on this machine, its tests are skipped: apt-get install haproxy");
}

async function demo(...args: readonly string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...DEMO_ARGUMENTS, ...args],
    cwd: ROOT,
    stdin: "null",
    env: { NO_COLOR: "1" },
  }).output();
  const [out = "", errors = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, out, errors };
}

Deno.test({
  name: "the client of the demo with three instances continues while one of them is killed",
  ignore: POSTGRES === undefined || HAPROXY === undefined,
}, async () => {
  const { code, out, errors } = await demo("--instances", "3", "--port", "0", "--once");
  assert.equal(code, 0, out + errors);
  const [before = "", without = "", after = ""] = out.split(/^Instance 3 .*\n/m);
  const answers = (text: string) =>
    [...text.matchAll(/^ +\d+ s .* ms +(\d+) +(\d+) +(\d+)$/gm)].map(([, ...counts]) => counts.map(Number));
  const sums = (text: string) =>
    answers(text).reduce((sums, line) => sums.map((n, i) => n + (line[i] ?? 0)), [0, 0, 0]);
  const total = (text: string) => sums(text).reduce((sum, n) => sum + n, 0);
  assert.ok(total(before) > 0 && total(without) > 0, out);
  assert.equal(answers(without).at(-1)?.[2], 0, out);
  assert.ok((sums(after)[2] ?? 0) > 0, out);
  assert.match(out, /^The client: \d+ logins and \d+ sessions, /m);
});

Deno.test("the demo reports wrong arguments", async () => {
  const wrong: readonly (readonly [args: string, said: RegExp])[] = [
    ["--instances 0", /^demo: --instances: found "0", expected 2 to 9 /],
    ["--instances x", /^demo: --instances: found "x", expected 2 to 9 /],
    ["--instances 10", /^demo: --instances: found "10", expected 2 to 9 /],
    ["--port 65536", /^demo: --port: found "65536", expected a port, 0 to 65535\n/],
    ["--instance 3", /^demo: .*--instance'/],
  ];
  for (const [args, said] of wrong) {
    assert.throws(() => readDemoArguments(args.split(" ")), (error) => {
      assert.ok(error instanceof WrongArguments);
      assert.match(`demo: ${error.message}\n`, said);
      return true;
    });
  }
  const { code, out, errors } = await demo("--instances", "0");
  assert.deepEqual([code, out], [2, ""]);
  assert.match(errors, /^demo: --instances: found "0", expected 2 to 9 [^]*Usage: deno task demo /);
});

Deno.test("the demo of several instances lists missing programs", () => {
  requireForSeveral({ postgres: "/usr/lib/postgresql/15/bin", haproxy: "/usr/sbin/haproxy" });
  assert.throws(
    () => requireForSeveral({ postgres: undefined, haproxy: "/usr/sbin/haproxy" }),
    /missing here \(Debian\): apt-get install postgresql$/,
  );
  assert.throws(
    () => requireForSeveral({ postgres: undefined, haproxy: undefined }),
    /install postgresql haproxy$/,
  );
});
