import assert from "node:assert/strict";
import { SharingSystem } from "./sharing_system.ts";

const BROWSER = await findBrowser(["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]);

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
    const hostile = await listing(sharing, "hostile", NAMES, "<b>bold");
    const harmless = await listing(sharing, "harmless", NAMES.map((_, i) => `name${i}`), "bold");
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

/**
 * Returns the listing of a shared directory with these files and this directory, after the browser parsed it.
 */
async function listing(
  sharing: SharingSystem,
  folder: string,
  files: readonly string[],
  directory: string,
): Promise<string> {
  await Deno.mkdir(`${sharing.data}/${folder}/${directory}`, { recursive: true });
  for (const name of files) await Deno.writeTextFile(`${sharing.data}/${folder}/${name}`, "x");
  return await dumpDom(`${sharing.origin}/rest/access/HPC/${await sharing.share(folder)}/`);
}

/** Returns the names of the elements, in order. */
function elements(page: string): string[] {
  return [...page.matchAll(/<([a-z0-9]+)/gi)].map(([, element = ""]) => element);
}

/** Returns the page as the browser serialises it after all scripts have run. */
async function dumpDom(url: string): Promise<string> {
  const profile = await Deno.makeTempDir();
  const { stdout, stderr } = await new Deno.Command(BROWSER ?? "", {
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--ignore-certificate-errors",
      `--user-data-dir=${profile}`,
      "--virtual-time-budget=2000",
      "--dump-dom",
      url,
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  await Deno.remove(profile, { recursive: true });
  const page = new TextDecoder().decode(stdout);
  assert.ok(page !== "", new TextDecoder().decode(stderr));
  return page;
}

/** Decodes text of a serialised page. */
function unescape(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&nbsp;", "\u00a0").replaceAll(
    "&amp;",
    "&",
  );
}

async function findBrowser(names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    try {
      if (
        (await new Deno.Command(name, { args: ["--version"], stdout: "null", stderr: "null" }).output())
          .success
      ) {
        return name;
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return undefined;
}
