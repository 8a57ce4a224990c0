/** Programs that log in by a browser (RFC 8628): each way to sign in, by HTTP and by the service's script. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { auditLines } from "../fixtures/audit_lines.ts";
import { CODE_CLIENT, startCodeProvider } from "../identity_provider/code_provider.ts";
import { inTime } from "../fixtures/deadline.ts";
import { createAuthority } from "../pki/authority.ts";
import type { Reply } from "./ask.ts";
import { authenticatorProperties } from "./every_method.ts";
import { ALICE, ALICE_DN, runService, STRANGER } from "./running_service.ts";
import { formToken, Visitor } from "./visitor.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const provider = await startCodeProvider(authority.issue({ subject: "CN=idp", names: ["localhost"] }));
const CERT_DN = "CN=Carl,O=Demo,C=EU";
const carl = authority.issue({ subject: CERT_DN });
const mapped = { role: "user", xlogin: "alice", group: ["hpc"] };
const system = await runService({
  authority,
  map: JSON.stringify({ [ALICE_DN]: mapped, [CERT_DN]: mapped, [`CN=ann,O=${provider.issuer}`]: mapped }),
  properties: {
    "container.security.rest.authentication.order": "PASSWORD OIDC X509",
    "container.security.rest.authentication.X509.class": "X509Authenticator",
    "container.httpServer.wantClientAuthn": "true",
    "persistence.directory": "{folder}/data",
    "container.security.throttling.maxFailures": "1000",
    ...authenticatorProperties("OIDC", {
      class: "OAuthAuthenticator",
      issuer: provider.issuer,
      signIn: "true",
      clientID: CODE_CLIENT.id,
      clientSecret: CODE_CLIENT.secret,
      requiredClient: CODE_CLIENT.id,
      identityTemplate: "CN=%sub%,O=%iss%",
    }),
  },
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const CLIENT = "tool on <b>lab1</b>";

const post = (path: string, fields: Readonly<Record<string, string>>, headers = {}) =>
  new Visitor(system).get(path, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields).toString(),
  });

async function begin(more: Readonly<Record<string, string>> = {}) {
  const reply = await post("/oauth/device", { client_id: CLIENT, ...more });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers["cache-control"], "no-store");
  return Object.fromEntries(Object.entries(reply.json()).map(([name, value]) => [name, String(value)]));
}

const poll = (device_code = "", more = {}) =>
  post("/oauth/token", { grant_type: GRANT, device_code, client_id: CLIENT, ...more });

async function byPassword(): Promise<Visitor> {
  const browser = new Visitor(system);
  assert.equal((await browser.signIn(ALICE)).status, 303);
  return browser;
}

async function decide(browser: Visitor, user_code = "", decision = "allow"): Promise<Reply> {
  const page = await browser.get(`/login/device?user_code=${user_code}`);
  assert.match(page.text, new RegExp(`name="user_code" value="${user_code}"`));
  const asked = await browser.post("/login/device", { token: formToken(page), user_code });
  assert.equal(asked.status, 200, asked.text);
  return await browser.post(`/login/device/${decision}`, { token: formToken(asked), user_code });
}

async function nameOf(token: unknown): Promise<unknown> {
  const reply = await system.ask("/rest/auth", { headers: { Authorization: `Bearer ${token}` } });
  return /"dn": *"([^"]+)"/.exec(reply.text)?.[1];
}

const WAYS = {
  password: async () => ({ browser: await byPassword(), dn: ALICE_DN }),
  async certificate() {
    const browser = new Visitor(system);
    const shown = { certificate: carl };
    const fields = { token: formToken(await browser.get("/login", shown)), way: "certificate" };
    assert.equal((await browser.post("/login", fields, shown)).status, 303);
    return { browser, dn: CERT_DN };
  },
  async provider() {
    const browser = new Visitor(system);
    const to = "/login/OIDC?to=login%2Fdevice%3Fuser_code%3DBBBB-BBBB";
    const { headers: { location = "" } } = await browser.get(to);
    const back = await browser.get(provider.signIn(location, "ann"));
    assert.equal(back.headers.location, "../../login/device?user_code=BBBB-BBBB");
    return { browser, dn: `CN=ann,O=${provider.issuer}` };
  },
} satisfies Readonly<Record<string, () => Promise<{ browser: Visitor; dn: string }>>>;

for (const [way, signIn] of Object.entries(WAYS)) {
  Deno.test(`a program logs in once its user, signed in by ${way}, has approved it`, async () => {
    const { device_code, user_code, verification_uri_complete, expires_in } = await begin();
    assert.equal(expires_in, "600");
    assert.match(
      String(verification_uri_complete),
      /^https:\/\/localhost:\d+\/login\/device\?user_code=\w{4}-\w{4}$/,
    );
    const { browser, dn } = await signIn();
    assert.equal((await decide(browser, user_code)).status, 200);
    const reply = await poll(device_code);
    assert.equal(reply.status, 200, reply.text);
    const { access_token, token_type, expires_in: seconds } = reply.json();
    assert.equal(token_type, "Bearer");
    assert(Number(seconds) > 8 * 3600 - 60, String(seconds));
    assert.equal(await nameOf(access_token), dn);
    const tokens = await browser.get("/tokens");
    assert.match(tokens.text, /tool on &#60;b&#62;lab1/, "listed under the name of the program");
    const id = /action="[^"]*(tokens\/[\w-]+)"/.exec(tokens.text)?.[1];
    assert.equal((await browser.post(`/${id}`, { token: formToken(tokens) })).status, 303);
    const after = await system.ask("/rest/auth", { headers: { Authorization: `Bearer ${access_token}` } });
    assert.equal(after.status, 401, "revoked on the page");
    assert.equal((await poll(device_code)).json().error, "invalid_grant", "one use");
  });
}

Deno.test("a program gets no token if the account that the map assigns to its user is banned", async () => {
  const { device_code, user_code } = await begin();
  const { browser } = await WAYS.provider();
  assert.equal((await decide(browser, user_code)).status, 200);
  const ban = async (...args: readonly string[]) => {
    const io = recordedIo();
    const line = ["ban", ...args, "--user", mapped.xlogin, "--config", system.main];
    assert.equal(await runCommand(line, io), 0, io.err);
  };
  await ban("add");
  const { status, json } = await poll(device_code);
  await ban("remove");
  assert.deepEqual([status, json().code], [429, "ERR_TOO_MANY_FAILURES"]);
});

Deno.test("a stranger who opens the link must sign in first, and the link alone approves nothing", async () => {
  const { device_code, user_code = "" } = await begin();
  const browser = new Visitor(system);
  const first = await browser.get(`/login/device?user_code=${user_code}`);
  assert.equal(first.status, 303);
  assert.equal(first.headers.location, `../login?to=login%2Fdevice%3Fuser_code%3D${user_code}`);
  assert.equal((await browser.signIn(ALICE)).status, 303);
  const page = await browser.get(`/login/device?user_code=${user_code}`);
  assert.match(page.text, /<form[^>]* method="post"/);
  assert.equal((await poll(device_code)).json().error, "authorization_pending");
  for (const path of ["/login/device", "/login/device/allow"]) {
    const forged = await browser.post(path, { user_code, token: "x" });
    assert.equal(forged.status, 403, path);
    const foreign = await browser.post(path, { user_code, token: formToken(page) }, {
      headers: { "Sec-Fetch-Site": "cross-site" },
    });
    assert.equal(foreign.status, 403, path);
    assert.equal(
      (await browser.get(`${path}?user_code=${user_code}&token=${formToken(page)}`)).status >= 200,
      true,
    );
  }
  const get = await browser.get(`/login/device/allow?user_code=${user_code}&token=${formToken(page)}`);
  assert.equal(get.status, 405);
  assert.equal((await poll(device_code)).json().error, "slow_down");
});

Deno.test("the page shows the unverified name of the program, its address, and the rights that it requests", async () => {
  const { user_code = "" } = await begin({ path: "/data/run7/", activity: "read", lifetime: "3600" });
  const browser = await byPassword();
  const page = await browser.get("/login/device");
  const asked = await browser.post("/login/device", {
    token: formToken(page),
    user_code: user_code.toLowerCase(),
  });
  for (
    const shown of [
      "<bdi>tool on &#60;b&#62;lab1&#60;/b&#62;</bdi> (name given by the program, not verified)",
      "127.0.0.1 (the same as your browser&#39;s)",
      user_code,
      "/data/run7/",
      "in 1 hour",
    ]
  ) assert(asked.text.includes(shown), `${shown}: ${asked.text}`);
  const wrong = await browser.post("/login/device", { token: formToken(page), user_code: "BBBB-BBBB" });
  assert.equal(wrong.status, 404);
  assert.match(wrong.text, /role="alert"/);
});

Deno.test("the token of a program is as narrow as requested, and a denied program gets none", async () => {
  const browser = await byPassword();
  const narrow = await begin({ path: "/data/run7/", activity: "read" });
  await decide(browser, narrow.user_code);
  const { access_token } = (await poll(narrow.device_code)).json();
  const headers = { Authorization: `Bearer ${access_token}` };
  const { tokens } = (await system.ask("/rest/auth/tokens", { headers })).json();
  assert.match(JSON.stringify(tokens), /"path":\["\/data\/run7\/"\],"activity":"read"/);
  const denied = await begin();
  assert.match((await decide(browser, denied.user_code, "deny")).text, /You denied this login/);
  const { status, json } = await poll(denied.device_code);
  assert.deepEqual([status, json().error], [400, "access_denied"]);
});

Deno.test("programs get the errors of RFC 6749 and 8628, and invalid requests start no login", async () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{}, /client_id/],
    [{ client_id: "a\nb" }, /client_id/],
    [{ client_id: "x".repeat(101) }, /client_id/],
    [{ client_id: "x", lifetime: "0" }, /lifetime/],
    [{ client_id: "x", path: "relative" }, /path/],
  ];
  for (const [fields, pattern] of cases) {
    const reply = await post("/oauth/device", fields);
    assert.equal(reply.status, 400, reply.text);
    const { error, error_description } = reply.json();
    assert.equal(error, "invalid_request");
    assert.match(String(error_description), pattern);
  }
  assert.equal((await poll("x", { grant_type: "password" })).json().error, "unsupported_grant_type");
  assert.equal((await poll("x")).json().error, "invalid_grant");
});

/** Reads the audit lines of these answers, in the order of the answers. */
async function audited(replies: readonly { readonly headers: Readonly<Record<string, unknown>> }[]) {
  const ids = replies.map(({ headers }) => headers["x-request-id"]);
  const lines = await auditLines(`${system.folder}/logs/audit.log`, {
    wanted: ({ request }) => ids.includes(request),
    count: ids.length,
  });
  return ids.map((id) => lines.find(({ request }) => request === id) ?? {});
}

