import assert from "node:assert/strict";
import { withInvisibleShown } from "../../src/model/absolute_path.ts";
import { createHash } from "node:crypto";
import { DOMParser } from "@xmldom/xmldom";
import fc from "fast-check";
import { listingPage } from "../../src/pages/listing_page.ts";
import type { Listing } from "../../src/resource/access/listing.ts";
import { call } from "../resource/sample_call.ts";
import { wordsOf } from "./words.ts";

const HOSTILE = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  "</a></td></tr></table><script>",
  "javascript:alert(1)",
  "&lt;script&gt;",
  "<!--",
  "]]>",
  "`${alert(1)}`",
  "\u202egnp.exe",
  "<svg/onload=alert(1)>",
  "{{constructor.constructor('alert(1)')()}}",
];

const LISTING_PAGE = listingPage(call());

const textOf = (listing: Listing) => [...LISTING_PAGE.pieces(listing)].join("");

const LISTING: Listing = {
  path: "",
  trail: [{ name: "results", href: "https://auth/rest/access/A/id/" }],
  query: { order: "name", descending: false, find: "" },
  entries: [],
  shown: 0,
  complete: true,
  omitted: 0,
  share: {
    name: "results",
    owner: "CN=Ann Example,O=Site",
    expires: 0,
    help: "https://auth.example.org/help",
    counted: false,
    command: "pyuftp cp -r -u anonymous 'https://auth/rest/access/A/id:/data/results/*' .",
  },
  now: Date.UTC(2026, 0, 1),
};

/** Returns the page of a directory. @param folder Name of a directory below the shared one. */
function page(names: readonly string[], folder = "sub"): string {
  return textOf({
    ...LISTING,
    path: `${folder}/`,
    trail: [...LISTING.trail, { name: folder, href: "https://auth/sub/" }],
    query: { ...LISTING.query, find: names[0] ?? "" },
    shown: names.length,
    share: {
      ...LISTING.share,
      owner: `CN=${folder.replace(/[<>"+,;=#\\]/g, "\\$&")}`,
      command: names[0] ?? "",
    },
    entries: names.map((name) => ({
      name,
      directory: false,
      size: 1,
      href: `https://auth/rest/access/A/id/${encodeURIComponent(name)}`,
    })),
  });
}

/** Returns the page's element names and attributes in order, and the texts of its links. */
function read(html: string): { elements: string[]; links: string[]; attributes: string[] } {
  const text = html.replace(/^<!doctype html>\n/, "").replace(/<(meta|link) ([^>]*)>/g, "<$1 $2/>")
    .replace(/<(style|script)>.*?<\/\1>/gs, "").replace(/<(input [^>]*)>/g, "<$1/>");
  const root = new DOMParser({
    errorHandler: (level: string, message: string) => {
      throw new Error(`${level}: ${message}`);
    },
  }).parseFromString(text, "text/xml");
  const all = Array.from(root.getElementsByTagName("*"));
  return {
    elements: all.map(({ nodeName }) => nodeName),
    links: all.filter(({ nodeName }) => nodeName === "tbody").flatMap((body) =>
      Array.from(body.getElementsByTagName("a"), ({ textContent }) => textContent ?? "")
    ),
    attributes: all.flatMap(({ attributes }) => Array.from(attributes, ({ name }) => name)),
  };
}

Deno.test("listingPage() shows hostile names as text, without additional elements or attributes", () => {
  const harmless = read(page(HOSTILE.map((_, i) => `file${i}`)));
  const hostile = read(page(HOSTILE, HOSTILE[0]));
  assert.deepEqual(hostile.links, HOSTILE.map(withInvisibleShown));
  assert.deepEqual(hostile.elements, harmless.elements);
  assert.deepEqual(hostile.attributes, harmless.attributes);
});

Deno.test("listingPage() shows any name as text", () => {
  const name = fc.string({
    unit: fc.oneof(fc.constantFrom(..."<>&\"'`/=;!-"), fc.constantFrom(..."abä\u{1F600}")),
  });
  fc.assert(fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
    assert.deepEqual(read(page(names)).links, names);
  }));
});

Deno.test("listingPage() has one script, and its policy permits only that and its own style sheet", () => {
  const html = page(["x"]);
  assert.equal(html.match(/<script|\son\w+=|javascript:/gi)?.length, 1);
  const script = /<script>(.*)<\/script>/s.exec(html)?.[1] ?? "";
  const style = /<style>(.*)<\/style>/s.exec(html)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  const scriptHash = createHash("sha256").update(script).digest("base64");
  const policy = LISTING_PAGE.headers(false)["Content-Security-Policy"] ?? "";
  assert.ok(policy.includes(`style-src 'sha256-${hash}'`));
  assert.ok(policy.startsWith("default-src 'none'"));
  assert.match(policy, /; form-action 'self';/);
  assert.ok(policy.includes(`script-src 'sha256-${scriptHash}';`));
  assert.doesNotMatch(policy, /connect-src|img-src[^;]*self|unsafe/);
});

