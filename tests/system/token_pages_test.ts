/** Page on which people manage their tokens. */
import assert from "node:assert/strict";
import { ALICE, runService, STRANGER } from "./running_service.ts";
import { withoutTimes, wordsOf } from "../pages/words.ts";
import { formToken, Visitor } from "./visitor.ts";

const system = await runService({ properties: { "persistence.directory": "{folder}/data" } });
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

async function signedIn(user: readonly [string, string]): Promise<Visitor> {
  const visitor = new Visitor(system);
  assert.equal((await visitor.signIn(user)).status, 303);
  return visitor;
}

const usable = async (token: string) =>
  (await system.ask("/rest/auth/HPC", { headers: { Authorization: `Bearer ${token}` } })).status;

Deno.test("a token is created as the form says, shown once, listed, and revoked", async () => {
  const alice = await signedIn(ALICE);
  assert.match((await alice.get("/")).text, /href="\.\/tokens">Tokens</);
  const page = await alice.get("/tokens");
  assert.match(page.text, /You have no tokens/);
  const fields = {
    token: formToken(page),
    name: "<b>night</b>",
    hours: "1",
    activity: "read",
    server: "HPC",
  };
  const made = await alice.post("/tokens", { ...fields, path: "/data" }); // shown with its slash below
  assert.equal(made.status, 200, made.text);
  const [, token = ""] = /<code>([\w.-]+)<\/code>/.exec(made.text) ?? [];
  assert.equal(await usable(token), 200);
  const list = await alice.get("/tokens");
  const shown = withoutTimes(wordsOf(list.text));
  assert.deepEqual(shown.slice(shown.indexOf("Active tokens"), shown.indexOf("Create a token")), [
    "Active tokens",
    "Active tokens", // caption of the table
    "Name",
    "Expires",
    "Last used",
    "Restrictions",
    "<b>night</b>",
    "TIME (in 1 hour)",
    "DAY, 127.0.0.1",
    "read · in /data/ · on HPC",
    "Revoke",
  ]);
  assert(!list.text.includes(token));
  const { exp } = JSON.parse(atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")));
  assert.match(list.text, new RegExp(`<time datetime="${new Date(exp * 1000).toISOString()}">`));
  const [, action = ""] = /action="\.\/(tokens\/[^"]+)"/.exec(list.text) ?? [];
  assert.equal((await alice.post(`/${action}`, { token: "x" })).status, 403);
  const cross = { headers: { "Sec-Fetch-Site": "cross-site" } };
  assert.equal((await alice.post(`/${action}`, { token: formToken(list) }, cross)).status, 403);
  assert.equal((await alice.post("/tokens", fields, cross)).status, 403);
  assert.equal(await usable(token), 200);
  assert.equal((await alice.post(`/${action}`, { token: formToken(list) })).status, 303);
  assert.equal(await usable(token), 401);
  for (
    const [name, value] of [
      ["hours", "x"],
      ["hours", "1e1"],
      ["hours", "0x1"],
      ["hours", "1.5"],
      ["path", "relative"],
      ["activity", "fly"],
      ["hours", "9999"],
    ]
  ) {
    const wrong = { ...fields, [String(name)]: String(value) };
    assert.equal((await alice.post("/tokens", wrong)).status, 400, JSON.stringify(wrong));
  }
});

Deno.test("the form offers lifetimes of an hour, of a working day and of a day", async () => {
  const { text } = await (await signedIn(ALICE)).get("/tokens");
  const [, offered = ""] = /<select id="hours"[^>]*>([^]*?)<\/select>/.exec(text) ?? [];
  assert.deepEqual(
    [...offered.matchAll(/value="(\d+)"[^>]*>([^<]+)</g)].map(([, value, says]) => [value, says]),
    [
      ["1", "1 hour"],
      ["8", "8 hours"],
      ["24", "24 hours"],
    ],
  );
});

Deno.test("a new token without name and restrictions is listed as unnamed, for everything, and never used", async () => {
  const alice = await signedIn(ALICE);
  const token = formToken(await alice.get("/tokens"));
  const made = await alice.post("/tokens", {
    token,
    hours: "24",
    name: "",
    path: "",
    activity: "",
    server: "",
  });
  assert.equal(made.status, 200, made.text);
  const shown = withoutTimes(wordsOf(made.text));
  assert.deepEqual(
    shown.slice(shown.indexOf("Your new token")).slice(0, 3).map((line) => line.replace(/^ey.*/, "TOKEN")),
    [
      "Your new token",
      "This token is shown only once. Store it where nobody else can read it.",
      "TOKEN",
    ],
  );
  const from = shown.indexOf("unnamed");
  assert.deepEqual(shown.slice(from, from + 5), [
    "unnamed",
    "TIME (tomorrow)",
    "never",
    "everything you may do",
    "Revoke",
  ]);
});

Deno.test("a user who is not signed in or has no account gets no token", async () => {
  const away = await new Visitor(system).get("/tokens");
  assert.deepEqual([away.status, away.headers.location], [303, "./login?to=tokens"]);
  assert.equal((await new Visitor(system).get("/tokens", { as: ALICE })).status, 200, "to look at");
  assert.equal((await new Visitor(system).post("/tokens", { hours: "1" }, { as: ALICE })).status, 403);
  assert.equal((await (await signedIn(STRANGER)).get("/tokens")).status, 403);
});

Deno.test("the home page says how and until when a user is signed in, and shows anonymous callers no daemon's address", async () => {
  const alice = await signedIn(ALICE);
  const { text } = await alice.get("/");
  assert.match(text, /Signed in with<\/dt><dd>user name and password</);
  assert.match(text, /Signed in until<\/dt><dd><time[^]*in 7 hours\)|in 8 hours\)/);
  assert.match(text, /idle for 30 minutes/);
  assert.doesNotMatch(text, /PASSWORD_FILE|connected to/);
  const addresses = /connected to|127\.0\.0\.1/;
  assert.doesNotMatch((await new Visitor(system).get("/")).text, addresses);
  for (
    const path of ["/", "/rest/auth", "/rest/auth/HPC", "/rest/auth/HPC-1", "/health/ready"]
  ) {
    for (const Accept of ["application/json", "text/html"]) {
      assert.doesNotMatch(
        (await system.ask(path, { headers: { Accept } })).text,
        addresses,
        `${path} ${Accept}`,
      );
    }
  }
});
