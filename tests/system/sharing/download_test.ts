/** Downloads, listings and archives of shares, and shares for one use. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent } from "node:https";
import { backPressureOf } from "../../../src/edge/back_pressure.ts";
import { Chromium, findChromium } from "../../browser/chromium.ts";
import { until } from "../../fixtures/deadline.ts";
import { LONG } from "../../long/results.ts";
import { ALICE } from "../running_service.ts";
import { BOB, SharingSystem } from "./sharing_system.ts";

const MIB = 1024 ** 2;
/** More bytes than all buffers on the path hold. */
const BIG = 24 * MIB;

/** Number of clients that use a share for one use at the same time. */
const CLIENTS = LONG ? 50 : 16;

const UNZIP = await new Deno.Command("unzip", { args: ["-v"], stdout: "null", stderr: "null" }).output()
  .then(({ success }) => success, () => false);
const BROWSER = await findChromium();

const sharing = await SharingSystem.open();
const { system, data } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

Deno.test("clients can download a shared file whole and in part, and ask for its size", async () => {
  await Deno.utime(`${data}/d/ten.txt`, 1_700_000_000, 1_700_000_000);
  const id = await sharing.share("d/ten.txt");
  const whole = await sharing.fetch(id);
  assert.deepEqual([whole.status, whole.text], [200, "0123456789"]);
  const { headers } = whole;
  assert.equal(headers["content-length"], "10");
  assert.equal(headers["accept-ranges"], "bytes");
  assert.equal(headers["last-modified"], "Tue, 14 Nov 2023 22:13:20 GMT");
  assert.equal(headers["content-disposition"], 'attachment; filename="ten.txt"');
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.match(String(headers["content-security-policy"]), /sandbox/);
  const etag = headers.etag ?? "";

  const head = await sharing.fetch(id, { method: "HEAD" });
  assert.deepEqual([head.status, head.text, head.headers["content-length"]], [200, "", "10"]);

  const ranges: [headers: Record<string, string>, status: number, range: string | undefined, text: string][] =
    [
      [{ Range: "bytes=2-4" }, 206, "bytes 2-4/10", "234"],
      [{ Range: "bytes=7-" }, 206, "bytes 7-9/10", "789"],
      [{ Range: "bytes=-3" }, 206, "bytes 7-9/10", "789"],
      [{ Range: "bytes=8-500" }, 206, "bytes 8-9/10", "89"],
      [{ Range: "bytes=0-1,5-6" }, 200, undefined, "0123456789"],
      [{ Range: "bytes=9-3" }, 200, undefined, "0123456789"],
      [{ Range: "bytes=10-" }, 416, "bytes */10", ""],
      [{ Range: "bytes=-0" }, 416, "bytes */10", ""],
      [{ Range: "bytes=2-4", "If-Range": etag }, 206, "bytes 2-4/10", "234"],
      [{ Range: "bytes=2-4", "If-Range": '"another"' }, 200, undefined, "0123456789"],
      [{ Range: "bytes=2-4", "If-Range": "Tue, 14 Nov 2023 22:13:20 GMT" }, 206, "bytes 2-4/10", "234"],
      [{ Range: "bytes=2-4", "If-Range": "Tue, 14 Nov 2023 22:13:21 GMT" }, 200, undefined, "0123456789"],
      [{ "If-None-Match": etag }, 304, undefined, ""],
      [{ "If-Match": '"another"' }, 412, undefined, ""],
    ];
  for (const [headers, status, range, text] of ranges) {
    const answer = await sharing.fetch(id, { headers });
    const what = JSON.stringify(headers);
    assert.deepEqual(
      [answer.status, answer.headers["content-range"], answer.text],
      [status, range, text],
      what,
    );
    if (status !== 304) assert.equal(answer.headers["content-length"], String(text.length), what);
  }
});

Deno.test("clients can list a shared directory, and download files below it", async () => {
  const id = await sharing.share("d");
  const page = await sharing.fetch(id);
  assert.match(page.headers["content-type"] ?? "", /^text\/html/);
  const json = JSON.parse((await sharing.fetch(id, { headers: { Accept: "application/json" } })).text);
  assert.deepEqual(json.entries.map(({ name }: { name: string }) => name), ["sub", "ten.txt"]);
  assert.equal((await sharing.fetch(`${id}/sub/x.dat`)).text, "x");
  for (const path of ["nothing", "sub/../../d2", "%2e%2e/canary", "sub%2fx.dat", "ten.txt/", "%00"]) {
    assert.equal((await sharing.fetch(`${id}/${path}`)).status, 404, path);
  }
  await sharing.sessionsClosed();
});

