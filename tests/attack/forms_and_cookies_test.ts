/** Cookies and forms that no browser sends: they sign nobody in, change nothing and break nothing. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { ALICE, ALICE_DN, MAP, passwordLine, PASSWORDS, runService } from "../system/running_service.ts";
import { formToken, OWN_PAGE, Visitor } from "../system/visitor.ts";

const BOSS = ["boss", "administers-9917"] as const;
const BOSS_DN = "CN=Boss,O=Demo,C=EU";
const SESSION = "__Host-authserver-sign-in";
const FORM = { ...OWN_PAGE, "Content-Type": "application/x-www-form-urlencoded" };
const FIELDS = { name: "made by an attack", hours: "1", activity: "read", server: "", path: "" };

const system = await runService({
  passwords: PASSWORDS + passwordLine(BOSS, BOSS_DN),
  map: JSON.stringify({ ...MAP, [BOSS_DN]: { role: ["user", "admin"], xlogin: "alice" } }),
  properties: { "persistence.directory": "{folder}/data" },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

async function signedIn(user: readonly [string, string] = ALICE): Promise<Visitor> {
  const visitor = new Visitor(system);
  assert.equal((await visitor.signIn(user)).status, 303);
  return visitor;
}

const alice = await signedIn();
const session = alice.cookies.get(SESSION) ?? "";
const token = formToken(await alice.get("/tokens"));

Deno.test("the cookies and forms of this file work as browsers send them", async () => {
  assert.notEqual(session, "");
  assert.notEqual(token, "");
  assert.equal((await asks({ Cookie: `a=b; ${SESSION}=${session}; c="d"` })).status, 200);
  assert.equal((await alice.post("/tokens", { ...FIELDS, token, hours: "none" })).status, 400);
});

async function hasNoToken(): Promise<void> {
  const { status, text } = await alice.get("/tokens");
  assert(status === 200 && text.includes("You have no tokens."), "there is a token");
}

/** Requests `/tokens` as a new browser with only these headers. */
function asks(headers: Readonly<Record<string, string>>) {
  return new Visitor(system).get("/tokens", { headers });
}

const many = (count: number, each: (n: number) => string) => Array.from({ length: count }, (_, n) => each(n));
const flipped = session.replace(/^./, (first) => first === "A" ? "B" : "A");
/** Cookies, most of them no valid session, each with its status; 303 leads to the sign-in page. */
const COOKIES: readonly (readonly [what: string, cookie: string, status: number])[] = [
  ["the same session twice", `${SESSION}=${session}; ${SESSION}=${session}`, 303],
  ["a session after one that another site has set", `${SESSION}=x; ${SESSION}=${session}`, 303],
  ["a session before an empty one", `${SESSION}=${session}; ${SESSION}=`, 303],
  ["another session", `${SESSION}=${flipped}`, 303],
  ["a session that is cut", `${SESSION}=${session.slice(0, -1)}`, 303],
  ["a session and more", `${SESSION}=${session}x`, 303],
  ["a session and padding", `${SESSION}=${session}=`, 303],
  ["a session in quotes", `${SESSION}="${session}"`, 303],
  [
    "a session that is percent-encoded",
    `${SESSION}=%${session.charCodeAt(0).toString(16)}${session.slice(1)}`,
    303,
  ],
  ["a session by a name in small letters", `${SESSION.toLowerCase()}=${session}`, 303],
  ["a session by a name that any host may set", `${SESSION.replace("__Host-", "")}=${session}`, 303],
  ["a session by a name that is percent-encoded", `%5f${SESSION.slice(1)}=${session}`, 303],
  ["a session separated by commas", `a=b, ${SESSION}=${session}`, 303],
  ["a session in the value of another", `a="; ${SESSION} ${session}"`, 303],
  ["a session without a name", `=${session}; ${session}`, 303],
  ["the names of objects", "__proto__=a; constructor=b; toString=c; hasOwnProperty=d", 303],
  ["nothing but separators", "; ".repeat(4_000), 303],
  ["nothing but equals signs", "=".repeat(8_000), 303],
  ["characters outside ASCII", `${SESSION}=\u00e9\u00ff`, 303],
  [
    "a session after five hundred others",
    `${many(500, (n) => `a${n}=${n}`).join("; ")}; ${SESSION}=${session}`,
    200,
  ],
  ["five hundred invalid sessions", many(500, (n) => `${SESSION}=${n}`).join("; "), 303],
];
for (const [what, cookie, status] of COOKIES) {
  Deno.test(`a client with ${what} is ${status === 200 ? "signed in" : "anonymous"}`, async () => {
    const reply = await asks({ Cookie: cookie });
    assert.equal(reply.status, status, reply.text);
    if (status === 303) assert.equal(reply.headers.location, "./login?to=tokens");
  });
}

