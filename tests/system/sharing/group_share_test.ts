/** Shares for a group, with groups from the service's own sources. */
import assert from "node:assert/strict";
import { runCommand } from "../../../src/command/run_command.ts";
import { until } from "../../fixtures/deadline.ts";
import { recordedIo } from "../../command/recorded_io.ts";
import { ALICE, ALICE_DN, MAP, passwordLine } from "../running_service.ts";
import { formToken, Visitor } from "../visitor.ts";
import { BOB, BOB_DN, SharingSystem } from "./sharing_system.ts";

const user = (name: string) => [[name, `${name}-4711`], `CN=${name},O=Demo,C=EU`] as const;
const [CAROL, CAROL_DN] = user("carol");
const [GUEST, GUEST_DN] = user("guest");
const [FAR, FAR_DN] = user("far");

const map = {
  [ALICE_DN]: { ...MAP[ALICE_DN], "uftpd.HPC.group": ["hpc", "users"] },
  [CAROL_DN]: { role: "user", xlogin: "carol", group: ["users", "proj"] },
  // The role decides which services a user may use; shares for the user do not require it.
  [GUEST_DN]: { role: "guest", xlogin: "guest", group: "proj" },
  // Only on another server.
  [FAR_DN]: { role: "user", "uftpd.ELSEWHERE.xlogin": "far", "uftpd.ELSEWHERE.group": "proj", group: "proj" },
};
const sharing = await SharingSystem.open({
  groups: ["proj"],
  passwords: passwordLine(CAROL, CAROL_DN) + passwordLine(GUEST, GUEST_DN) + passwordLine(FAR, FAR_DN),
  map,
});
const { system, data } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

/** Replaces the map file, and waits until the service has read it. */
async function changeMap(text: string): Promise<void> {
  const before = system.log.length;
  await system.replace("conf/mapfile.json", text);
  await system.logged(/file read again.*mapfile/, before);
}

const asked = async (id: string, as?: readonly [string, string]) =>
  (await sharing.fetch(`${id}/ten.txt`, as === undefined ? {} : { as })).status;

Deno.test("a share for a group is for users whom the sources name as members on its server at the time of use", async () => {
  const id = await sharing.share("d/", { user: "group:proj" });
  assert.deepEqual(
    await Promise.all([CAROL, GUEST, FAR, BOB, ALICE, undefined].map((as) => asked(id, as))),
    [200, 200, 403, 403, 403, 401],
  );
  const session = await system.ask("/rest/access/HPC", {
    as: CAROL,
    body: { serverPath: `${data}/d/`, send: true },
  });
  assert.equal(session.status, 200, session.text);
  assert.equal(system.daemon().sessionRequests.at(-1)?.get("user"), "alice");

  const others = { ...MAP, ...map, [BOB_DN]: { role: "user", xlogin: "bob", group: "proj" }, [CAROL_DN]: {} };
  await changeMap(JSON.stringify(others));
  await until(async () => await asked(id, BOB) === 200, { what: "the new map counts" });
  assert.equal(await asked(id, CAROL), 403);

  // An owner whom the map bans no longer shares anything with anybody.
  await changeMap(JSON.stringify({ ...others, [ALICE_DN]: { ...MAP[ALICE_DN], role: "banned" } }));
  await until(async () => await asked(id, BOB) === 404, { what: "the ban counts" });
  await changeMap(JSON.stringify({ ...MAP, ...map, [BOB_DN]: { role: "user" } }));
  await until(async () => await asked(id, CAROL) === 200, { what: "the old map counts" });
});

Deno.test("sessions of an owner with a list of groups, and of users of the owner's shares, have exactly these groups", async () => {
  const before = system.daemon().requests.length;
  const alice = new Visitor(system);
  await alice.signIn(ALICE);
  assert.equal((await alice.get("/")).status, 200);
  assert.equal((await alice.get(`/shares/HPC/browse?path=${encodeURIComponent(`${data}/`)}`)).status, 200);
  const id = await sharing.share("d/");
  assert.equal(await asked(id), 200);
  const change = { method: "PUT", as: ALICE, body: { path: `${data}/d/sub/` } };
  assert.equal((await system.ask(`/rest/share/HPC/${id}`, change)).status, 200);
  assert.equal((await sharing.fetch(`${id}/x.dat`)).status, 200);
  const sessions = system.daemon().requests.slice(before).flatMap(({ values }) =>
    values?.has("secret") ? [values.get("group")] : []
  );
  assert.deepEqual([sessions.length > 4, [...new Set(sessions)]], [true, ["hpc:users"]]);
});

