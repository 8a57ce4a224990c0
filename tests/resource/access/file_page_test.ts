import assert from "node:assert/strict";
import { LONG_AGO } from "../../sharing/site.ts";
import { SharingSite } from "../sharing_site.ts";

const PIXEL = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);

async function siteWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<SharingSite> {
  const site = await SharingSite.open();
  for (const [name, content] of Object.entries(files)) {
    const path = `${site.root}/d/${name}`;
    await (typeof content === "string" ? Deno.writeTextFile(path, content) : Deno.writeFile(path, content));
    await Deno.utime(path, LONG_AGO, LONG_AGO);
  }
  return site;
}

const BIG = `${"0123456789abcde\n".repeat(4096)}the end`;

Deno.test("a preview shows the beginning of a text as text, and says that the rest is missing", async () => {
  await using site = await siteWith({
    "a.html": "<script>alert(1)</script>",
    "big.txt": BIG,
    "cut.txt": `${"a".repeat(65_535)}ä`,
    "empty.txt": "",
    "latin.txt": new Uint8Array([0x61, 0xe4, 0x62]),
    "nul.txt": "a\0b",
  });
  const id = await site.share("d/");
  const page = async (name: string) => {
    const response = await site.ask("anonymous", "GET", `access/HPC/${id}/${name}?view=preview`);
    assert.equal(response.status, 200);
    assert.match(
      response.headers.get("Content-Security-Policy") ?? "",
      /^default-src 'none'.*trusted-types 'none'/,
    );
    return await response.text();
  };
  const html = await page("a.html");
  assert.match(html, /<code>&#60;script&#62;alert\(1\)&#60;\/script&#62;<\/code>/);
  assert.match(
    html,
    /<a class="button" href="[^"]*\/rest\/access\/HPC\/\w+\/a\.html\?download">Download<\/a>/,
  );
  assert.match(html, /<a href="[^"]*\/rest\/access\/HPC\/\w+\/"><bdi>d<\/bdi><\/a>/);
  const big = await page("big.txt");
  assert.match(big, /The preview shows only the beginning/);
  assert.doesNotMatch(big, /the end/);
  assert.match(await page("cut.txt"), /a<\/code>/);
  assert.match(await page("empty.txt"), /<code><\/code>/);
  for (const name of ["latin.txt", "nul.txt"]) assert.match(await page(name), /No preview is available/);
});

Deno.test("a preview of a single shared file links to the file, and to no directory", async () => {
  await using site = await siteWith({ "a.txt": "text" });
  const id = await site.share("d/a.txt");
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}?view=preview`);
  const text = await response.text();
  assert.match(
    text,
    new RegExp(`<a class="button" href="[^"]*/rest/access/HPC/${id}\\?download">Download</a>`),
  );
  assert.doesNotMatch(text, new RegExp(`/${id}/`));
});

Deno.test("only its own page shows a picture, with a type by its name, and runs no scripts in it", async () => {
  await using site = await siteWith({
    "p.png": PIXEL,
    "evil.png": "<script>alert(1)</script>",
    "x.svg": "<svg/>",
  });
  const id = await site.share("d/");
  const ask = (name: string) => site.ask("anonymous", "GET", `access/HPC/${id}/${name}`);
  const page = await ask("p.png?view=preview");
  assert.match(page.headers.get("Content-Security-Policy") ?? "", /img-src data: 'self'/);
  assert.match(
    await page.text(),
    /<img class="preview" src="\?view=inline" alt="Image p.png">/,
  );
  for (const name of ["p.png", "evil.png"]) {
    const image = await ask(`${name}?view=inline`);
    assert.equal(image.headers.get("Content-Type"), "image/png");
    assert.equal(image.headers.get("X-Content-Type-Options"), "nosniff");
    assert.equal(image.headers.get("Content-Security-Policy"), "default-src 'none'; sandbox");
    await image.body?.cancel();
  }
  const svg = await ask("x.svg?view=inline");
  assert.equal(svg.headers.get("Content-Type"), "application/octet-stream");
  assert.match(svg.headers.get("Content-Disposition") ?? "", /^attachment/);
  await svg.body?.cancel();
});

Deno.test("pages, previews and HEAD of a limited file take no use and show no content", async () => {
  await using site = await siteWith({ "a.txt": "hello", "p.png": PIXEL });
  for (const [name, terms] of [["a.txt", { maxUses: 1 }], ["p.png", { onetime: true }]] as const) {
    const id = await site.share(`d/${name}`, terms);
    const ask = async (method: string, query: string, Accept = "*/*") => {
      const response = await site.ask("anonymous", method, `access/HPC/${id}${query}`, {
        headers: { Accept },
      });
      return { status: response.status, text: await response.text() };
    };
    for (
      const [method, query, accept] of [
        ["HEAD", "?view=preview"],
        ["HEAD", "", "text/html"],
        ["HEAD", ""],
        ["GET", "", "text/html,*/*"],
        ["GET", "?view=preview"],
        ["GET", "?view=preview", "text/html"],
      ] as const
    ) {
      const { status, text } = await ask(method, query, accept);
      assert.equal(status, 200, `${method} ${query}`);
      assert.doesNotMatch(text, /hello|view=inline|view=preview/);
      if (method === "GET") assert.match(text, /download">Download<\/a>/);
    }
    const { share } = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
    assert.deepEqual([share.accessCount, share.uses.length], [0, 3]);
    for (const { via } of share.uses) assert.equal(via, "HTTP-look");
    assert.equal((await ask("GET", "?download", "text/html")).status, 200);
    assert.equal((await ask("GET", "")).status, 404);
  }
});

Deno.test("a browser that opens the link of a file gets a page with name, size, sender, note and end", async () => {
  await using site = await siteWith({ "a.txt": "hello" });
  const id = await site.share("d/a.txt", { note: "as discussed", lifetime: 3600 });
  const ask = async (query: string, Accept: string) => {
    const response = await site.ask("anonymous", "GET", `access/HPC/${id}${query}`, { headers: { Accept } });
    return await response.text();
  };
  const page = await ask("", "text/html");
  for (
    const fact of [
      /a\.txt<\/bdi><\/h1>/,
      /5 B/,
      /Shared by <bdi>alice/,
      /until/,
      /as discussed/,
      /\?view=preview/,
    ]
  ) {
    assert.match(page, fact);
  }
  assert.equal(await ask("?download", "text/html"), "hello");
  assert.equal(await ask("", "*/*"), "hello");
});
