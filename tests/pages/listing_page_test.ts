import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { DOMParser } from "@xmldom/xmldom";
import fc from "fast-check";
import { LISTING_PAGE } from "../../src/pages/listing_page.ts";
import type { Listing } from "../../src/resource/access/listing.ts";

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

const textOf = (listing: Listing) => [...LISTING_PAGE.pieces(listing)].join("");

function page(names: readonly string[], path = ""): string {
  return textOf({
    path,
    shown: names.length,
    omitted: 0,
    entries: names.map((name) => ({
      name,
      directory: false,
      size: 1,
      href: `https://auth/rest/access/A/id/${encodeURIComponent(name)}`,
    })),
    complete: true,
  });
}

/** The page's element names in order, and the texts of its links. */
function read(html: string): { elements: string[]; links: string[]; attributes: string[] } {
  const text = html.replace(/^<!doctype html>\n/, "").replace(/<(meta|link) ([^>]*)>/g, "<$1 $2/>")
    .replace(/<style>.*<\/style>/s, "");
  const root = new DOMParser({
    errorHandler: (level: string, message: string) => {
      throw new Error(`${level}: ${message}`);
    },
  }).parseFromString(text, "text/xml");
  const all = Array.from(root.getElementsByTagName("*"));
  return {
    elements: all.map(({ nodeName }) => nodeName),
    links: all.filter(({ nodeName }) => nodeName === "a").map(({ textContent }) => textContent ?? ""),
    attributes: all.flatMap(({ attributes }) => Array.from(attributes, ({ name }) => name)),
  };
}

Deno.test("LISTING_PAGE shows hostile names as text and adds no element or attribute for them", () => {
  const harmless = read(page(HOSTILE.map((_, i) => `file${i}`), "sub/"));
  const hostile = read(page(HOSTILE, `${HOSTILE[0]}/`));
  assert.deepEqual(hostile.links, HOSTILE);
  assert.deepEqual(hostile.elements, harmless.elements);
  assert.deepEqual(hostile.attributes, harmless.attributes);
});

Deno.test("LISTING_PAGE shows any name as text", () => {
  const name = fc.string({
    unit: fc.oneof(fc.constantFrom(..."<>&\"'`/=;!-"), fc.constantFrom(..."abä\u{1F600}")),
  });
  fc.assert(fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
    assert.deepEqual(read(page(names)).links, names);
  }));
});

Deno.test("LISTING_PAGE has no script, and its policy admits its own style sheet only", () => {
  const html = page(["x"]);
  assert.doesNotMatch(html, /<script|\son\w+=|javascript:/i);
  const style = /<style>(.*)<\/style>/s.exec(html)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = LISTING_PAGE.headers["Content-Security-Policy"] ?? "";
  assert.ok(policy.includes(`style-src 'sha256-${hash}'`));
  assert.ok(policy.startsWith("default-src 'none'"));
  assert.doesNotMatch(policy, /script-src|connect-src|'self'|unsafe/);
});

Deno.test("LISTING_PAGE marks directories, sizes, times, the way up and what is missing", () => {
  const html = textOf({
    path: "sub/",
    shown: 2,
    omitted: 3,
    next: "https://auth/d/?after=f",
    parent: "https://auth/up/",
    entries: [
      { name: "d", directory: true, modified: "2026-03-04T05:06:07", href: "https://auth/d/" },
      { name: "f", directory: false, size: 12, href: "https://auth/f" },
    ],
    complete: false,
  });
  assert.match(html, /<a href="https:\/\/auth\/d\/"><bdi>d<\/bdi>\/<\/a>/);
  assert.match(html, /<time datetime="2026-03-04T05:06:07">2026-03-04 05:06<\/time>/);
  assert.match(html, /<td class="number">12 B<\/td>/);
  assert.match(html, /<a href="https:\/\/auth\/up\/">/);
  assert.match(html, /2 entries, and more that are not shown; 3 in this directory cannot be shown/);
  assert.match(html, /<a rel="next" href="https:\/\/auth\/d\/\?after=f">/);
  assert.match(html, /lang="en"/);
});
