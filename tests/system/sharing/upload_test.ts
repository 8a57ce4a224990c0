/** Uploads into shares, also with the real curl as in the manual. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { ROOT } from "../../../bin/build/project.ts";
import { cutting } from "./cut_way.ts";
import { digestOf, largeFile } from "./large_file.ts";
import { answerTo, SharingSystem, textOf } from "./sharing_system.ts";

const MIB = 1024 ** 2;
const WRITE = { access: "WRITE" };

const CURL = await new Deno.Command("curl", { args: ["--version"], stdout: "null" }).output()
  .then(({ success }) => success, () => false);
if (!CURL) console.warn("No curl on this machine, its uploads are not tried");

const sharing = await SharingSystem.open();
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

Deno.test("clients can upload files to a shared directory, with and without Content-Length", async () => {
  const id = await sharing.share("d", WRITE);
  const bodies: [name: string, body: string, headers: Record<string, string>][] = [
    ["plain", "0123456789", { "Content-Length": "10" }],
    ["chunked", "0123456789", { "Transfer-Encoding": "chunked" }],
    ["empty", "", { "Content-Length": "0" }],
    ["empty-chunked", "", { "Transfer-Encoding": "chunked" }],
    ["typed", "{}", { "Content-Length": "2", "Content-Type": "application/json" }],
    ["sub/below", "abc", { "Content-Length": "3", Expect: "100-continue" }],
    ["ten.txt", "replaced", { "Content-Length": "8" }],
    ["big", "x".repeat(3 * MIB), { "Transfer-Encoding": "chunked" }],
  ];
  for (const [name, body, headers] of bodies) {
    const outgoing = sharing.begin(`${id}/${name}`, { method: "PUT", headers });
    outgoing.end(body);
    const response = await answerTo(outgoing);
    assert.equal(response.statusCode, name === "ten.txt" ? 200 : 201, `${name}: ${await textOf(response)}`);
    const written = await Deno.readTextFile(`${sharing.data}/d/${name}`);
    assert.ok(written === body, `${name}: ${written.length} bytes written`);
  }
  const coded = sharing.begin(`${id}/coded`, {
    method: "PUT",
    headers: { "Content-Encoding": "gzip, identity" },
  });
  coded.end("no matter what");
  const { statusCode, headers } = await answerTo(coded);
  assert.deepEqual([statusCode, headers["accept-encoding"]], [415, "identity"]);
  await assert.rejects(Deno.stat(`${sharing.data}/d/coded`), Deno.errors.NotFound);
  const plain = sharing.begin(`${id}/coded`, { method: "PUT", headers: { "Content-Encoding": "identity" } });
  plain.end("as it is");
  assert.equal((await answerTo(plain)).statusCode, 201);
  const refused = sharing.begin(`${id}/ten.txt`, { method: "PUT", headers: { "If-None-Match": "*" } });
  refused.end("once more");
  assert.equal((await answerTo(refused)).statusCode, 412);
  assert.equal(await Deno.readTextFile(`${sharing.data}/d/ten.txt`), "replaced");
  await sharing.sessionsClosed();
  assert.equal((await sharing.fetch(`${id}/sub/below`)).text, "abc");
});

Deno.test("an upload to a name too long for a file system is refused as a client error", async () => {
  const id = await sharing.share("d", WRITE);
  // The second name has 128 characters of two bytes each.
  for (const name of ["n".repeat(256), encodeURIComponent("ä".repeat(128))]) {
    const outgoing = sharing.begin(`${id}/${name}`, { method: "PUT" });
    outgoing.end("x");
    const response = await answerTo(outgoing);
    const text = await textOf(response);
    assert.equal(response.statusCode, 400, text);
    assert.match(text, /ERR_INVALID_PATH/);
  }
  const longest = sharing.begin(`${id}/${"n".repeat(255)}`, { method: "PUT" });
  longest.end("x");
  assert.equal((await answerTo(longest)).statusCode, 201);
});

Deno.test("an upload whose client disconnects is recorded as incomplete, not as a success", async () => {
  const id = await sharing.share("d", WRITE);
  const begun = sharing.system.log.length;
  for (
    const [name, value] of [["Content-Length", String(4 * MIB)], ["Transfer-Encoding", "chunked"]] as const
  ) {
    const before = sharing.system.log.length;
    const outgoing = sharing.begin(`${id}/cut`, { method: "PUT", headers: { [name]: value } });
    outgoing.on("error", () => {}); // the test cuts this connection
    outgoing.write("x".repeat(MIB));
    await arrived(`${sharing.data}/d/cut`);
    outgoing.destroy();
    await sharing.system.logged(/share use ended .*HTTP-upload.*complete=false/, before);
    // The client caused it, not a defect of the service.
    await sharing.system.logged(/request answered (?=.*method=PUT).*status=4\d\d/, before);
    await sharing.sessionsClosed();
    await Deno.remove(`${sharing.data}/d/cut`);
  }
  assert.equal(sharing.system.log.slice(begun).filter((line) => / error /.test(line)).join("\n"), "");
});

Deno.test("a refused upload gets its answer before the body has arrived", async () => {
  const [readOnly, writable] = [await sharing.share("d"), await sharing.share("d/sub", WRITE)];
  const refusals: [path: string, status: number, headers: Record<string, string>][] = [
    [`${readOnly}/new`, 403, {}],
    [`${writable}/`, 400, {}],
    [`${writable}/nowhere/new`, 404, {}],
    [`${writable}/new`, 400, { "Content-Range": "bytes 0-1/2" }],
    ["unknown/new", 404, {}],
  ];
  for (const [path, status, headers] of refusals) {
    const outgoing = sharing.begin(path, {
      method: "PUT",
      headers: { "Content-Length": String(8 * MIB), ...headers },
    });
    outgoing.write("x".repeat(MIB));
    const response = await answerTo(outgoing);
    const answer = JSON.parse(await textOf(response));
    assert.deepEqual(
      [response.statusCode, answer.status],
      [status, status],
      `${path}: ${answer.errorMessage}`,
    );
    outgoing.destroy();
  }
  await sharing.sessionsClosed();
  assert.equal(await Deno.stat(`${sharing.data}/d/new`).catch(() => "absent"), "absent");
});

Deno.test({
  name: "curl resumes an upload after a lost connection, as the manual says",
  ignore: !CURL,
  fn: async () => {
    const target = `${sharing.data}/by curl`;
    await Deno.mkdir(target);
    await using way = cutting(sharing.system.port, [7_000_000, 9_000_000]);
    const folder = await Deno.makeTempDir();
    const digest = await largeFile(`${folder}/big.tar`, 20_000_000);
    const id = await sharing.share("by curl/", { access: "DROP" });
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
    assert.equal(await digestOf(`${target}/big.tar`), digest);
    assert.deepEqual([...Deno.readDirSync(target)].map(({ name }) => name), ["big.tar"]);
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("an upload to a daemon that reads nothing is held back, in constant memory", async () => {
  const id = await sharing.share("d", WRITE);
  const before = sharing.system.log.length;
  sharing.system.daemon().sessionFaults.always = { kind: "silent-data" };
  const outgoing = sharing.begin(`${id}/stuck`, {
    method: "PUT",
    headers: { "Transfer-Encoding": "chunked" },
  });
  outgoing.on("error", () => {}); // the test cuts this connection
  let taken = 0;
  const part = new Uint8Array(MIB);
  // Writes one part after the other, until the service accepts no more in time.
  for (; taken < 64; taken++) {
    if (outgoing.write(part)) continue;
    const drained = await Promise.race([
      once(outgoing, "drain").then(() => true),
      new Promise<boolean>((resolve) => setTimeout(resolve, 1000, false)),
    ]);
    if (!drained) break;
  }
  outgoing.destroy();
  assert.ok(taken < 40, `${taken} MiB taken for a daemon that takes nothing`);
  // Nobody reads the connection, so the service does not see its end: the daemon ends the upload, at the
  // latest by its silence.
  await sharing.system.daemon().stop();
  assert.match(await sharing.system.logged(/share use ended/, before), /complete=false/);
  sharing.system.daemon().sessionFaults.always = undefined;
  await sharing.system.daemon().start();
});

/** Waits until a file has some content. */
async function arrived(path: string): Promise<void> {
  for (const end = performance.now() + 5000;;) {
    assert.ok(performance.now() < end, `nothing arrived in ${path}`);
    const { size } = await Deno.stat(path).catch(() => ({ size: 0 }));
    if (size > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
