/** Tests the executable, built from a clean clone, with a `conf/` folder, run by an unprivileged user. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import project from "../../deno.json" with { type: "json" };
import { compile } from "../../bin/build/compile.ts";
import { bundleProgram, MODULES } from "../../bin/build/program.ts";
import { readProject, ROOT } from "../../bin/build/project.ts";
import { runTool } from "../../bin/build/run_tool.ts";
import { packSelfExtracting } from "../../bin/build/self_extracting.ts";
import { isTarget } from "../../bin/build/target.ts";
import { ask } from "../system/ask.ts";
import { ALICE, createSite } from "../system/running_service.ts";
import { EVERYTHING, tryEveryCommand } from "./every_command.ts";
import { Installation } from "./installation.ts";

const folder = await Deno.makeTempDir({ prefix: "authserver-clone-" });
const built = `${folder}/clone/dist/authserver`;

Deno.test.beforeAll(async () => {
  await runTool("git", ["clone", "--quiet", ROOT, `${folder}/clone`]);
  const version = (await Deno.readTextFile(`${folder}/clone/.deno-version`)).trim();
  await runTool("npx", ["--yes", `deno@${version}`, "task", "compile", "--sbom"], {
    cwd: `${folder}/clone`,
    env: { DENO_DIR: `${folder}/cache` },
  });
});
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));

Deno.test("the executable from a clean clone runs with an operator's configuration as an unprivileged user", async () => {
  await using site = await createSite();
  const installation = await Installation.create(site, built);
  const version = await installation.run("./authserver", ["version"]);
  assert.deepEqual([version.code, version.err], [0, ""]);
  assert.match(version.out, new RegExp(`^authserver ${RegExp.escape(project.version)} \\(Deno `));

  const init = await installation.run("./authserver", ["init", "--directory", "home/new"]);
  assert.deepEqual([init.code, init.err], [0, ""]);
  assert.equal(
    await Deno.readTextFile(`${site.folder}/home/new/conf/container.properties`),
    await Deno.readTextFile(`${ROOT}/conf/container.properties`),
  );

  const check = await installation.run("./authserver", ["check"]);
  assert.equal(check.code, 0, check.err);

  const { code, result: [page, entry] } = await installation.serve(async (port, pid) => {
    const answers = [
      await ask(`https://localhost:${port}/rest/auth`, site.authority.certificate, { as: ALICE }),
      await ask(`https://localhost:${port}/rest/auth/HPC`, site.authority.certificate, {
        as: ALICE,
        body: { serverPath: "/", client: "127.0.0.1" },
      }),
    ] as const;
    const cmdline = await Deno.readTextFile(`/proc/${pid}/cmdline`);
    assert.match(cmdline, /authserver/);
    return answers;
  });
  assert.equal(code, 0);
  assert.equal(page.status, 200);
  assert.match(page.text, new RegExp(`"${RegExp.escape(project.version)}"`), "the page shows the version");
  assert.equal(entry.status, 200);
  assert.equal(entry.json().success, true);
  const written = (await Array.fromAsync(Deno.readDir(site.folder), ({ name }) => name)).sort();
  assert.deepEqual(written, ["authserver", "conf", "home", "logs"]);
});

Deno.test("every command works in the executable, run by the account of the service", async () => {
  await using site = await createSite(EVERYTHING);
  const installation = await Installation.create(site, built);
  await installation.serve(async (port) => {
    const ready = () => ask(`https://localhost:${port}/health/ready`, site.authority.certificate);
    await until(async () => (await ready()).status === 200, { everyMs: 20 });
    await tryEveryCommand((args, input) => installation.run("./authserver", args, input));
  });
});

Deno.test("the scripts start, find and stop the executable", async () => {
  await using site = await createSite();
  await Deno.mkdir(`${site.folder}/bin`);
  for (const name of ["authserver-start", "authserver-status", "authserver-stop", "launch-settings"]) {
    await Deno.copyFile(`${ROOT}/bin/${name}.sh`, `${site.folder}/bin/${name}.sh`);
  }
  const installation = await Installation.create(site, built);
  assert.match((await installation.run("bin/authserver-start.sh")).out, /starting/);
  assert.match(await Deno.readTextFile(`${site.folder}/logs/authserver-startup.log`), /Server started/);
  assert.match((await installation.run("bin/authserver-status.sh")).out, /running with PID/);
  assert.equal((await installation.run("bin/authserver-stop.sh")).code, 0);
  assert.equal((await installation.run("bin/authserver-status.sh")).code, 7);
});

Deno.test("two builds of one commit in different folders are identical", async () => {
  assert(isTarget(Deno.build.target));
  const target = Deno.build.target;
  const outputs = [`${folder}/one`, `${folder}/two`];
  for (const output of outputs) await compile({ target, output, selfExtracting: true, sbom: true });
  const [one, two] = await Promise.all(outputs.map((output) => Deno.readFile(output)));
  assert(one !== undefined && two !== undefined && one.length > 1e6);
  assert.equal(one.length, two.length);
  assert(one.every((byte, i) => byte === two[i]));
  const head = await Deno.readFile(built);
  const clean = (await runTool("git", ["status", "--porcelain"], { cwd: ROOT })) === "";
  if (clean && head[0] === one[0] && head[1] === one[1]) assert(head.every((byte, i) => byte === one[i]));
  assert.equal(
    await Deno.readTextFile(`${folder}/one.cdx.json`),
    await Deno.readTextFile(`${folder}/two.cdx.json`),
  );
});

Deno.test("the SBOM lists the service, the runtime and every package, but no test tools", async () => {
  const bom = JSON.parse(await Deno.readTextFile(`${built}.cdx.json`));
  assert.equal(bom.bomFormat, "CycloneDX");
  assert.equal(bom.metadata.component.version, project.version);
  const names = bom.components.map(({ name }: { name: string }) => name);
  const xml = ["@xmldom/is-dom-node", "@xmldom/xmldom", "xml-crypto", "xpath"];
  const own = ["jose", "ldapts", "postgres", "ssh2", "uqr", ...xml];
  // Dependencies of the key parser, the only part of `ssh2` in the program.
  const asked = ["asn1", "bcrypt-pbkdf", "safer-buffer", "tweetnacl"];
  assert.deepEqual(names, ["deno", ...[...own, ...asked].sort()]);
  for (const { hashes, purl } of bom.components) {
    assert.match(purl, /^pkg:(npm|github)\//);
    assert.match(hashes[0].content, /^([0-9a-f]{64}|[0-9a-f]{128})$/);
  }
});

Deno.test("code planted in the executable cannot do what the service never does", async () => {
  const { version, runtimeFlags } = await readProject();
  const planted = `${ROOT}/tests/build/planted_core_worker.ts`;
  const file = packSelfExtracting({
    version,
    target: Deno.build.target,
    runtime: await Deno.readFile(Deno.execPath()),
    program: await bundleProgram({ ...MODULES, "core_worker.js": planted }),
    flags: runtimeFlags,
  });
  await using site = await createSite();
  const installation = await Installation.create(site, file);
  const { printed } = await installation.serve(async (port) => {
    const answer = await ask(`https://localhost:${port}/rest/auth`, site.authority.certificate, {
      as: ALICE,
    });
    assert.equal(answer.status, 200, "the service works all the same");
  });
  const outcomes = [...printed.matchAll(/ planted attempt="?([^"=]+)"? outcome=(\S+)/g)];
  assert.equal(outcomes.length, 12, printed);
  for (const [, attempt, outcome] of outcomes) assert.equal(outcome, "NotCapable", attempt);
});