Deno.test("the audit stream records an approval with both addresses, and what the token permits", async () => {
  const { user_code } = await begin({ path: "/data/run7/", activity: "read", renewable: "true" });
  const [line = {}] = await audited([await decide(await byPassword(), user_code)]);
  const keys = ["event", "action", "decision", "dn", "client", "address", "renewable", "restrictions"];
  assert.deepEqual(keys.map((key) => line[key]), [
    "token",
    "POST /login/device/allow",
    "granted",
    ALICE_DN,
    "127.0.0.1",
    "127.0.0.1",
    true,
    "path=/data/run7/ activity=read",
  ]);
});

Deno.test("a wrong or used code approves nothing, and is audited as refused", async () => {
  const { user_code = "" } = await begin();
  const browser = await byPassword();
  const first = await decide(browser, user_code);
  assert.equal(first.status, 200);
  const replies = [first];
  const token = formToken(await browser.get("/login/device"));
  for (const code of [user_code, "BBBB-BBBB", ""]) {
    const reply = await browser.post("/login/device/allow", { token, user_code: code });
    assert.equal(reply.status, 404, code);
    replies.push(reply);
  }
  assert.deepEqual((await audited(replies)).map(({ decision }) => decision), [
    "granted",
    "refused",
    "refused",
    "refused",
  ]);
});

