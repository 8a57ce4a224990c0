/** Uploads by users on the page of a writable folder, in a real browser. */
import assert from "node:assert/strict";
import { LONG_AGO } from "../sharing/site.ts";
import { cutting } from "../system/sharing/cut_way.ts";
import { digestOf, largeFile } from "../system/sharing/large_file.ts";
import { BOB, BOB_DN, SharingSystem } from "../system/sharing/sharing_system.ts";
import { findChromium, type Page, sharedBrowser } from "./chromium.ts";
import { look } from "./page_checks.ts";

const BROWSER = await findChromium();
if (BROWSER === undefined) {
  console.warn("No browser on this machine, uploads by page are skipped: apt-get install chromium");
}
const ignore = BROWSER === undefined;

const MB = 1000 * 1000;
const PHONE = { width: 360, scheme: "light" } as const;
const DESK = { width: 1280, scheme: "dark" } as const;

const start = sharedBrowser(BROWSER, ["--ignore-certificate-errors"]);

const text = async (page: Page) => String(await page.evaluate("document.body.innerText"));

/** Returns the text of the page for each file, with buttons. */
async function states(page: Page): Promise<unknown> {
  return await page.evaluate(
    "[...document.querySelectorAll('#uploads li')].map((li) => li.innerText.replace(/\\s+/g, ' ').trim()).sort()",
  );
}

/**
 * Returns complaints of the browser that a bad connection does not explain. After a cut, the page asks for
 * the state of the upload; the answer has the offset (409), or says that the file has changed (412).
 */
const surprises = (page: Page) =>
  page.complaints.filter((complaint) => !/status of 4(?:09|12)|net::ERR_/.test(complaint));

const over = (count: number) =>
  `document.querySelectorAll('#uploads .up, #uploads .down').length === ${count}`;

Deno.test({
  name: "a user uploads files on the page of a folder over a bad connection, and replaces a file when asked",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    await using way = cutting(sharing.system.port, [5 * MB]);
    const files = await Deno.makeTempDir();
    const digest = await largeFile(`${files}/large.bin`, 15 * MB);
    await Deno.writeTextFile(`${files}/x.dat`, "another x");
    await Deno.mkdir(`${files}/run 7`);
    await Deno.writeTextFile(`${files}/run 7/<b>.csv`, "1,2");
    const there = `${sharing.data}/d/sub`;

    await using browser = await start();
    const id = await sharing.share("d/", { access: "MODIFY" });
    const page = await browser.open(`https://localhost:${way.port}/rest/access/HPC/${id}/sub/`, PHONE);
    assert.match(await text(page), /Upload files\s+This page asks you before it replaces a file/);
    await look(page, "writable-folder");
    await page.choose("#files", [`${files}/large.bin`, `${files}/x.dat`]);
    await page.choose("#folder", [`${files}/run 7`]);
    await page.until(over(3));
    assert.equal(way.state.cut, 1);
    assert.deepEqual(await states(page), [
      "large.bin Done, verified",
      "run 7/<b>.csv Done, verified",
      "x.dat Not uploaded: a file with that name exists Replace the file",
    ]);
    assert.equal(await Deno.readTextFile(`${there}/x.dat`), "x");
    await look(page, "asked-to-replace");
    // The file changes once more before the answer: the page replaces the version at the time of the click.
    await Deno.writeTextFile(`${there}/x.dat`, "newer x");
    await Deno.utime(`${there}/x.dat`, LONG_AGO + 60, LONG_AGO + 60);
    await page.evaluate("[...document.querySelectorAll('#uploads button')].find((b) => !b.hidden).click()");
    await page.until("document.querySelectorAll('#uploads .up').length === 3");
    assert.deepEqual(
      (await states(page) as unknown[]).at(-1),
      "x.dat Done, the existing file was replaced, verified",
    );
    assert.equal(await Deno.readTextFile(`${there}/x.dat`), "another x");
    assert.equal(await digestOf(`${there}/large.bin`), digest);
    assert.equal(await Deno.readTextFile(`${there}/run 7/<b>.csv`), "1,2");
    assert.deepEqual(Array.from(Deno.readDirSync(there), ({ name }) => name).toSorted(), [
      "large.bin",
      "run 7",
      "x.dat",
    ]);
    await page.follow("Reload the list");
    assert.match(await text(page), /large\.bin/);
    assert.deepEqual(surprises(page), []);

    const adds = await sharing.share("d/", { access: "WRITE" });
    const adding = await browser.open(`${sharing.origin}/rest/access/HPC/${adds}/sub/`, DESK);
    await adding.choose("#files", [`${files}/x.dat`]);
    await adding.until(over(1));
    assert.deepEqual(await states(adding), ["x.dat Not uploaded: a file with that name exists"]);
    await look(adding, "left-as-it-is");
    const reads = await sharing.share("d/sub/", { access: "READ" });
    await adding.go(`${sharing.origin}/rest/access/HPC/${reads}/`);
    assert.equal(await adding.evaluate("document.querySelectorAll('input[type=file]').length"), 0);
    await Deno.remove(files, { recursive: true });
  },
});

