import assert from "node:assert/strict";
import axe from "axe-core";
import { LONG } from "../long/results.ts";
import type { Page, View } from "./chromium.ts";

/** Folder for screenshots, if `AUTHSERVER_SCREENSHOTS` names one. */
const SCREENSHOTS = Deno.env.get("AUTHSERVER_SCREENSHOTS");

/** Desktop and telephone, each with the dark and the light scheme. */
export const VIEWS: readonly Pick<View, "width" | "scheme">[] = [
  { width: 1280, scheme: "dark" },
  { width: 1280, scheme: "light" },
  { width: 360, scheme: "dark" },
  { width: 360, scheme: "light" },
];

/** Number of pages that were checked. */
let checkedPages = 0;

/** Returns the views for axe-core, which takes a second for each: all in long runs, else one, in turn. */
function axeViews(): typeof VIEWS {
  const turn = checkedPages++ % VIEWS.length;
  return LONG ? VIEWS : VIEWS.slice(turn, turn + 1);
}

/** Checks a page in each view, and fails if it finds a defect. @param name Name of its screenshots. */
export async function look(page: Page, name: string): Promise<void> {
  await page.evaluate(`${axe.source}; true`);
  const closer = axeViews();
  for (const view of VIEWS) {
    await page.show(view);
    const what = `${name}-${view.width}-${view.scheme}`;
    if (SCREENSHOTS !== undefined) {
      await Deno.writeFile(`${SCREENSHOTS}/${what}.png`, await page.screenshot());
    }
    assert.deepEqual(await page.evaluate(PAGE_CHECKS), [], what);
    if (closer.includes(view)) assert.deepEqual(await axeFindings(page), [], what);
  }
}

/** Returns serious and critical findings of axe-core by WCAG 2.2 A and AA and its own best practices. */
async function axeFindings(page: Page): Promise<unknown> {
  return await page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, help, nodes }) => id + ": " + help + ": " + nodes.map(({ html }) => html).join(" ")))`);
}

/**
 * Checks of every page by WCAG 2.2 A and AA, as far as a program can check them: a function that runs in
 * the page and returns the defects.
 */
const PAGE_CHECKS = `(() => {
  const wrong = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const check = (fine, what) => fine || wrong.push(what);

  check(["en", "de", "fr"].includes(document.documentElement.lang), "3.1.1: the page has no language");
  check(document.title.trim() !== "", "2.4.2: the page has no title");
  check(all("h1").length === 1, "one h1 expected");
  check(all("main").length === 1, "1.3.1: one main expected");
  check(all("script").length <= 1 && all("script[src]").length === 0, "one script at most expected, in the page");
  check(document.compatMode === "CSS1Compat", "standards mode expected");

  let level = 0;
  for (const { tagName, textContent } of all("h1,h2,h3,h4,h5,h6")) {
    const next = Number(tagName[1]);
    check(next <= level + 1, "1.3.1: heading level skipped before " + textContent);
    check(textContent.trim() !== "", "2.4.6: empty heading");
    level = next;
  }

  const ids = all("[id]").map(({ id }) => id);
  check(new Set(ids).size === ids.length, "an id is there twice");
  for (const element of all("[aria-labelledby],[aria-describedby]")) {
    for (const name of ["aria-labelledby", "aria-describedby"]) {
      const target = element.getAttribute(name);
      check(target === null || document.getElementById(target) !== null, "4.1.2: no element " + target);
    }
  }
  for (const link of all("a")) {
    check(link.textContent.trim() !== "", "2.4.4: link without text");
    check(/^https?:$/.test(link.protocol), "link with " + link.protocol);
  }
  for (const cell of all("th")) check(cell.scope !== "", "1.3.1: th without scope");
  for (const table of all("table")) check(table.caption !== null, "1.3.1: table without caption");
  for (const list of all("dl")) {
    for (const child of list.children) check(/^(DT|DD)$/.test(child.tagName), "1.3.1: odd child of dl");
  }
  for (const element of all("*")) {
    const { overflowX } = getComputedStyle(element);
    const scrolls = overflowX === "auto" && element.scrollWidth > element.clientWidth + 1;
    const reachable = element.tabIndex >= 0 || element.querySelector("a,[tabindex]") !== null;
    check(!scrolls || reachable, "2.1.1: scrolls and cannot be reached by keyboard: " + element.tagName);
  }
  check(document.documentElement.scrollWidth <= innerWidth, "1.4.10: the page is wider than the window");
  const links = all("a").filter((link) => link.getClientRects().length > 0);
  for (const link of links) {
    const { height } = link.getBoundingClientRect();
    check(height >= 16, "2.5.8: link too small: " + link.textContent);
  }

  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => {
      const c = part / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (text.data.trim() === "") continue;
    const element = text.parentElement;
    const style = getComputedStyle(element);
    const [a, b] = [light(parse(style.color)), light(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    check(ratio >= 4.5, "1.4.3: contrast " + ratio.toFixed(2) + " of " + text.data.trim());
    check(parseFloat(style.fontSize) >= 12, "text below 12 px: " + text.data.trim());
  }
  return wrong;
})()`;
