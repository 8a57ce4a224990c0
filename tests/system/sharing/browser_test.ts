import assert from "node:assert/strict";
import { Chromium, findChromium } from "../../browser/chromium.ts";
import { SharingSystem } from "./sharing_system.ts";

const BROWSER = await findChromium();

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
    await using sharing = await SharingSystem.open();
    await using browser = await Chromium.start(BROWSER ?? "", ["--ignore-certificate-errors"]);
    const listing = async (folder: string, files: readonly string[], directory: string) =>
      await shownBy(browser, await listed(sharing, folder, { files, directory }));
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

/** Shares a directory with these files and this directory, and returns the address of its listing. */
async function listed(
  sharing: SharingSystem,
  folder: string,
  { files, directory }: { readonly files: readonly string[]; readonly directory: string },
): Promise<string> {
  await Deno.mkdir(`${sharing.data}/${folder}/${directory}`, { recursive: true });
  for (const name of files) await Deno.writeTextFile(`${sharing.data}/${folder}/${name}`, "x");
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
