/** `deno task pictures` takes the pictures of the demo's pages in README and manual. */
import assert from "node:assert/strict";
import { DEMO_USER } from "../demo/demo_configuration.ts";
import { startDemo, type StartedDemo } from "../demo/started_demo.ts";
import { Chromium, findChromium, type Page } from "./chromium.ts";

/** Folder of the pictures, relative to the root of the project. */
export const FOLDER = "docs/pictures";

/** Pictures as PNG, by name. */
type Pictures = Readonly<Record<string, Uint8Array>>;

/** Files of the user in the pictures: sizes in bytes, by path below the home directory. */
const FILES: Readonly<Record<string, number>> = {
  "run-42/figures/spectrum.svg": 20_000,
  "run-42/notes.txt": 1_482,
  "run-42/checksums.txt": 964,
  "run-42/pressure.csv": 8_412_000,
  "run-42/velocity.h5": 24_118_000,
  "incoming/from-ben.tar": 5_000_000,
};

/** Pictures by name, with the widths and the visible heights of their pages, in CSS pixels. */
const LAYOUTS = {
  "status-and-share.png": { widths: [660, 660], heights: [768, 600] },
  "share-and-phones.png": { widths: [880, 360, 360], heights: [768, 768, 768] },
} as const;

/** Starts the demo, uses it with a browser, and puts the pages side by side. */
export async function takePictures(browserPath: string): Promise<Pictures> {
  await using demo = await startDemo();
  await fill(demo);
  const origin = `https://localhost:${demo.port}`;
  await using browser = await Chromium.start(browserPath, ["--ignore-certificate-errors"]);
  const open = (url: string, width: number) => browser.open(url, { width, scheme: "light" });
  const owner = await open(`${origin}/login`, LAYOUTS["share-and-phones.png"].widths[0]);
  await owner.send("Sign in", { user: DEMO_USER.name, password: DEMO_USER.password });
  const status = await open(`${origin}/login`, LAYOUTS["status-and-share.png"].widths[0]);
  await status.send("Sign in", { user: DEMO_USER.name, password: DEMO_USER.password });
  const drop = await share(owner, origin, `${demo.folder}/home/incoming/`, {
    access: "DROP",
    note: "Your raw data of this week, please",
    files: "100",
  });
  const folder = await share(owner, origin, `${demo.folder}/home/run-42/`, {
    access: "READ",
    note: "Results of run 42",
  });
  const [listing, phone, upload] = [await open(folder, 660), await open(folder, 360), await open(drop, 360)];
  assert.match(await textOf(status), /Signed in as demouser/);
  assert.match(await textOf(listing), /velocity\.h5/);
  await upload.choose("#files", [
    `${demo.folder}/home/run-42/velocity.h5`,
    `${demo.folder}/home/run-42/notes.txt`,
  ]);
  await upload.until("document.querySelectorAll('#uploads .up').length === 2");
  await owner.go(String(await owner.evaluate("location.href")));
  return {
    "status-and-share.png": await beside(browser, [status, listing], LAYOUTS["status-and-share.png"]),
    "share-and-phones.png": await beside(browser, [owner, phone, upload], LAYOUTS["share-and-phones.png"]),
  };
}

const textOf = async (page: Page) => String(await page.evaluate("document.body.innerText"));

async function fill({ folder }: StartedDemo): Promise<void> {
  for (const [path, size] of Object.entries(FILES)) {
    const file = `${folder}/home/${path}`;
    await Deno.mkdir(file.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(file, "");
    await Deno.truncate(file, size);
  }
}

/** Shares a directory by the form. @returns Link that everybody can open. */
async function share(
  owner: Page,
  origin: string,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  await owner.go(`${origin}/shares/DEMO/new?${new URLSearchParams({ path })}`);
  await owner.send("Share", { days: "30", ...fields });
  return String(await owner.evaluate("document.querySelector('#address').value"));
}

/** Puts the tops of pages side by side. @returns PNG. */
async function beside(
  browser: Chromium,
  pages: readonly Page[],
  { widths, heights }: { readonly widths: readonly number[]; readonly heights: readonly number[] },
): Promise<Uint8Array> {
  const images = await Promise.all(pages.map(async (page, i) => {
    const png = await page.screenshot();
    return `<div style="height: ${heights[i]}px"><img src="data:image/png;base64,${png.toBase64()}"></div>`;
  }));
  const width = widths.reduce((sum, each) => sum + each + 16, 16);
  const all = await browser.open("about:blank", { width, scheme: "light" });
  await all.evaluate(
    `document.open(), document.write(${JSON.stringify(STYLE + images.join(""))}), document.close()`,
  );
  await all.evaluate("Promise.all([...document.images].map((image) => image.decode()))");
  return await all.screenshot();
}

const STYLE = `<style>
  body { margin: 0; padding: 16px; display: flex; gap: 16px; align-items: start; background: #d7dce1 }
  div { overflow: hidden; border-radius: 6px; background: #fcfcfa }
  img { display: block }
</style>`;

if (import.meta.main) {
  const browser = await findChromium();
  if (browser === undefined) {
    console.error("There is no browser: apt-get install chromium");
    Deno.exit(1);
  }
  const root = new URL(`../../${FOLDER}/`, import.meta.url);
  await Deno.mkdir(root, { recursive: true });
  for (const [name, png] of Object.entries(await takePictures(browser))) {
    await Deno.writeFile(new URL(name, root), png);
  }
}
