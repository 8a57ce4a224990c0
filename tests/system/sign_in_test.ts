/** Browsers that people sign in with: start, end and effect of a sign-in. */
import assert from "node:assert/strict";
import { auditLines } from "../fixtures/audit_lines.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { startXuudb } from "../attributes/xuudb/xuudb_simulator.ts";
import { createAuthority } from "../pki/authority.ts";
import { ALICE, ALICE_DN, PASSWORDS, runService, STRANGER } from "./running_service.ts";
import { formToken, OWN_PAGE, Visitor } from "./visitor.ts";

const system = await runService({
  properties: {
    "container.security.rest.authentication.order": "PASSWORD X509",
    "container.security.rest.authentication.X509.class": "X509Authenticator",
    "container.httpServer.wantClientAuthn": "true",
    "persistence.directory": "{folder}/data",
    "container.security.throttling.maxFailures": "3",
  },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const COOKIE = "__Host-authserver-sign-in";

async function visitor(user?: readonly [string, string]): Promise<Visitor> {
  const one = new Visitor(system);
  if (user !== undefined) assert.equal((await one.signIn(user)).status, 303);
  return one;
}

/** Returns the user whom the page at the root names. */
async function nameOn(one: Visitor): Promise<string | undefined> {
  const { text } = await one.get("/");
  return /Signed in as <strong><bdi>([^<]+)</.exec(text)?.[1];
}

async function command(...args: readonly string[]): Promise<void> {
  const io = recordedIo();
  assert.equal(await runCommand([...args, "--config", system.main], io), 0, io.err);
}

Deno.test("a browser signs in with name and password, and signs out again", async () => {
  const one = await visitor();
  assert.equal(await nameOn(one), undefined);
  assert.match(String((await one.get("/")).headers["content-security-policy"]), /form-action 'none'/);
  const signedIn = await one.signIn(ALICE);
  assert.equal(signedIn.status, 303);
  assert.equal(signedIn.headers.location, "./");
  assert.match(
    one.settings.find((setting) => setting.startsWith(COOKIE)) ?? "",
    /^__Host-authserver-sign-in=[A-Za-z0-9_-]{22}; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
  );
  assert.deepEqual([...one.cookies.keys()], [COOKIE], "the cookie of the visit is gone");
  const home = await one.get("/");
  assert.match(home.text, /Signed in as <strong><bdi>alice</);
  assert.match(
    String(home.headers["content-security-policy"]),
    /form-action 'self'/,
    "it can be sent to sign out",
  );
  assert.equal((await one.get("/login")).status, 303, "goes on");
  const kept = new Map(one.cookies);
  assert.equal((await one.post("/logout", { token: formToken(home) })).status, 303);
  assert.equal(one.cookies.size, 0);
  for (const [name, value] of kept) one.cookies.set(name, value);
  assert.equal(await nameOn(one), undefined, "the cookie of before is good for nothing");
});

Deno.test("a browser can sign out and revoke its tokens while an attribute source fails", async () => {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const users = { "SITE-A": { [ALICE_DN]: { xlogin: "alice", role: "user" } } };
  await using xuudb = startXuudb(users, authority.issue({ subject: "CN=xuudb", names: ["localhost"] }));
  const [host = "", port = ""] = xuudb.address.split(/:(?=\d)/);
  await using other = await runService({
    authority,
    properties: {
      "persistence.directory": "{folder}/data",
      "container.security.attributes.order": "XUUDB",
      "container.security.attributes.XUUDB.xuudbHost": host,
      "container.security.attributes.XUUDB.xuudbPort": port,
      "container.security.attributes.XUUDB.xuudbGCID": "SITE-A",
      "container.security.attributes.XUUDB.xuudbCache": "false",
    },
  });
  const one = new Visitor(other);
  assert.equal((await one.signIn(ALICE)).status, 303);
  const page = await one.get("/tokens");
  const token = formToken(page);
  const bearers = await Promise.all(["a", "b", "c"].map(async (name) => {
    const { text } = await one.post("/tokens", { token, name, hours: "1" });
    return { headers: { Authorization: `Bearer ${/eyJ[\w.-]+/.exec(text)?.[0]}` } };
  }));
  const { tokens } = (await other.ask("/rest/auth/tokens", bearers[0])).json();
  assert.ok(Array.isArray(tokens));
  const [byForm, byId] = tokens.map(({ id }) => id);
  xuudb.reply = { status: 500, body: "out of order" };
  const headers = { Accept: "*/*" };
  assert.equal((await one.get("/tokens", { headers })).status, 503);
  assert.equal((await one.post(`/tokens/${byForm}`, { token })).status, 303);
  const end = (path: string, as?: typeof ALICE) =>
    other.ask(`/rest/auth/tokens${path}`, { method: "DELETE", ...(as && { as }) });
  assert.equal((await end(`/${byId}`, ALICE)).status, 204);
  assert.equal((await end("")).status, 401);
  assert.deepEqual((await end("", ALICE)).json(), { ended: 1 });
  const kept = new Map(one.cookies);
  assert.equal((await one.post("/logout", { token: "x".repeat(43) })).status, 403);
  assert.equal((await one.post("/logout", { token })).status, 303);
  assert.equal(one.cookies.size, 0);
  xuudb.reply = undefined;
  for (const [name, value] of kept) one.cookies.set(name, value);
  assert.equal((await one.get("/tokens")).status, 303, "the cookie of before is good for nothing");
  for (const bearer of bearers) assert.equal((await other.ask("/rest/auth", bearer)).status, 401);
});

Deno.test("errors are in the language of a page's reader, and in English for programs", async () => {
  const reader = await visitor();
  const headers = { "Accept-Language": "de-AT, en;q=0.5" };
  const page = await reader.get("/nowhere", { headers });
  assert.match(page.text, /<title>Diese Adresse gibt es nicht<\/title>/);
  const json = { ...headers, Accept: "application/json" };
  const script = await reader.get("/nowhere", { headers: { ...json, ...OWN_PAGE } });
  assert.equal(script.json().errorMessage, "Diese Adresse gibt es nicht");
  const program = await reader.get("/nowhere", { headers: json });
  assert.equal(program.json().errorMessage, "This address was not found");
});

Deno.test("Help and the pages of unknown addresses and methods show who is signed in", async () => {
  const one = await visitor(ALICE);
  for (const [path, status] of [["/help", 200], ["/nothing", 404], ["/logout", 405]] as const) {
    const page = await one.get(path);
    assert.equal(page.status, status, path);
    assert.match(page.text, /Signed in as <strong><bdi>alice<[^]*>Sign out</, path);
    assert.match(String(page.headers["cache-control"]), /no-store/, path);
    assert.match((await new Visitor(system).get(path)).text, />Sign in</, path);
  }
});

Deno.test("browsers must not store pages of a signed-in user", async () => {
  const one = await visitor(ALICE);
  for (const path of ["/", "/tokens", "/login/device"]) {
    const { status, headers } = await one.get(path);
    assert.deepEqual([status, headers["cache-control"]], [200, "private, no-store"], path);
  }
  assert.equal((await (await visitor()).get("/")).headers["cache-control"], "private, no-cache");
});

Deno.test("no file of the service contains the cookie of a browser", async () => {
  const one = await visitor(ALICE);
  const token = one.cookies.get(COOKIE) ?? "";
  assert.equal(token.length, 22);
  for (const file of ["data/records.sqlite", "data/records.sqlite-wal", "logs/authserver.log"]) {
    const bytes = await Deno.readFile(`${system.folder}/${file}`);
    assert(!new TextDecoder("latin1").decode(bytes).includes(token), file);
  }
});

Deno.test("a wrong password in the form is reported, counted and audited like any other, and then delays right ones", async () => {
  const one = await visitor();
  const wrong = await one.signIn([STRANGER[0], "guess"]);
  assert.equal(wrong.status, 403);
  assert.equal(wrong.headers["www-authenticate"], undefined);
  assert.match(wrong.text, /role="alert"[^>]*>Wrong user name or password/);
  assert.doesNotMatch(wrong.text, /guess/);
  assert.match(wrong.text, /name="user"[^>]* value="stranger">/, "only the password is typed again");
  await one.signIn([STRANGER[0], "guess again"]);
  const basic = await system.ask("/rest/auth", { as: [STRANGER[0], "and again"] });
  assert.equal(basic.status, 401);
  await one.signIn([STRANGER[0], "once more"]);
  const late = await one.signIn(STRANGER);
  assert.equal(late.status, 429);
  assert(Number(late.headers["retry-after"]) > 0);
  assert.equal((await system.ask("/rest/auth", { as: STRANGER })).status, 429, "by Basic as well");
  assert.equal(one.cookies.has(COOKIE), false);
  const path = `${system.folder}/logs/audit.log`;
  const [refused = {}] = await auditLines(path, {
    wanted: ({ event, user }) => event === "login" && user === STRANGER[0],
  });
  assert.deepEqual([refused["event"], refused["decision"], refused["action"], refused["reason"]], [
    "login",
    "refused",
    "POST /login",
    "ERR_UNAUTHENTICATED",
  ]);
  const [granted = {}] = await auditLines(path, {
    wanted: ({ event, dn }) => event === "login" && dn === ALICE_DN,
  });
  assert.deepEqual([granted["decision"], granted["method"]], ["granted", "PASSWORD"]);
  await command("ban", "remove", "--user", STRANGER[0]);
  await command("ban", "remove", "--address", "127.0.0.1");
});

Deno.test("a signed-in browser is anonymous below /rest/, and Basic and Bearer credentials sign no browser in", async () => {
  const one = await visitor(ALICE);
  const headers = { Accept: "*/*" };
  for (const [path, status] of [["/rest/auth/token", 401], ["/rest/share/HPC", 404]] as const) {
    assert.equal((await one.get(path, { headers })).status, status, path);
  }
  const list = await one.get("/rest/auth", { headers });
  assert.match(list.text, /CN=ANONYMOUS/);
  const session = await one.get("/rest/auth/HPC", { method: "POST", body: { serverPath: "" }, headers });
  assert.equal(session.status, 401);

  const token = (await system.ask("/rest/auth/token", { as: ALICE, headers: { Accept: "text/plain" } })).text;
  for (const question of [{ as: ALICE }, { headers: { Authorization: `Bearer ${token}` } }]) {
    const other = await visitor();
    for (const path of ["/", "/login", "/rest/auth"]) await other.get(path, question);
    assert.deepEqual([...other.cookies.keys()].filter((name) => name === COOKIE), []);
    assert.equal((await other.post("/logout", {}, question)).status, 303);
  }
});

Deno.test("the right password signs in only from our own page in the same browser", async () => {
  const one = await visitor();
  const token = formToken(await one.get("/login"));
  const [user, password] = ALICE;
  const foreign: Readonly<Record<string, Record<string, string>>> = {
    "another site": { "Sec-Fetch-Site": "cross-site", Origin: `https://localhost:${system.port}` },
    "another host of the domain": { "Sec-Fetch-Site": "same-site" },
    "typed": { "Sec-Fetch-Site": "none" },
    "an old browser, another site": { Origin: "https://evil.example" },
    "an old browser, another port": { Origin: "https://localhost:1" },
    "an old browser, without TLS": { Origin: `http://localhost:${system.port}` },
    "an opaque origin": { Origin: "null" },
    "a program that says nothing": {},
  };
  const body = new URLSearchParams({ token, user, password }).toString();
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  for (const [what, headers] of Object.entries(foreign)) {
    const reply = await one.get("/login", { method: "POST", body, headers: { ...form, ...headers } });
    assert.equal(reply.status, 403, what);
    assert.equal(one.cookies.has(COOKIE), false, what);
    // A browser sends no cookie with requests from another site; an answer must not replace the cookie.
    for (const type of [form["Content-Type"], "text/plain", "multipart/form-data; boundary=x", ""]) {
      const without = await one.get("/login", {
        method: "POST",
        body,
        headers: { ...headers, "Content-Type": type, Cookie: "" },
      });
      assert.equal(without.status, 403, `${what}, ${type}`);
      assert.deepEqual(without.headers["set-cookie"] ?? [], [], `${what}, ${type}`);
    }
  }
  assert.equal((await (await visitor()).post("/login", { token, user, password })).status, 403, "no cookie");
  const other = await visitor();
  await other.get("/login");
  assert.equal((await other.post("/login", { token, user, password })).status, 403, "another's page");
  assert.equal((await other.post("/login", { user, password })).status, 403, "no token");
  const json = await one.get("/login", {
    method: "POST",
    headers: OWN_PAGE,
    body: { token, user, password },
  });
  assert.equal(json.status, 415);
  const old = { ...form, Origin: `https://localhost:${system.port}` };
  assert.equal(
    (await one.get("/login", { method: "POST", headers: old, body })).status,
    303,
    "an old browser",
  );
});

Deno.test("a sign-in uses no earlier cookie and ends the earlier session, and other sites cannot sign a user out", async () => {
  const one = await visitor();
  one.cookies.set(COOKIE, "A".repeat(22)); // like an attacker who wants to use it later
  await one.signIn(ALICE);
  assert.notEqual(one.cookies.get(COOKIE), "A".repeat(22));
  const first = one.cookies.get(COOKIE) ?? "";
  const home = await one.get("/");
  const cross = { headers: { "Sec-Fetch-Site": "cross-site" } };
  assert.equal((await one.post("/logout", { token: formToken(home) }, cross)).status, 403);
  assert.equal((await one.post("/logout", { token: "x".repeat(43) })).status, 403);
  assert.equal((await one.get("/logout")).status, 405, "an image or a link");
  assert.equal(await nameOn(one), "alice");
  // A second sign-in gets another session, and ends the first one.
  const page = await one.get("/login", { headers: { Cookie: "" } });
  one.cookies.set(COOKIE, first);
  await one.post("/login", { token: formToken(page), user: STRANGER[0], password: STRANGER[1] });
  const thief = await visitor();
  thief.cookies.set(COOKIE, first);
  assert.equal(await nameOn(thief), undefined);
});

Deno.test("sign-in leads to the requested page, and never to another host", async () => {
  const wanted: Readonly<Record<string, string>> = {
    "shares/HPC?after=x": "./shares/HPC?after=x",
    "": "./",
    "//evil.example": "./",
    "https://evil.example/": "./",
    "/\\evil.example": "./",
    "javascript:alert(1)": "./",
    ".//evil.example": "./",
    "shares/../../other-service/": "./",
    "shares/%2e%2E/%2e./other-service/": "./",
    "shares/../tokens": "./shares/../tokens",
    "a\r\nSet-Cookie: x=y": "./",
  };
  for (const [to, location] of Object.entries(wanted)) {
    const one = await visitor();
    const path = `/login?to=${encodeURIComponent(to)}`;
    const page = await one.get(path);
    assert.doesNotMatch(page.text, /evil|alert|other-service|Set-Cookie/);
    const [user, password] = ALICE;
    const reply = await one.post(path, { token: formToken(page), user, password });
    assert.equal(reply.headers.location, location, to);
  }
});

Deno.test("a certificate signs a browser in if the user chooses it", async () => {
  const certificate = system.authority.issue({ subject: ALICE_DN, extendedKeyUsage: ["clientAuth"] });
  const one = new Visitor(system);
  const page = await one.get("/login", { certificate });
  assert.match(page.text, /certificate for <bdi>CN=Alice,O=Demo,C=EU</);
  const fields = { token: formToken(page), way: "certificate" };
  assert.equal((await one.post("/login", fields)).status, 403, "without it");
  assert.equal((await one.post("/login", fields, { certificate })).status, 303);
  assert.equal(await nameOn(one), ALICE_DN);
  // The name that a user types wins over the browser's certificate.
  const other = new Visitor(system);
  await other.signIn(STRANGER, { certificate });
  assert.equal(await nameOn(other), STRANGER[0]);
});

Deno.test("a ban signs a user's browsers out, and lifting it does not sign them in again", async () => {
  const [one, unused] = [await visitor(ALICE), await visitor(ALICE)];
  const other = await visitor(STRANGER);
  await command("ban", "add", "--user", "alice");
  assert.equal((await one.get("/")).status, 200);
  assert.equal(await nameOn(one), undefined);
  await command("ban", "remove", "--user", "alice");
  for (const each of [one, unused]) assert.equal(await nameOn(each), undefined);
  assert.equal(await nameOn(other), STRANGER[0]);
});

Deno.test("a removed user is signed out; a reload with a new core signs out nobody", async () => {
  const [alice, stranger] = [await visitor(ALICE), await visitor(STRANGER)];
  await system.replace(
    "conf/container.properties",
    `${await Deno.readTextFile(system.main)}container.security.browser.idleTime=1000\n`,
  );
  await system.service.reload();
  assert.equal(await nameOn(alice), "alice");
  const without = PASSWORDS.split("\n").filter((line) => !line.startsWith("stranger:")).join("\n");
  await system.replace("conf/users.txt", without);
  for (let i = 0; await nameOn(stranger) !== undefined && i < 500; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(await nameOn(stranger), undefined);
  await system.replace("conf/users.txt", PASSWORDS);
  assert.equal(await nameOn(alice), "alice");
});