Deno.test({
  name: `the archive of a shared directory has all its files${UNZIP ? "" : " (unzip is missing)"}`,
  ignore: !UNZIP,
  fn: async () => {
    const files = new Map([
      ["ten.txt", "0123456789"],
      ["sub/x.dat", "x"],
      ["sub/ä 日本.txt", "hello"],
      ["sub/deeper/large", "large ".repeat(100_000)],
      ["sub/empty", ""],
    ]);
    await Deno.mkdir(`${data}/packed/sub/deeper`, { recursive: true });
    await Deno.mkdir(`${data}/packed/nothing here`);
    for (const [name, text] of files) await Deno.writeTextFile(`${data}/packed/${name}`, text);
    const response = await sharing.open(`${await sharing.share("packed")}/?view=zip`);
    assert.equal(response.headers["content-disposition"], 'attachment; filename="packed.zip"');
    const folder = await Deno.makeTempDir();
    await Deno.writeFile(
      `${folder}/packed.zip`,
      await Array.fromAsync(response).then((parts) => Buffer.concat(parts)),
    );
    const { success, stdout, stderr } = await new Deno.Command("unzip", {
      args: [`${folder}/packed.zip`, "-d", folder],
      env: { LC_ALL: "C.UTF-8" },
    }).output();
    assert(success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
    for (const [name, text] of files) {
      assert.equal(await Deno.readTextFile(`${folder}/packed/${name}`), text, name);
    }
    assert((await Deno.stat(`${folder}/packed/nothing here`)).isDirectory);
    await sharing.sessionsClosed();
    await Deno.remove(folder, { recursive: true });
  },
});

/** Names that would become markup in a page without escapes. */
const NAMES = [
  "<img src=x onerror=document.title='broken'>",
  "<svg onload=document.title='broken'>",
  "<script>document.title='broken'<script>",
  '"><iframe srcdoc="<script>parent.document.title=1<script>">',
  "' onmouseover='document.title=1",
  "javascript:document.title='broken'",
  "&lt;b&gt; &amp; &#60;i&#62;",
  "--><!-- ",
  "<style>*{display:none}",
  "]]>",
  "`onload=x`",
  "\u202etxt.exe",
];

Deno.test({
  name: `a browser shows hostile names in a listing as text${
    BROWSER === undefined ? " (chromium is missing)" : ""
  }`,
  ignore: BROWSER === undefined,
  async fn() {
    await using browser = await Chromium.start(BROWSER ?? "", ["--ignore-certificate-errors"]);
    const listing = async (folder: string, files: readonly string[], directory: string) =>
      await shownBy(browser, await listed(folder, { files, directory }));
    const hostile = await listing("hostile", NAMES, "<b>bold");
    const harmless = await listing("harmless", NAMES.map((_, i) => `name${i}`), "bold");
    const shown = [...hostile.matchAll(/<a href="[^"]*"><bdi>([^<]*)<\/bdi>(\/?)<\/a>/g)].map((
      [, text, slash],
    ) => unescape(text ?? "") + slash);
    for (const name of [...NAMES, "<b>bold/"]) {
      const text = name.replace("\u202e", "\\u{202e}"); // invisible characters appear escaped
      assert.ok(shown.includes(text), `${name} is not shown as ${text}`);
    }
    assert.match(hostile, /<title>hostile<\/title>/, "no name became a script");
    assert.deepEqual(elements(hostile), elements(harmless), "no name became an element");
  },
});

Deno.test("a client that reads slowly slows the daemon down, and still gets everything", async () => {
  await sparse(`${data}/d/big`, BIG);
  const id = await sharing.share("d/big");
  const slow = await sharing.open(id);
  // A paused TLS socket still reads from the system: the test must hold its client back as the edge does.
  const backPressure = backPressureOf(slow.socket);
  backPressure.stop();
  // While another client downloads everything, the daemon could have finished the slow client, too.
  await sparse(`${data}/d/other`, BIG);
  assert.equal(await lengthOf(await sharing.open(await sharing.share("d/other"))), BIG);
  assert.equal(sessionsReading("big"), 1);
  backPressure.start();
  assert.equal(await lengthOf(slow), BIG);
});

/** Returns the number of open sessions that have read a file. */
function sessionsReading(name: string): number {
  return system.daemon().sessions.filter(({ ended, commands }) =>
    !ended && commands.some((line) => line.startsWith("RETR ") && line.endsWith(name))
  ).length;
}

Deno.test("a client that disconnects ends the daemon's session, and its use is recorded as incomplete", async () => {
  await sparse(`${data}/d/big`, BIG);
  const id = await sharing.share("d/big");
  const before = system.log.length;
  const response = await sharing.open(id);
  await once(response, "data");
  response.destroy();
  await sharing.sessionsClosed();
  await system.logged(/share use ended .*complete=false/, before);
  assert.equal(system.log.slice(before).filter((line) => / error /.test(line)).join("\n"), "");
});

Deno.test("a download continues while the configuration is reloaded", async () => {
  await sparse(`${data}/d/big`, BIG);
  const id = await sharing.share("d/big");
  const response = await sharing.open(id);
  const backPressure = backPressureOf(response.socket);
  backPressure.stop();
  system.service.hangUp();
  await system.logged(/configuration reloaded/);
  assert.equal((await sharing.fetch(await sharing.share("d/ten.txt"))).text, "0123456789", "by the new core");
  backPressure.start();
  assert.equal(await lengthOf(response), BIG);
  await until(() => sessionsReading("big") === 0, { what: "the session of the former core ends" });
});

