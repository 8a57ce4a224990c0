/** Recipients by name: only where the site allows it, and only people who have signed in. */
import assert from "node:assert/strict";
import { ALICE } from "../running_service.ts";
import { formToken, Visitor } from "../visitor.ts";
import { BOB, SharingSystem } from "./sharing_system.ts";

const NEW = "/shares/HPC/new?path=%2F";

async function shared(properties: Readonly<Record<string, string>>) {
  const sharing = await SharingSystem.open({ properties });
  const [alice, bob] = [new Visitor(sharing.system), new Visitor(sharing.system)];
  await bob.signIn(BOB);
  await alice.signIn(ALICE);
  const page = await alice.get(NEW);
  const make = (user: string) =>
    alice.post("/shares/HPC", {
      token: formToken(page),
      path: `${sharing.data}/d/`,
      user,
      access: "READ",
      days: "1",
    });
  return { sharing, page: page.text, make, alice };
}

Deno.test("with share.suggestPeople people who have signed in are suggested, each by the name that the login proved", async () => {
  const { sharing, page, make, alice } = await shared({ "share.suggestPeople": "true" });
  await using _ = sharing;
  const [, bob = ""] = /<option value="([^"]*)" label="Bob"><\/option>/.exec(page) ?? [];
  assert.match(bob, /^CN=Bob,/);
  assert.match(
    page,
    /<datalist id="people"><option value="CN=Alice[^"]*" label="Alice[^"]*"><\/option><option /,
  );
  const typed = await make("bob");
  assert.equal(typed.status, 400, "whoever calls themselves bob receives nothing");
  assert.ok(typed.text.includes(`the distinguished name of the person you mean: ${bob}`), typed.text);
  const chosen = await make(bob);
  assert.equal(chosen.status, 303, chosen.text);
  const where = new URL(chosen.headers.location ?? "", "https://x/shares/HPC").pathname;
  assert.match((await alice.get(where)).text, /Recipient<\/dt><dd><bdi>Bob<\/bdi>/);
});

Deno.test("without share.suggestPeople nobody learns who uses the service", async () => {
  const { sharing, page, make } = await shared({});
  await using _ = sharing;
  assert.match(page, /<datalist id="people"><\/datalist>/);
  assert.doesNotMatch(page, /Bob/);
  const made = await make("bob");
  assert.equal(made.status, 400, "a name is no distinguished name");
  assert.doesNotMatch(made.text, /CN=/);
});
