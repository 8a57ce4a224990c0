/** What people do with their own files, and what the page says of uploads, in a real browser. */
import assert from "node:assert/strict";
import { ALICE } from "../system/running_service.ts";
import { largeFile } from "../system/sharing/large_file.ts";
import { SharingSystem } from "../system/sharing/sharing_system.ts";
import { Chromium, findChromium, type Page, type SharedBrowser, sharedBrowser } from "./chromium.ts";
import { look } from "./page_checks.ts";

const BROWSER = await findChromium();
if (BROWSER === undefined) {
  console.warn("No browser on this machine, My files is skipped: apt-get install chromium");
}
const ignore = BROWSER === undefined;

const DESK = { width: 1280, scheme: "light" } as const;
const OPTIONS = { properties: { "container.feature.Files.enable": "true" } };

const inLanguage = (language: string) => ["--ignore-certificate-errors", `--accept-lang=${language}`];
const start = sharedBrowser(BROWSER, inLanguage("en-US"));

const text = async (page: Page) => String(await page.evaluate("document.body.innerText"));

/** What the page says of each file, buttons included. */
const states = (page: Page) =>
  page.evaluate(
    "[...document.querySelectorAll('#brought li')].map((li) => li.innerText.replace(/\\s+/g, ' ').trim()).sort()",
  );

const over = (count: number) =>
  `document.querySelectorAll('#brought .up, #brought .down').length === ${count}`;

async function signedIn(browser: SharedBrowser, origin: string, button = "Sign in"): Promise<Page> {
  const page = await browser.open(`${origin}/login`, DESK);
  const [user, password] = ALICE;
  await page.send(button, { user, password });
  return page;
}

Deno.test({
  name: "somebody finds their files, uploads a folder, makes, renames, previews, shares and deletes",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    const files = await Deno.makeTempDir();
    await Deno.mkdir(`${files}/run 7/deep`, { recursive: true });
    await Deno.writeTextFile(`${files}/run 7/.DS_Store`, "x");
    await Deno.writeTextFile(`${files}/run 7/deep/Thumbs.db`, "x");
    await Deno.writeTextFile(`${files}/run 7/deep/<b>.csv`, "1,2");
    for (let i = 0; i < 10; i++) await Deno.writeTextFile(`${files}/run 7/${i}.txt`, `file ${i}`);
    await using browser = await start();
    const page = await signedIn(browser, sharing.origin);
    await page.follow("Files");
    assert.equal(await page.evaluate("document.querySelector('[aria-current]').textContent"), "Files");
    await look(page, "files");
    await page.follow("HPC");
    await page.follow("d/");
    await look(page, "own-directory");
    await page.choose("#folder", [`${files}/run 7`]);
    await page.until(over(11));
    for (const state of await states(page) as string[]) assert.match(state, / Done, verified$/);
    const total = await page.evaluate("document.querySelector('#total').innerText");
    assert.match(String(total), /11 of 11 files .*not uploaded: 2 made by file managers/);
    await look(page, "own-uploads");
    assert.equal(await Deno.readTextFile(`${sharing.data}/d/run 7/deep/<b>.csv`), "1,2");

    await page.send("New folder", { name: "results" });
    assert.match(await page.evaluate("location.pathname") as string, /\/d\/results\/$/);
    await page.follow("d");
    await page.follow("run 7/");
    await page.follow("Preview 0.txt");
    assert.match(await text(page), /file 0/);
    await page.follow("Actions");
    await look(page, "actions");
    await page.send("Rename or move", { to: `${sharing.data}/d/results/zero.txt` });
    assert.match(await text(page), /zero\.txt/);
    assert.equal(await Deno.readTextFile(`${sharing.data}/d/results/zero.txt`), "file 0");
    await page.follow("d");
    await page.follow("run 7/");
    await page.follow("Actions");
    assert.match(await text(page), /Delete …/);
    await page.evaluate("document.querySelector('details.danger').open = true");
    assert.match(await text(page), /with 10 files and 1 directory in it/);
    await look(page, "deletion");
    await page.send("Delete the directory run 7 and everything in it");
    await assert.rejects(Deno.stat(`${sharing.data}/d/run 7`));
    await page.follow("results/");
    await page.follow("Actions");
    await page.follow("Share");
    assert.equal(await page.evaluate("document.querySelector('#path').value"), `${sharing.data}/d/results/`);
    assert.deepEqual(page.complaints, []);
    await Deno.remove(files, { recursive: true });
  },
});

/** Has requests for one file answered with 502, as a proxy whose service is away does. */
const FAILING = `(() => {
  const open = XMLHttpRequest.prototype.open;
  XMLHttpRequest.prototype.open = function (method, url) {
    if (url.includes("bad")) {
      Object.defineProperty(this, "status", { get: () => 502 });
      Object.defineProperty(this, "responseText", { get: () => '{"errorMessage":"out of order"}' });
      url = location.href;
      method = "GET";
    }
    return open.call(this, method, url);
  };
})(); true`;

Deno.test({
  name:
    "an upload that fails says why and holds up no other; pausing, skipping, and choosing again after a reload",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    const files = await Deno.makeTempDir();
    await largeFile(`${files}/large.bin`, 300_000_000);
    for (const name of ["bad.txt", "good.txt", "gone.txt"]) {
      await Deno.writeTextFile(`${files}/${name}`, name);
    }
    await using browser = await start();
    const page = await signedIn(browser, sharing.origin);
    await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
    await page.evaluate(FAILING);
    await page.choose("#files", [`${files}/bad.txt`, `${files}/good.txt`]);
    await page.until(over(2));
    assert.deepEqual(await states(page), [
      "bad.txt Failed: out of order Try again Skip",
      "good.txt Done, verified",
    ]);
    const button = (says: string) =>
      `[...document.querySelectorAll("button")].find((each) => each.textContent === ${JSON.stringify(says)})`;
    await page.evaluate(`${button("Skip")}.click()`);
    assert.match(String(await states(page)), /bad\.txt Skipped/);
    assert.match(String(await page.evaluate("document.querySelector('#news').textContent")), /ended/);

    await page.choose("#files", [`${files}/large.bin`]);
    await page.until(`${button("Pause all")} !== undefined`);
    await page.evaluate(`${button("Pause all")}.click()`);
    await page.until(`${button("Resume all")} !== undefined`);
    assert.match(String(await states(page)), /large\.bin Waiting Pause/);
    await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
    assert.match(await text(page), /Choose these files again to resume: large\.bin/);
    await page.choose("#files", [`${files}/large.bin`]);
    await page.until(over(1));
    assert.deepEqual(await states(page), ["large.bin Done, verified"]);
    await Deno.remove(files, { recursive: true });
  },
});

Deno.test({
  name: "pages speak the reader's language, and show times in their zone; without script in UTC",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    await using browser = await Chromium.start(BROWSER ?? "", inLanguage("de-DE"));
    const page = await signedIn(browser, sharing.origin, "Anmelden");
    assert.equal(await page.evaluate("document.documentElement.lang"), "de");
    assert.match(await text(page), /Angemeldet als alice/);
    const shown = "document.querySelector('dd time').textContent";
    assert.doesNotMatch(String(await page.evaluate(shown)), /UTC/);
    await page.follow("Dateien");
    await page.follow("HPC");
    assert.match(await text(page), /1 Eintrag[^]*Geändert/);
    await page.runScripts(false);
    await page.go(`${sharing.origin}/`);
    assert.match(String(await page.evaluate(shown)), /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
    assert.deepEqual(page.complaints, []);
  },
});