const FULL: Listing = {
  ...LISTING,
  path: "sub/",
  trail: [...LISTING.trail, { name: "sub", href: "https://auth/up/sub/" }],
  shown: 2,
  omitted: 3,
  next: "https://auth/d/?after=f",
  zone: 60,
  share: { ...LISTING.share, expires: Date.UTC(2026, 0, 4) / 1000 },
  entries: [
    { name: "d", directory: true, modified: "2026-03-04T05:06:07", href: "https://auth/d/" },
    { name: "f.txt", directory: false, size: 12, href: "https://auth/f.txt" },
    { name: "g.bin", directory: false, size: 2048, href: "https://auth/g.bin" },
  ],
  complete: false,
};

Deno.test("listingPage() shows owner, path and end of a share, how to download it, and the kind of each entry", () => {
  const html = textOf(FULL);
  for (
    const expected of [
      /<title>sub<\/title>/,
      /<h1><bdi>sub<\/bdi><\/h1>/,
      /Shared by <bdi>Ann Example<\/bdi>, until <time datetime="2026-01-04T00:00:00.000Z">[^<]*UTC[^<]*<\/time> \(in 3 days\)/,
      /<pre><code>pyuftp cp -r -u anonymous &#39;https:/,
      /<a href="https:\/\/auth\/rest\/access\/A\/id\/"><bdi>results<\/bdi><\/a><\/li><li><span aria-current="page"><bdi>sub</,
      /<a href="https:\/\/auth\/d\/"><bdi>d<\/bdi>\/<\/a><\/td>/,
      /<time datetime="2026-03-04T04:06:07.000Z">2026-03-04<span class="clock"> 05:06<\/span><\/time>/,
      />Modified<span class="zone"> \(UTC\+01:00\)<\/span></,
      /<td class="number">12 B<\/td>/,
      /<td class="number">2 KiB<\/td>/,
      /href="https:\/\/auth\/f.txt\?view=preview"/,
      /2 entries; more exist but are not shown; 3 in this directory cannot be shown/,
      /<a rel="next" href="https:\/\/auth\/d\/\?after=f">/,
      /lang="en"/,
    ]
  ) assert.match(html, expected);
  assert.doesNotMatch(html, /g\.bin\?view/);
  const counted = textOf({ ...FULL, share: { ...FULL.share, counted: true } });
  assert.doesNotMatch(counted, /view=preview/, "a preview would show what the share limits");
});

Deno.test("listingPage() omits empty parts", () => {
  const words = (listing: Partial<Listing>) => wordsOf(textOf({ ...LISTING, ...listing }));
  const above = [
    "results",
    "Shared by Ann Example",
    "Download all as one .zip file",
  ];
  const below = [
    "Name ↑",
    "Modified",
    "Size",
    "For large files or many files, use the command line:",
    "pyuftp cp -r -u anonymous 'https://auth/rest/access/A/id:/data/results/*' .",
    "The list omits broken symbolic links and files whose names are not UTF-8.",
  ];
  assert.deepEqual(words({}), [...above, "0 entries", ...below]);
  const search = ["Name contains", "Search"];
  assert.deepEqual(words({ shown: 19 }), [...above, "19 entries", ...below]);
  assert.deepEqual(words({ shown: 20 }), [...above, ...search, "20 entries", ...below]);
  const query = { ...LISTING.query, find: "x" };
  assert.deepEqual(words({ query, shown: 1 }), [
    ...above,
    ...search,
    "Show all",
    "1 entry containing x",
    ...below,
  ]);
  const share = { ...LISTING.share, note: "for <you>" };
  assert.deepEqual(words({ share, omitted: 1 }), [
    ...above.slice(0, 2),
    "for <you>",
    ...above.slice(2),
    "0 entries; 1 in this directory cannot be shown",
    ...below,
  ]);
});

Deno.test("listingPage() sorts by a link in each column header, and keeps the search", () => {
  const links = (listing: Listing) =>
    [...textOf(listing).matchAll(/<th scope="col" aria-sort="(\w+)"[^>]*><a href="([^"]*)"/g)]
      .map(([, sorted, href]) => [sorted, href?.replaceAll("&#38;", "&")]);
  assert.deepEqual(links(LISTING), [["ascending", "?desc="], ["none", "?sort=modified"], [
    "none",
    "?sort=size",
  ]]);
  const found = { order: "size", descending: true, find: "a b", after: "1:x" } as const;
  assert.deepEqual(links({ ...LISTING, query: found }), [
    ["none", "?find=a%20b"],
    ["none", "?sort=modified&find=a%20b"],
    ["descending", "?sort=size&find=a%20b"],
  ]);
});

for (
  const [what, after, next, expected] of [
    ["the only part", undefined, undefined, []],
    ["the first of several", undefined, "?after=b", ["next"]],
    ["one in between", "a", "?after=c", ["first", "next"]],
    ["the last", "b", undefined, ["first"]],
  ] as const
) {
  Deno.test(`listingPage() links to the first and the next part from ${what}`, () => {
    const text = textOf({ ...LISTING, query: { ...LISTING.query, after }, ...(next && { next }) });
    assert.deepEqual([...text.matchAll(/<a rel="(first|next)"/g)].map(([, rel]) => rel), [
      ...expected,
      ...expected,
    ], "above and below");
    assert.equal(text.includes('<p class="parts">'), expected.length > 0);
  });
}