Deno.test("a share for a group can be created by page, and is shown to its members and the operator", async () => {
  const alice = new Visitor(system);
  await alice.signIn(ALICE);
  const form = await alice.get(`/shares/HPC/new?path=${encodeURIComponent(`${data}/d/sub/`)}`);
  assert.match(
    form.text,
    /<datalist id="groups"><option value="hpc"><\/option><option value="users"><\/option><\/datalist>/,
  );
  const fields = { token: formToken(form), path: `${data}/d/sub/`, access: "READ", days: "7", user: "" };
  assert.equal((await alice.post("/shares/HPC", { ...fields, group: "a*" })).status, 400);
  assert.equal((await alice.post("/shares/HPC", { ...fields, group: "hpc", user: BOB_DN })).status, 400);
  const unknown = await alice.post("/shares/HPC", { ...fields, group: "unheard-of" });
  assert.equal(unknown.status, 400);
  assert.match(unknown.text, /The server does not know this group/);
  const made = await alice.post("/shares/HPC", { ...fields, group: "proj" });
  assert.equal(made.status, 303, made.text);
  const { pathname } = new URL(made.headers.location ?? "", "https://x/shares/HPC");
  const page = await alice.get(pathname);
  assert.match(page.text, /members of the group <bdi>proj<\/bdi>/);
  assert.match(page.text, /Link for the members of the group, who must sign in:/);
  assert.match(
    (await alice.get("/")).text,
    /d\/sub\/<\/bdi><\/a>, read, for members of the group <bdi>proj</,
  );
  assert.match((await alice.get("/shares")).text, /members of the group <bdi>proj<\/bdi> · read/);

  const carol = new Visitor(system);
  await carol.signIn(CAROL);
  assert.match((await carol.get("/")).text, /Shared with you[^]*d\/sub\/<\/bdi>/);
  const far = new Visitor(system);
  await far.signIn(FAR);
  assert.doesNotMatch((await far.get("/")).text, /d\/sub\/<\/bdi>/);

  const io = recordedIo();
  assert.equal(await runCommand(["share", "list", "--json", "--config", system.main], io), 0, io.err);
  const id = pathname.slice(pathname.lastIndexOf("/") + 1);
  const listed: unknown = JSON.parse(io.out).find((share: { id: string }) => share.id === id);
  assert.equal(Reflect.get(Object(listed), "targetID"), "group:proj");
  const shown = recordedIo();
  assert.equal(await runCommand(["share", "show", id, "--config", system.main], shown), 0, shown.err);
  assert.match(shown.out, /^For +group:proj$/m);
});

Deno.test("signed-in users reach shares for them from the home page, and are anonymous below /rest/", async () => {
  const id = await sharing.share("d/", { user: "group:proj" });
  const carol = new Visitor(system);
  const follow = async (from: string, reply: { readonly headers: Readonly<Record<string, unknown>> }) => {
    const { pathname, search } = new URL(String(reply.headers.location), `https://x${from}`);
    return [`${pathname}${search}`, await carol.get(`${pathname}${search}`)] as const;
  };

  const page = `/shared/HPC/${id}/sub/?sort=size`;
  const unknown = await carol.get(page);
  assert.equal(unknown.status, 303);
  const [signIn, form] = await follow(page, unknown);
  const entered = await carol.post(signIn, { token: formToken(form), user: CAROL[0], password: CAROL[1] });
  const [back, seen] = await follow(signIn, entered);
  assert.equal(back, page);
  assert.equal(seen.status, 200, seen.text);
  assert.doesNotMatch(seen.text, /rest\/access\/HPC\/[^:]*\/"|type="file"/);

  // The home page leads there, and each link of the page to its target.
  const home = (await carol.get("/")).text;
  const [, listed = ""] = new RegExp(`href="([^"]*shared/HPC/${id}/)"`).exec(home) ?? [];
  const directory = new URL(listed, "https://x/").pathname;
  const listing = await carol.get(directory);
  const [, file = ""] = /href="([^"?]*ten\.txt)"/.exec(listing.text) ?? [];
  const path = new URL(file, `https://x${directory}`).pathname;
  assert.equal(path, `/shared/HPC/${id}/ten.txt`);
  assert.equal((await carol.get(path)).text, (await sharing.fetch(`${id}/ten.txt`, { as: CAROL })).text);
  const preview = await carol.get(`${path}?view=preview`);
  assert.match(preview.text, new RegExp(`shared/HPC/${id}/ten\\.txt\\?download"`));
  assert.equal((await carol.get(`${directory}?view=zip`)).headers["content-type"], "application/zip");

  // The cookie has no effect below /rest/, programs there see no change, and other users see nothing.
  const program = { headers: { Accept: "*/*" } };
  assert.equal((await carol.get(`/rest/access/HPC/${id}/ten.txt`, program)).status, 401);
  const led = await carol.get(`/rest/access/HPC/${id}/ten.txt?view=preview`);
  assert.equal(led.status, 303, "a browser is never asked for Basic credentials");
  assert.equal(
    new URL(led.headers["location"] ?? "", `https://x/rest/access/HPC/${id}/ten.txt`).pathname,
    `/shared/HPC/${id}/ten.txt`,
  );
  const bob = new Visitor(system);
  await bob.signIn(BOB);
  assert.equal((await bob.get(path)).status, 403);
  assert.equal((await new Visitor(system).get(path)).status, 303);
});