Deno.test("a download fails if its file shrinks meanwhile", async () => {
  await Deno.copyFile(`${data}/d/ten.txt`, `${data}/d/shrinks.txt`); // no session for it is kept
  const id = await sharing.share("d/shrinks.txt");
  system.daemon().sessionFaults.queue.push({ kind: "cut-data", after: 4, then: "226" });
  await assert.rejects(sharing.fetch(id));
});

Deno.test(`exactly one of ${CLIENTS} parallel clients gets a one-time share`, async () => {
  const id = await sharing.share("d/ten.txt", { onetime: true });
  const agent = new Agent({ keepAlive: false, maxSockets: CLIENTS });
  const answers = await Promise.all(Array.from({ length: CLIENTS }, () => sharing.fetch(id, { agent })));
  const good = answers.filter(({ status }) => status === 200);
  assert.deepEqual(good.map(({ text }) => text), ["0123456789"]);
  assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 404]);
  assert.equal((await sharing.fetch(id)).status, 404);
});

Deno.test("a one-time share is not used up by HEAD, 304, 416 or a daemon that fails", async () => {
  await Deno.copyFile(`${data}/d/ten.txt`, `${data}/d/faulty.txt`);
  await Deno.utime(`${data}/d/faulty.txt`, 1_700_000_000, 1_700_000_000); // a new file has no strong validators
  const id = await sharing.share("d/faulty.txt", { onetime: true });
  // The session of all these requests.
  system.daemon().sessionFaults.queue.push({ kind: "reply", to: "RETR", reply: "500 out of order" });
  const { headers } = await sharing.fetch(id, { method: "HEAD" });
  assert.equal((await sharing.fetch(id, { headers: { "If-None-Match": headers.etag ?? "" } })).status, 304);
  assert.equal((await sharing.fetch(id, { headers: { Range: "bytes=99-" } })).status, 416);
  assert.equal((await sharing.fetch(id)).status, 502);
  assert.equal((await sharing.fetch(id)).text, "0123456789");
});

/** Downloads a share by its link. @returns Whether it was there. */
async function byLink(id: string): Promise<boolean> {
  const { status, text } = await sharing.fetch(id);
  assert.ok(status === 404 || (status === 200 && text === "0123456789"), `${status} ${text}`);
  return status === 200;
}

/** Uses a share by a session. @returns Whether it was there. */
async function bySession(id: string): Promise<boolean> {
  const body = { serverPath: `${data}/d/ten.txt`, send: true };
  const { status, text } = await system.ask(`/rest/access/HPC/${id}`, { as: BOB, method: "POST", body });
  assert.ok(status === 404 || status === 200, `${status} ${text}`);
  return status === 200;
}

/** Changes the end of a share, as its owner may at any time. */
async function change(id: string, lifetime: number): Promise<void> {
  const { status, text } = await system.ask(`/rest/share/HPC/${id}`, {
    as: ALICE,
    method: "PUT",
    body: { lifetime },
  });
  assert.ok(status < 300 || status === 404, `${status} ${text}`);
}

Deno.test("a one-time share is used once, by link or by session, whatever its owner changes meanwhile", async () => {
  for (let round = 0; round < (LONG ? 5 : 2); round++) {
    const id = await sharing.share("d/ten.txt", { onetime: true });
    const taken = await Promise.all(Array.from({ length: 24 }, async (_, i) => {
      if (i % 3 === 0) await change(id, 1000 + i);
      else return await (i % 3 === 1 ? byLink(id) : bySession(id));
    }));
    assert.equal(taken.filter((had) => had === true).length, 1, `round ${round}`);
  }
});

async function sparse(path: string, size: number): Promise<void> {
  using file = await Deno.open(path, { create: true, write: true });
  await file.truncate(size);
}

async function lengthOf(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const part of response) bytes += part.length;
  return bytes;
}

/** Shares a directory with these files and this directory, and returns the address of its listing. */
async function listed(
  folder: string,
  { files, directory }: { readonly files: readonly string[]; readonly directory: string },
): Promise<string> {
  await Deno.mkdir(`${data}/${folder}/${directory}`, { recursive: true });
  for (const name of files) await Deno.writeTextFile(`${data}/${folder}/${name}`, "x");
  return `${sharing.origin}/rest/access/HPC/${await sharing.share(folder)}/`;
}

/** Returns the names of the elements, in order. */
function elements(page: string): string[] {
  return [...page.matchAll(/<([a-z0-9]+)/gi)].map(([, element = ""]) => element);
}

/** Returns the page as the browser serialises it after it has loaded everything and shown it. */
async function shownBy(browser: Chromium, url: string): Promise<string> {
  const page = await browser.open(url, { width: 1000, scheme: "light" });
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
  return String(await page.evaluate("document.documentElement.outerHTML"));
}

/** Decodes text of a serialised page. */
function unescape(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&nbsp;", "\u00a0").replaceAll(
    "&amp;",
    "&",
  );
}