Deno.test("a request with more cookies than its headers may contain is refused", async () => {
  for (const length of [33_000, 100_000]) {
    const reply = await asks({ Cookie: `${SESSION}=${session}; a=${"x".repeat(length)}` });
    assert.equal(reply.status, 431, reply.text);
  }
});

const urlencoded = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();
const good = urlencoded({ ...FIELDS, token });
const parts = Object.entries({ ...FIELDS, token }).map(([name, value]) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
);
const FORMS: readonly (readonly [what: string, status: number, body: string | Uint8Array, type?: string])[] =
  [
    ["fifty-one fields", 400, `${good}&${many(45, (n) => `f${n}=`).join("&")}`],
    ["thirty thousand empty fields", 400, `${good}&${"&".repeat(30_000)}`],
    ["nine thousand fields", 400, `${many(9_000, (n) => `${n}=`).join("&")}&${good}`],
    ["a body beyond 64 KiB", 413, `${good}&x=${"y".repeat(70_000)}`],
    ["its token twice", 400, `${good}&token=${token}`],
    ["its token twice, once percent-encoded", 400, `${good}&%74oken=${token}`],
    ["a second name for the token", 400, `${good}&name=other`],
    ["no token", 403, urlencoded(FIELDS)],
    ["an empty token", 403, urlencoded({ ...FIELDS, token: "" })],
    ["a token with a blank", 403, urlencoded({ ...FIELDS, token: `${token} ` })],
    ["a token that is cut", 403, urlencoded({ ...FIELDS, token: token.slice(1) })],
    ["a token whose percent-encoding is broken", 403, good.replace("token=", "token=%z")],
    ["a token whose percent-encoding is not UTF-8", 403, good.replace("token=", "token=%ff")],
    ["a token by a name in capitals", 403, good.replace("token=", "TOKEN=")],
    ["a token by the name of a list", 403, good.replace("token=", "token[]=")],
    ["semicolons between its fields", 403, good.replaceAll("&", ";")],
    ["its session instead of the token", 403, urlencoded({ ...FIELDS, token: session })],
    ["bytes that are not UTF-8", 400, new Uint8Array([...new TextEncoder().encode(good), 0xff])],
    ["UTF-16, as its type says", 403, utf16(good), "application/x-www-form-urlencoded; charset=utf-16le"],
    ["several parts", 415, `${parts.join("")}--x--\r\n`, "multipart/form-data; boundary=x"],
    ["several parts by the type of one", 403, `${parts.join("")}--x--\r\n`],
    ["plain text", 415, good, "text/plain"],
    ["JSON", 415, JSON.stringify({ ...FIELDS, token }), "application/json"],
    ["JSON by the type of forms", 403, JSON.stringify({ ...FIELDS, token })],
    ["two types", 415, good, "text/plain, application/x-www-form-urlencoded"],
    ["a name of a token that is too long", 400, urlencoded({ ...FIELDS, token, name: "x".repeat(60_000) })],
    ["a path that is too long", 400, urlencoded({ ...FIELDS, token, path: `/${"x".repeat(60_000)}` })],
    ["a path with NUL", 400, urlencoded({ ...FIELDS, token, path: "/a\0b" })],
    ["an excessive number of hours", 400, urlencoded({ ...FIELDS, token, hours: "9".repeat(5_000) })],
    ["an invalid server", 400, urlencoded({ ...FIELDS, token, server: "../HPC" })],
  ];

/** Returns a text in UTF-16, in which every second byte is NUL. */
function utf16(text: string): Uint8Array {
  return new Uint8Array([...text].flatMap((character) => [character.charCodeAt(0), 0]));
}

for (const [what, status, body, type] of FORMS) {
  Deno.test(`a form with ${what} is answered with ${status} and issues no token`, async () => {
    const reply = await alice.get("/tokens", {
      method: "POST",
      headers: {
        ...FORM,
        "Content-Length": String(Buffer.byteLength(body)),
        ...(type !== undefined && { "Content-Type": type }),
      },
      body,
    });
    assert.equal(reply.status, status, reply.text);
    await hasNoToken();
  });
}

