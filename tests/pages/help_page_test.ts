import assert from "node:assert/strict";
import { helpPage } from "../../src/pages/help_page.ts";
import { call } from "../resource/sample_call.ts";

const headings = (menu: readonly string[]) => {
  const asked = { ...call(), base: "https://auth.example", menu: new Set(menu) };
  const page = String(helpPage(asked, { accepted: [], hasDeviceLogin: false }).body);
  return { page, headings: [...page.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, heading]) => heading) };
};

Deno.test("helpPage() explains only the pages that the service has", () => {
  const all = headings(["/", "/login", "/files", "/shares", "/tokens", "/help"]);
  assert.deepEqual(all.headings, [
    "If you received a link",
    "Your files",
    "Share files",
    "Tokens",
    "Log in on the command line",
  ]);
  assert.match(all.page, /by WebDAV, at https:\/\/auth\.example\/dav\/\./);
  const links = headings(["/", "/help"]);
  assert.deepEqual(links.headings, ["If you received a link", "Log in on the command line"]);
});
