/** Hostile names that users choose stay text on all pages that show them. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { LONG } from "../long/results.ts";
import { ALICE } from "../system/running_service.ts";
import { SharingSystem } from "../system/sharing/sharing_system.ts";
import { formToken, Visitor } from "../system/visitor.ts";

const sharing = await SharingSystem.open();
const { system, data } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

const HOSTILE = [
  "<script>alert(1)<⁄script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  "` autofocus onfocus=alert(1) x=`",
  "javascript:alert(1)",
  "<!--",
  "]]><svg onload=alert(1)>",
  "&lt;b&gt;&#60;i&#62;&quot;",
  "</title></style></textarea></script><base href=evil>".replaceAll("/", "⁄"),
  "\u202e<b>txt.exe\u2066",
  "${alert(1)}{{1+1}}<%= 1 %>",
];
const ANY = fc.string({
  unit: fc.constantFrom(..."<>&\"'`=;!-# %+?{}$()[]abc", "\u202e", "ü", "\u{1F600}"),
  minLength: 1,
  maxLength: 30,
}).filter((name) => name.trim() === name);

/** Returns tags with their names of attributes; escaped text contains no delimiter of tags or values. */
function skeleton(html: string): string[] {
  const tags = html.replace(/<style>[^<]*<\/style>|<script>[^]*?<\/script>/g, "").match(/<[^>]*>/g) ?? [];
  return tags.map((tag) => tag.replace(/="[^"]*"/g, '=""'));
}

/** Returns the targets of links, forms and pictures of a page. */
function targets(html: string): string[] {
  return [...html.matchAll(/ (?:href|action|src)="([^"]*)"/g)].map(([, target = ""]) => target);
}

/** Creates a share, a token and more with this name, and returns every page that shows it. */
async function pagesWith(name: string, place: string): Promise<Map<string, string>> {
  const folder = `${place}/${name}`;
  const file = `${name}.txt`;
  await Deno.mkdir(`${data}/${folder}`, { recursive: true });
  await Deno.writeTextFile(`${data}/${folder}/${file}`, name);
  const id = await sharing.share(`${folder}/`, { note: name });
  const drop = await sharing.share(`${place}/`, { access: "DROP", note: name });
  const locked = await sharing.locked(`${folder}/${file}`, "a long password");
  const alice = new Visitor(system);
  assert.equal((await alice.signIn(ALICE)).status, 303);
  const token = formToken(await alice.get("/tokens"));
  const fields = { token, hours: "1", activity: "read", server: "", path: "" };
  const { status } = await alice.post("/tokens", { ...fields, name });
  // Some names are not allowed for tokens.
  if (status !== 200) await alice.post("/tokens", { ...fields, name: "harmless" });
  const word = encodeURIComponent(name);
  const path = encodeURIComponent(`${data}/${folder}/`);
  const access = `/rest/access/HPC/${id}/`;
  const found = new Map<string, string>();
  for (
    const at of [
      "/",
      "/tokens",
      "/shares",
      `/shares/HPC/browse?path=${path}`,
      `/shares/HPC/browse?path=${word}`,
      `/shares/HPC/new?path=${path}`,
      `/shares/HPC/${id}`,
      `/shares/HPC/${word}`,
      `/login?to=${word}`,
      access,
      `${access}?find=${word}`,
      `${access}${encodeURIComponent(file)}?view=preview`,
      `${access}missing-${word}`,
      `/rest/access/HPC/${drop}/`,
      `/rest/access/HPC/${locked}`,
      `/rest/auth/${word}`,
    ]
  ) {
    const { text, headers } = await alice.get(at);
    assert.match(String(headers["content-security-policy"]), /default-src 'none'/, at);
    found.set(
      at.replaceAll(path, "P").replaceAll(word, "N").replace(/\/HPC\/[0-9A-Za-z]{20,}/, "/HPC/I"),
      text,
    );
  }
  found.set("wrong password", (await new Visitor(system).signIn([name, "wrong"])).text);
  const list = await alice.get("/tokens");
  const [, made = ""] = /action="\.\/(tokens\/[^"]+)"/.exec(list.text) ?? [];
  await alice.post(`/${made}`, { token });
  for (const share of [id, drop, locked]) await alice.post(`/shares/HPC/${share}`, { token, do: "end" });
  return found;
}

const harmless = await pagesWith("harmless", "w");

for (const [i, name] of [...HOSTILE, ...fc.sample(ANY, { numRuns: LONG ? 60 : 1, seed: 22 })].entries()) {
  Deno.test(`${JSON.stringify(name)} is text on all pages`, async () => {
    const hostile = await pagesWith(name, `w${i}`);
    let shown = 0;
    for (const [at, page] of hostile) {
      assert.deepEqual(skeleton(page), skeleton(harmless.get(at) ?? ""), at);
      for (const target of targets(page)) {
        assert.match(target, /^(?:\.|https:\/\/localhost:|data:image\/svg|\?|#|$)/, at);
      }
      if (page.includes("<bdi>")) shown++;
    }
    assert(shown > 5, "it is shown");
  });
}

Deno.test("a recipient whose name has a NUL is a wrong request, and no internal error", async () => {
  const body = { path: `${data}/d/ten.txt`, user: "CN=a\0b", access: "READ" };
  const reply = await system.ask("/rest/share/HPC", { as: ALICE, body });
  assert.equal(reply.status, 400, reply.text);
  assert.equal(
    (await system.ask("/rest/share/HPC", { as: ALICE, body: { ...body, user: "CN=a\\00b" } })).status,
    201,
  );
});
