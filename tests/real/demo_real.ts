/** Command lines for the stock client that demo, quick start and status page print, run against the demo. */
import assert from "node:assert/strict";
import { commandLines } from "../../src/resource/command_lines.ts";
import { DEMO_USER } from "../demo/demo_configuration.ts";
import { startDemo } from "../demo/started_demo.ts";
import { formToken, Visitor } from "../system/visitor.ts";
import { hasProgram, lacking, run } from "./lacking.ts";
import { findPyuftp } from "./pyuftp.ts";

const PART = "the demo and pyuftp";

if (!await hasProgram("python3")) lacking(PART, "install python3");
else {
  const pyuftp = await findPyuftp(PART);
  if (pyuftp !== undefined) {
    Deno.test("every line that the demo prints for pyuftp works", async () => {
      await using demo = await startDemo();
      const lines = demo.printed.split("\n").map((line) => line.trim()).filter((line) =>
        line.startsWith("pyuftp ")
      );
      assert.equal(lines.length, 3);
      const folder = await Deno.makeTempDir();
      for (const line of lines) await type(line, pyuftp, folder);
      assert.equal(
        await Deno.readTextFile(`${folder}/welcome.txt`),
        "Hello from the demo transfer daemon\n",
      );
      await Deno.remove(folder, { recursive: true });
    });

    Deno.test("every line that the status page prints for pyuftp works", async () => {
      await using demo = await startDemo();
      const folder = await Deno.makeTempDir();
      await Deno.writeTextFile(`${demo.folder}/home/file.dat`, "down");
      const { name, password } = DEMO_USER;
      const [get, put, list, authenticate] = commandLines(
        `https://localhost:${demo.port}/rest/auth/DEMO`,
        { caller: { kind: "anonymous" }, userName: name, script: undefined },
      ).map(({ line }) => line.replace(`-u ${name} -P`, `-u ${name}:${password}`));
      assert.match(await type(list ?? "", pyuftp, folder), /welcome\.txt/);
      await type(get ?? "", pyuftp, folder);
      assert.equal(await Deno.readTextFile(`${folder}/file.dat`), "down");
      await Deno.writeTextFile(`${folder}/file.dat`, "up");
      await type(put ?? "", pyuftp, folder);
      assert.equal(await Deno.readTextFile(`${demo.folder}/home/file.dat`), "up");
      assert.match(await type(authenticate ?? "", pyuftp, folder), /127\.0\.0\.1/);
      await Deno.remove(folder, { recursive: true });
    });

    Deno.test("the login script gets a token with which pyuftp lists and copies", async () => {
      await using demo = await startDemo();
      const folder = await Deno.makeTempDir();
      const base = `https://localhost:${demo.port}`;
      const trusted = await Deno.readTextFile(`${demo.folder}/conf/ca-cert.pem`);
      const browser = new Visitor({ port: demo.port, authority: { certificate: trusted } });
      assert.equal((await browser.signIn([DEMO_USER.name, DEMO_USER.password])).status, 303);
      const login = `curl -fsSO ${base}/login.sh && sh login.sh`;
      const env = { HOME: folder, CURL_CA_BUNDLE: `${demo.folder}/conf/ca-cert.pem` };
      const script = new Deno.Command("sh", { args: ["-c", login], cwd: folder, env, stdout: "piped" })
        .spawn();
      let printed = "";
      for await (const text of script.stdout.pipeThrough(new TextDecoderStream())) {
        printed += text;
        const [, user_code] = /user_code=(\w{4}-\w{4})\s/.exec(printed) ?? [];
        if (user_code === undefined || printed.includes("pyuftp")) continue;
        const page = await browser.get("/login/device");
        await browser.post("/login/device/allow", { token: formToken(page), user_code });
      }
      const line = printed.split("\n").find((each) => each.startsWith("pyuftp ")) ?? "";
      const as = `HOME='${folder}' `;
      assert.match(await run("sh", ["-c", as + line.replace(/^pyuftp/, `'${pyuftp}'`)]), /welcome\.txt/);
      await Deno.remove(folder, { recursive: true });
    });
  }
}

/** Runs a line in a shell, with the real `pyuftp`. */
function type(line: string, pyuftp: string, cwd: string): Promise<string> {
  return run("sh", ["-c", line.replace(/^pyuftp\b/, `'${pyuftp}'`)], { cwd });
}