Deno.test("a form is accepted only with the token of its own session, and only while that lasts", async () => {
  const other = await signedIn();
  const visit = formToken(await new Visitor(system).get("/login"));
  const foreign = formToken(await other.get("/tokens"));
  for (const wrong of [foreign, visit]) {
    assert.equal((await alice.post("/tokens", { ...FIELDS, token: wrong })).status, 403);
    assert.equal((await alice.post(`/tokens?token=${token}`, { ...FIELDS, token: wrong })).status, 403);
  }
  const kept = new Map(other.cookies);
  assert.equal((await other.post("/logout", { token: foreign })).status, 303);
  for (const [name, value] of kept) other.cookies.set(name, value);
  const late = await other.post("/tokens", { ...FIELDS, token: foreign });
  assert.deepEqual([late.status, late.headers.location], [303, "./login?to=tokens&lost"]);
  await hasNoToken();
});

Deno.test("administrators' forms from other users, from ended sessions or with other sessions' tokens are refused", async () => {
  const boss = await signedIn(BOSS);
  const theirs = formToken(await boss.get("/admin"));
  const ban = { do: "ban", user: ALICE_DN, for: "1h" };
  const other = await signedIn();
  const mine = formToken(await other.get("/tokens"));
  for (const visitor of [other, alice]) {
    for (const token of [theirs, mine]) {
      assert.equal((await visitor.post("/admin/bans", { ...ban, token })).status, 403);
    }
  }
  assert.equal((await boss.post("/admin/bans", { ...ban, token: mine })).status, 403);
  const json = { ...OWN_PAGE, "Content-Type": "application/json" };
  const asJson = { method: "POST", headers: json, body: { ...ban, token: theirs } };
  assert.equal((await boss.get("/admin/bans", asJson)).status, 415);
  const byGet = await boss.get(`/admin/bans?${urlencoded({ ...ban, token: theirs })}`);
  assert.equal(byGet.status, 405);
  const kept = new Map(boss.cookies);
  assert.equal((await boss.post("/logout", { token: theirs })).status, 303);
  for (const [name, value] of kept) boss.cookies.set(name, value);
  assert.equal((await boss.post("/admin/bans", { ...ban, token: theirs })).status, 303);
  assert.equal((await boss.get("/admin")).status, 303);
  assert.equal((await alice.get("/tokens")).status, 200, "nobody was banned");
});

const TARGETS = [
  "https://evil.example/",
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "https:evil.example",
  "javascript:alert(1)",
  "data:text/html,x",
  " //evil.example",
  "\t//evil.example",
  "tokens\r\nSet-Cookie: a=b",
  "tokens%0d%0aSet-Cookie:%20a=b",
  "..//evil.example",
  "a/../..//evil.example",
  "a/%2e%2e/%2e%2e/%2e%2e/x",
  "tokens@evil.example",
  ".evil.example",
  "\u2215\u2215evil.example",
  `x${"y".repeat(2_000)}`,
];
for (const target of TARGETS) {
  Deno.test(`signing in does not redirect to ${JSON.stringify(target.slice(0, 40))}`, async () => {
    for (const name of ["to", "next", "return", "redirect"]) {
      const visitor = new Visitor(system);
      const at = `/login?${name}=${encodeURIComponent(target)}`;
      const page = await visitor.get(at);
      const [, action = ""] = /method="post" action="([^"]*)"/.exec(page.text) ?? [];
      assert.match(action, /^\.\/login(\?to=[A-Za-z][\w.%-]*)?$/);
      const [user, password] = ALICE;
      const reply = await visitor.post(at, { token: formToken(page), user, password });
      assert.equal(reply.status, 303, reply.text);
      const base = new URL("https://ours.example/");
      const led = new URL(reply.headers.location ?? "", new URL("login", base));
      assert.equal(led.origin, base.origin, reply.headers.location);
      assert(!reply.headers["set-cookie"]?.some((cookie) => cookie.startsWith("a=")));
    }
  });
}

Deno.test("none of these requests caused an error of the service", () => {
  // Not ready until the first answer of a daemon.
  const served = system.log.filter((line) => !line.includes("route=/health/ready status=503"));
  assert.deepEqual(served.filter((line) => / (?:ERROR|error) |status=5/.test(line)), []);
});