Deno.test({
  name: "an upload without progress for 30 s asks for its offset and resumes on a new connection",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    await using way = cutting(sharing.system.port, [5 * MB], "stall");
    const file = await Deno.makeTempFile({ suffix: ".bin" });
    const digest = await largeFile(file, 15 * MB);
    await using browser = await start();
    const id = await sharing.share("d/", { access: "MODIFY" });
    const page = await browser.open(`https://localhost:${way.port}/rest/access/HPC/${id}/sub/`, DESK);
    // Shortens the page's timeout of 30 s to 1 s, and counts how often it expires. If the system buffers the
    // rest of the file, the page waits for the checksum instead, with a timeout shortened to 5 s.
    await page.evaluate(`{
      const { setTimeout } = window;
      window.stalls = 0;
      window.totals = [];
      const total = document.querySelector("#total");
      new MutationObserver(() => totals.push(total.innerText)).observe(total, { subtree: true, childList: true });
      const lasts = { 30000: 1000, 120000: 5000 };
      window.setTimeout = (act, ms, ...more) => ms in lasts
        ? setTimeout(() => { window.stalls++; act(); }, lasts[ms])
        : setTimeout(act, ms, ...more);
    }`);
    await page.choose("#files", [file]);
    await page.until(over(1));
    assert.deepEqual(await states(page), [`${file.slice(file.lastIndexOf("/") + 1)} Done, verified`]);
    assert.equal(way.state.cut, 1);
    assert.ok(Number(await page.evaluate("window.stalls")) >= 1);
    const totals = String(await page.evaluate("totals"));
    assert.match(totals, /0 of 1 files? · \d+(?:\.\d)? MiB of 14\.3 MiB · \d+ seconds? left/);
    assert.equal(await digestOf(`${sharing.data}/d/sub/${file.slice(file.lastIndexOf("/") + 1)}`), digest);
    await Deno.remove(file);
  },
});

Deno.test({
  name: "without scripts, a form uploads files next to existing files of the same names, or replaces them",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    await using browser = await start();
    const files = await Deno.makeTempDir();
    await Deno.writeTextFile(`${files}/x.dat`, "another x");
    const id = await sharing.share("d/", { access: "MODIFY" });
    const page = await browser.open("about:blank", PHONE);
    await page.runScripts(false);
    const folder = `${sharing.origin}/rest/access/HPC/${id}/sub/`;
    const there = `${sharing.data}/d/sub`;
    await page.go(folder);
    await page.choose("#sent", [`${files}/x.dat`]);
    await page.send("Upload");
    assert.match(await text(page), /1 file was uploaded\s+sub\/x \(2\)\.dat/);
    assert.equal(await Deno.readTextFile(`${there}/x.dat`), "x");
    await page.follow("Upload more");
    assert.equal(await page.evaluate("location.href"), folder);
    await page.choose("#sent", [`${files}/x.dat`]);
    await page.send("Upload and replace files with the same name");
    assert.match(await text(page), /1 file was uploaded\s+sub\/x\.dat/);
    assert.equal(await Deno.readTextFile(`${there}/x.dat`), "another x");
    await Deno.remove(files, { recursive: true });
  },
});

Deno.test({
  name: "a signed-in user uploads files to shares, from a mail or the start page, with and without scripts",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    await using way = cutting(sharing.system.port, [3 * MB]);
    await using browser = await start();
    const files = await Deno.makeTempDir();
    const digest = await largeFile(`${files}/large.bin`, 8 * MB);
    await Deno.writeTextFile(`${files}/x.dat`, "another x");
    const id = await sharing.share("d/sub/", { user: BOB_DN, access: "DROP" });
    const there = `${sharing.data}/d/sub`;
    // The link in a mail, which leads to the sign-in first.
    const page = await browser.open(`https://localhost:${way.port}/shared/HPC/${id}/`, PHONE);
    const [user, password] = BOB;
    await page.send("Sign in", { user, password });
    assert.match(await text(page), /Upload files to\s+sub/);
    await look(page, "upload-signed-in");
    await page.choose("#files", [`${files}/large.bin`, `${files}/x.dat`]);
    await page.until(over(2));
    assert.equal(way.state.cut, 1);
    assert.deepEqual(await states(page), [
      "large.bin Done, verified",
      "x.dat Done, saved as x (2).dat, verified",
    ]);
    assert.equal(await digestOf(`${there}/large.bin`), digest);
    assert.deepEqual(surprises(page), []);

    await sharing.share("d/", { user: BOB_DN, access: "MODIFY" });
    await page.runScripts(false);
    await page.go(`https://localhost:${way.port}/`);
    await page.follow(`${sharing.data}/d/`);
    await page.follow("sub/");
    await page.choose("#sent", [`${files}/x.dat`]);
    await page.send("Upload and replace files with the same name");
    assert.match(await text(page), /1 file was uploaded\s+sub\/x\.dat/);
    assert.equal(await Deno.readTextFile(`${there}/x.dat`), "another x");
    await page.follow("Upload more");
    assert.match(await text(page), /Upload files/);
    await Deno.remove(files, { recursive: true });
  },
});
