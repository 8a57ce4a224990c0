/** `deno task pictures`: the picture in the README, of status page and shared directory as the demo serves them. */
import assert from "node:assert/strict";
import { DEMO_USER } from "../demo/demo_configuration.ts";
import { startDemo, type StartedDemo } from "../demo/started_demo.ts";
import { ask } from "../system/ask.ts";
import { Chromium, findChromium } from "./chromium.ts";

/** Where the picture is, relative to the root of the project. */
export const PICTURE = "docs/pictures/status-and-share.png";

/** What the user of the picture has to show: path below the home directory -> size in bytes. */
const FILES: Readonly<Record<string, number>> = {
  "run-42/figures/spectrum.svg": 20_000,
  "run-42/notes.txt": 1_482,
  "run-42/checksums.sha256": 964,
  "run-42/measurements.csv": 8_412_000,
  "run-42/velocity.h5": 24_118_000,
};

/** Starts the demo, looks at both pages with a browser, and puts what it sees side by side. @returns PNG. */
export async function takePicture(browserPath: string): Promise<Uint8Array> {
  await using demo = await startDemo();
  const link = await shareDirectory(demo);
  await using browser = await Chromium.start(browserPath, ["--ignore-certificate-errors"]);
  const status = await browser.open(`https://localhost:${demo.port}/login`, VIEW);
  await status.send("Sign in", { user: DEMO_USER.name, password: DEMO_USER.password });
  const listing = await browser.open(link, VIEW);
  assert.match(String(await status.evaluate("document.body.innerText")), /Signed in as demouser/);
  assert.match(String(await listing.evaluate("document.body.innerText")), /velocity\.h5/);
  const images = [await status.screenshot(), await listing.screenshot()].map((png) =>
    `<div><img src="data:image/png;base64,${png.toBase64()}"></div>`
  );
  const both = await browser.open("about:blank", { width: 2 * VIEW.width + 80, scheme: "light" });
  await both.evaluate(
    `document.open(), document.write(${JSON.stringify(STYLE + images.join(""))}), document.close()`,
  );
  await both.evaluate("Promise.all([...document.images].map((image) => image.decode()))");
  return await both.screenshot();
}

const VIEW = { width: 660, scheme: "light" } as const;
const STYLE = `<style>
  body { margin: 0; padding: 16px; display: flex; gap: 16px; align-items: start; background: #d7dce1 }
  div { height: 768px; padding-right: 16px; overflow: hidden; border-radius: 6px; background: #fcfcfa }
  div:last-child { height: 420px }
</style>`;

/** @returns The link that everybody can open. */
async function shareDirectory({ folder, port }: StartedDemo): Promise<string> {
  for (const [path, size] of Object.entries(FILES)) {
    const file = `${folder}/home/${path}`;
    await Deno.mkdir(file.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(file, "");
    await Deno.truncate(file, size);
  }
  const trusted = await Deno.readTextFile(`${folder}/conf/ca-cert.pem`);
  const as = [DEMO_USER.name, DEMO_USER.password] as const;
  const made = await ask(`https://localhost:${port}/rest/share/DEMO`, trusted, {
    as,
    body: { path: `${folder}/home/run-42/`, user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN", access: "READ" },
  });
  assert.equal(made.status, 201, made.text);
  const share = await ask(String(made.headers.location), trusted, { as });
  const [, link] = /"http": *"([^"]+)"/.exec(share.text) ?? [];
  assert(link !== undefined, share.text);
  return link.endsWith("/") ? link : `${link}/`;
}

if (import.meta.main) {
  const browser = await findChromium();
  if (browser === undefined) {
    console.error("There is no browser: apt-get install chromium");
    Deno.exit(1);
  }
  const root = new URL("../../", import.meta.url);
  await Deno.mkdir(new URL("docs/pictures", root), { recursive: true });
  await Deno.writeFile(new URL(PICTURE, root), await takePicture(browser));
}