Deno.test("the script of GET /login.sh logs in with sh and curl, and lets only its owner read the token", async () => {
  const folder = await Deno.makeTempDir();
  const shown = await new Visitor(system).get("/login.sh");
  assert.equal(shown.headers["content-type"], "text/plain; charset=utf-8");
  await Deno.writeTextFile(`${folder}/login.sh`, shown.text);
  await Deno.writeTextFile(`${folder}/ca.pem`, authority.certificate);
  await Deno.writeTextFile(`${folder}/token`, "an old one that all can read", { mode: 0o644 });
  // The script's pause lasts until the test ends it.
  await Deno.writeTextFile(`${folder}/sleep`, `#!/bin/sh\nexec cat ${folder}/pause\n`, { mode: 0o755 });
  assert((await new Deno.Command("mkfifo", { args: [`${folder}/pause`] }).output()).success);
  const process = new Deno.Command("sh", {
    args: [`${folder}/login.sh`, `${folder}/token`],
    env: { CURL_CA_BUNDLE: `${folder}/ca.pem`, PATH: `${folder}:${Deno.env.get("PATH")}` },
    stdout: "piped",
  }).spawn();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let out = "";
  const read = async (pattern: RegExp) => {
    for (let parts = 200; parts-- > 0 && !pattern.test(out);) out += (await reader.read()).value ?? "";
  };
  await inTime(read(/user_code=\w{4}-\w{4}[^]*█/), "address and QR code");
  const [, user_code] = /user_code=(\w{4}-\w{4})/.exec(out) ?? [];
  assert.doesNotMatch(out, /[\w-]{43}/, "the device code is not shown");
  await decide(await byPassword(), user_code);
  await inTime(Deno.writeTextFile(`${folder}/pause`, ""), "the end of the pause");
  await inTime(read(/pyuftp ls -A .*\n/), "the end");
  assert.equal((await process.status).code, 0);
  await reader.cancel();
  const line = `pyuftp ls -A "$(cat "${folder}/token")" https://localhost:${system.port}/rest/auth/HPC:./\n`;
  assert(out.endsWith(line), out);
  assert.equal((Deno.statSync(`${folder}/token`).mode ?? 0) & 0o777, 0o600);
  assert.equal(await nameOf((await Deno.readTextFile(`${folder}/token`)).trim()), ALICE_DN);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a signed-in user without permission for tokens approves no program", async () => {
  const browser = new Visitor(system);
  await browser.signIn(STRANGER);
  assert.notEqual((await browser.get("/login/device")).status, 200);
});
