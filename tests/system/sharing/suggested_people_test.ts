/** The service suggests recipients only where the site allows it, and only people who have signed in. */
import assert from "node:assert/strict";
import { ALICE } from "../running_service.ts";
import { formToken, Visitor } from "../visitor.ts";
import { BOB, BOB_DN, SharingSystem } from "./sharing_system.ts";

const NEW = "/shares/HPC/new?path=%2F";

const SUGGEST = { "share.suggestPeople": "true" };
const sharing = await SharingSystem.open({
  properties: { ...SUGGEST, "container.runtimeConfigurationUpdate": "false" },
});
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());
let inUse: Readonly<Record<string, string>> = SUGGEST;

async function shared(properties: Readonly<Record<string, string>>, user = "bob") {
  if (properties !== inUse) await sharing.reloadWith(properties);
  inUse = properties;
  const [alice, bob] = [new Visitor(sharing.system), new Visitor(sharing.system)];
  await bob.signIn(BOB);
  await alice.signIn(ALICE);
  const page = await alice.get(NEW);
  const made = await alice.post("/shares/HPC", {
    token: formToken(page),
    path: `${sharing.data}/d/`,
    user,
    access: "READ",
    days: "1",
  });
  const where = new URL(made.headers.location ?? "", "https://x/shares/HPC").pathname;
  return { page: page.text, made, share: made.status === 303 ? (await alice.get(where)).text : "" };
}

Deno.test("share.suggestPeople suggests people who have signed in, by their distinguished names", async () => {
  const { page, made, share } = await shared(SUGGEST, BOB_DN);
  assert.match(
    page,
    /<datalist id="people"><option value="CN=Alice,O=Demo,C=EU">Alice<\/option><option value="CN=Bob,O=Demo,C=EU">Bob<\/option>/,
  );
  assert.equal(made.status, 303, made.text);
  assert.match(share, /Recipient<\/dt><dd><bdi>Bob<\/bdi>/);
});

Deno.test("a self-chosen name cannot name the recipient of a share", async () => {
  const { made } = await shared(SUGGEST);
  assert.equal(made.status, 400, made.text);
});

Deno.test("without share.suggestPeople nobody learns who uses the service", async () => {
  const { page, made } = await shared({ "share.suggestPeople": "false" });
  assert.match(page, /<datalist id="people"><\/datalist>/);
  assert.doesNotMatch(page, /Bob/);
  assert.equal(made.status, 400, "a name is no distinguished name");
});
