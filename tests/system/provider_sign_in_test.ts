/**
 * Browsers that sign in at OpenID Connect providers by authorisation code, where the service has a secret or a
 * key, and attacks on that.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, randomUUID } from "node:crypto";
import { certificateLine } from "../authentication/ssh_key/certificate/certificates.ts";
import { CODE_CLIENT, startCodeProvider } from "../identity_provider/code_provider.ts";
import { createSigner, type SigningAlgorithm } from "../identity_provider/token_issuer.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "./every_method.ts";
import { runReloadedService, runService } from "./running_service.ts";
import { formToken, Visitor } from "./visitor.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const tls = authority.issue({ subject: "CN=idp", names: ["localhost"] });
const [one, two] = [await startCodeProvider(tls), await startCodeProvider(tls)];

const properties = (issuer: string, title: string, more: Readonly<Record<string, string>> = {}) => ({
  class: "OAuthAuthenticator",
  issuer,
  signIn: "true",
  signInTitle: title,
  clientID: CODE_CLIENT.id,
  clientSecret: CODE_CLIENT.secret,
  requiredClient: CODE_CLIENT.id,
  identityTemplate: "CN=%sub%,O=%iss%",
  uidAssign: "sub",
  ...more,
});
const KEY_ID = "key-of-portal";

/**
 * Methods of a service without a secret, which signs each exchange of a code (`private_key_jwt`): one for each
 * algorithm, and one whose provider knows another key of the client.
 */
const METHODS = { EC: "ES256", RSA: "RS256", ED: "EdDSA", OTHER: "ES256" } as const satisfies Readonly<
  Record<string, SigningAlgorithm>
>;
const ways = await Promise.all(
  Object.entries(METHODS).map(async ([name, alg]) => {
    const own = createSigner(alg, KEY_ID);
    const known = name === "OTHER" ? createSigner(alg, KEY_ID) : own;
    return { name, alg, own, provider: await startCodeProvider(tls, known) };
  }),
);
const system = await runService({
  authority,
  properties: {
    "container.security.rest.authentication.order": ["API ONE TWO PASSWORD", ...Object.keys(METHODS)].join(
      " ",
    ),
    // Accepts tokens of programs; it would accept those of browsers, too.
    ...authenticatorProperties("API", {
      class: "OAuthAuthenticator",
      issuer: one.issuer,
      requiredClient: CODE_CLIENT.id,
      identityTemplate: "CN=%sub%,O=%iss%",
    }),
    ...authenticatorProperties(
      "ONE",
      properties(one.issuer, "Institute", { requiredAcr: "mfa", maxAuthAge: "600" }),
    ),
    ...authenticatorProperties("TWO", properties(two.issuer, "<b>Lab</b>")),
    ...Object.assign(
      {},
      ...ways.map(({ name, provider }) =>
        authenticatorProperties(name, {
          class: "OAuthAuthenticator",
          issuer: provider.issuer,
          signIn: "true",
          clientID: CODE_CLIENT.id,
          clientAuthentication: "private_key_jwt",
          clientKey: `{folder}/conf/${name}.pem`,
          clientKeyId: KEY_ID,
          requiredClient: CODE_CLIENT.id,
          identityTemplate: "CN=%sub%,O=%iss%",
          uidAssign: "sub",
        })
      ),
    ),
    "container.security.throttling.maxFailures": "1000",
  },
  files: Object.fromEntries(
    ways.map(({ name, own }) => [
      `conf/${name}.pem`,
      own.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    ]),
  ),
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  const providers = [one, two, ...ways.map(({ provider }) => provider)];
  await Promise.all(providers.map((provider) => provider[Symbol.asyncDispose]()));
});

const COOKIE = "__Host-authserver-sign-in";

/** Sends a browser to a provider, and returns the address and its parameters. */
async function leave(
  browser: Visitor,
  way: string,
  query = "",
): Promise<{ location: string; asked: URLSearchParams }> {
  const { status, headers: { location = "" }, text } = await browser.get(`/login/${way}${query}`);
  assert.equal(status, 303, text);
  return { location, asked: new URL(location).searchParams };
}

async function nameOn(browser: Visitor): Promise<string | undefined> {
  return /Signed in as <strong><bdi>([^<]+)</.exec((await browser.get("/")).text)?.[1];
}

/** Returns to the service, and checks that nobody is signed in. */
async function refused(browser: Visitor, path: string, what: string, status = 403): Promise<void> {
  const reply = await browser.get(path);
  assert.equal(reply.status, status, `${what}: ${reply.text.slice(-600)}`);
  assert.match(reply.text, /role="alert"/, what);
  assert.doesNotMatch(reply.text, /Wrong user name/, what); // the service asked for none
  assert.equal(browser.cookies.has(COOKIE), false, what);
}

Deno.test("a browser can sign in at each of two providers, and returns to the requested page", async () => {
  const browser = new Visitor(system);
  const page = await browser.get("/login?to=shares/HPC");
  assert.match(page.text, /href="\.\/login\/ONE\?to=shares%2FHPC">Sign in with Institute</);
  assert.match(page.text, /Sign in with &#60;b&#62;Lab/);
  const { location, asked } = await leave(browser, "ONE", "?to=shares/HPC");
  assert(location.startsWith(`${one.issuer}/auth?tenant=a&`));
  const { state = "", nonce = "", code_challenge: challenge = "", ...rest } = Object.fromEntries(asked);
  assert.deepEqual(rest, {
    tenant: "a",
    response_type: "code",
    client_id: CODE_CLIENT.id,
    redirect_uri: `https://localhost:${system.port}/login/ONE/done`,
    scope: "openid",
    code_challenge_method: "S256",
    acr_values: "mfa",
    max_age: "600",
  });
  for (const secret of [state, nonce, challenge]) assert(secret.length >= 43);
  const back = await browser.get(one.signIn(location, "ann"));
  assert.equal(back.status, 303, back.text);
  assert.equal(back.headers.location, "../../shares/HPC");
  assert.equal(await nameOn(browser), `CN=ann,O=${one.issuer}`);
  assert.deepEqual([...browser.cookies.keys()], [COOKIE]);

  const other = new Visitor(system);
  await other.get(two.signIn((await leave(other, "TWO")).location, "bob"));
  assert.equal(await nameOn(other), `CN=bob,O=${two.issuer}`);
});

Deno.test("the verifier matches the challenge of the authorization request, and no URL contains the secret", async () => {
  const browser = new Visitor(system);
  const { location, asked } = await leave(browser, "ONE");
  await browser.get(one.signIn(location, "ann"));
  const form = new URLSearchParams(one.server.seen.findLast(({ path }) => path === "/token")?.body);
  const verifier = form.get("code_verifier") ?? "";
  assert.equal(createHash("sha256").update(verifier).digest("base64url"), asked.get("code_challenge"));
  assert(!location.includes(verifier) && !location.includes(CODE_CLIENT.secret));
  const again = new URL((await leave(new Visitor(system), "ONE")).location).searchParams;
  for (const name of ["state", "nonce", "code_challenge"]) assert.notEqual(again.get(name), asked.get(name));
  assert(!system.log.some((line) => line.includes(form.get("code") ?? "-") || line.includes(verifier)));
});

Deno.test("a provider's answer is valid once, and only in the browser that started the sign-in", async () => {
  const victim = new Visitor(system);
  const thief = new Visitor(system);
  const { location } = await leave(victim, "ONE");
  const answer = one.signIn(location, "ann");
  const traded = () => one.server.seen.filter(({ path }) => path === "/token").length;
  const before = traded();
  await refused(new Visitor(system), answer, "no cookie");
  await leave(thief, "ONE");
  await refused(thief, answer, "a stolen answer in another browser");
  // The thief sends their own answer to the victim, who would then work under the thief's name.
  const own = one.signIn((await leave(thief, "ONE")).location, "mallory");
  await refused(victim, own, "another's answer");
  assert.equal(traded(), before, "the provider is not even asked");
  // A stolen code with the thief's own state: the verifier does not match.
  const code = new URL(answer, "https://x").searchParams.get("code") ?? "";
  const mixed = new URL(one.signIn((await leave(thief, "ONE")).location, "mallory"), "https://x");
  mixed.searchParams.set("code", code);
  await refused(thief, mixed.pathname + mixed.search, "a stolen code");
  await refused(victim, answer, "a code that somebody has shown already");

  const twice = new Visitor(system);
  const first = one.signIn((await leave(twice, "ONE")).location, "ann");
  assert.equal((await twice.get(first)).status, 303);
  twice.cookies.delete(COOKIE);
  await refused(twice, first, "the cookie of the visit is gone");
});

Deno.test("the service does not confuse the answers of two providers", async () => {
  const browser = new Visitor(system);
  const { location } = await leave(browser, "ONE");
  const answer = one.signIn(location, "ann");
  await refused(browser, answer.replace("/login/ONE/", "/login/TWO/"), "at the other's address");
  const changed = (name: string, value: string | undefined) => {
    const url = new URL(one.signIn(location, "ann"), "https://x");
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
    return url.pathname + url.search;
  };
  const before = two.server.seen.length;
  await refused(browser, changed("iss", two.issuer), "iss of the other");
  await refused(browser, changed("iss", undefined), "iss left away");
  await refused(browser, changed("iss", `${one.issuer}/`), "iss nearly right");
  await refused(browser, changed("state", "x"), "no state of ours");
  await refused(browser, `${one.signIn(location, "ann")}&code=y`, "two codes");
  await refused(browser, changed("code", undefined), "no code");
  await refused(browser, changed("code", "x".repeat(5000)), "a code too long");
  const error = new URL(changed("code", undefined), "https://x");
  error.searchParams.set("error", "<script>alert(1)</script>");
  const reply = await browser.get(error.pathname + error.search);
  assert.equal(reply.status, 403);
  assert.doesNotMatch(reply.text, /alert\(1\)/);
  assert.equal(two.server.seen.length, before, "the other was told nothing");
  const last = one.signIn((await leave(browser, "ONE")).location, "ann");
  assert.equal((await browser.get(last)).status, 303, "and it is still possible");
});

Deno.test("an ID token for another client or visit, of another issuer, or too old signs nobody in", async () => {
  const now = Math.floor(Date.now() / 1000);
  const wrong: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    "another client": { aud: "stranger" },
    "several clients": { aud: [CODE_CLIENT.id, "stranger"] },
    "made for another": { azp: "stranger" },
    "another visit": { nonce: "x" },
    "no visit": { nonce: undefined },
    "another issuer": { iss: two.issuer },
    "over": { exp: now - 1 },
    "not begun": { nbf: now + 3600 },
    "nobody": { sub: undefined },
  };
  const browser = new Visitor(system);
  for (const [what, idToken] of Object.entries(wrong)) {
    one.misbehaviour = { idToken };
    await refused(browser, one.signIn((await leave(browser, "ONE")).location, "ann"), what);
  }
  one.misbehaviour = { signer: createSigner("ES256", one.signer.kid) };
  await refused(browser, one.signIn((await leave(browser, "ONE")).location, "ann"), "another's signature");
  for (const answer of [{ id_token: undefined }, { access_token: 5 }, { token_type: "DPoP" }]) {
    one.misbehaviour = { answer };
    await refused(
      browser,
      one.signIn((await leave(browser, "ONE")).location, "ann"),
      JSON.stringify(answer),
      503,
    );
  }
  one.misbehaviour = {};
});

Deno.test("an ID token of another user or with another access token signs nobody in", async () => {
  const browser = new Visitor(system);
  const signInAs = async (what: string) =>
    await refused(browser, one.signIn((await leave(browser, "ONE")).location, "ann"), what);
  for (const idToken of [{ sub: "bob" }, { sub: "ANN" }, { at_hash: "x" }, { at_hash: 5 }]) {
    one.misbehaviour = { idToken };
    await signInAs(JSON.stringify(idToken));
  }
  const now = Math.floor(Date.now() / 1000);
  const access = one.signer.sign({
    ...{ iss: one.issuer, sub: "ann", iat: now, exp: now + 60, auth_time: now, acr: "mfa" },
    ...{ client_id: CODE_CLIENT.id, aud: "x", scope: "openid", jti: "1" },
  });
  const hash = (text: string) =>
    createHash("sha256").update(text).digest().subarray(0, 16).toString("base64url");
  one.misbehaviour = { answer: { access_token: access }, idToken: { at_hash: hash("another") } };
  await signInAs("at_hash of another token");
  one.misbehaviour = { answer: { access_token: access }, idToken: { at_hash: hash(access) } };
  const good = one.signIn((await leave(browser, "ONE")).location, "ann");
  assert.equal((await browser.get(good)).status, 303);
  one.misbehaviour = {};
});

/** Claims by which access tokens of Dex look like ID tokens. */
const DEX = {
  client_id: undefined,
  scope: undefined,
  aud: CODE_CLIENT.id,
  azp: CODE_CLIENT.id,
  at_hash: "x",
};

Deno.test("a browser signs in with an access token that looks like an ID token, which nobody else can use", async () => {
  two.misbehaviour = { accessToken: { ...DEX, nonce: "n" } };
  try {
    const browser = new Visitor(system);
    const back = two.signIn((await leave(browser, "TWO")).location, "bob");
    assert.equal((await browser.get(back)).status, 303);
    assert.equal(await nameOn(browser), `CN=bob,O=${two.issuer}`);
    for (const marked of [{ typ: "ID" }, { token_use: "id" }, { events: {} }, { iss: one.issuer }]) {
      two.misbehaviour = { accessToken: { ...DEX, ...marked } };
      const other = new Visitor(system);
      await refused(other, two.signIn((await leave(other, "TWO")).location, "bob"), JSON.stringify(marked));
    }
  } finally {
    two.misbehaviour = {};
  }
  const now = Math.floor(Date.now() / 1000);
  const token = two.signer.sign({ iss: two.issuer, sub: "bob", iat: now, exp: now + 60, ...DEX });
  const reply = await system.ask("/rest/auth", { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(reply.status, 401);
});

Deno.test("requirements for stronger logins apply to browsers, too", async () => {
  const browser = new Visitor(system);
  const now = Math.floor(Date.now() / 1000);
  for (const claims of [{ acr: "password" }, { auth_time: now - 700 }]) {
    const weak = { iss: one.issuer, sub: "ann", iat: now, exp: now + 60, auth_time: now, acr: "mfa" };
    const access = { ...weak, client_id: CODE_CLIENT.id, aud: "x", scope: "openid", jti: "1", ...claims };
    one.misbehaviour = { answer: { access_token: one.signer.sign(access) } };
    await refused(browser, one.signIn((await leave(browser, "ONE")).location, "ann"), JSON.stringify(claims));
  }
  one.misbehaviour = {};
});

/** Sends a browser to a provider, signs in there, and returns to the service. */
async function signInByKey(name: string, { provider }: (typeof ways)[number]) {
  const browser = new Visitor(system);
  const { headers: { location = "" } } = await browser.get(`/login/${name}`);
  return { browser, reply: await browser.get(provider.signIn(location, "ann")) };
}

for (const way of ways.filter(({ name }) => name !== "OTHER")) {
  const { name, alg, provider } = way;
  Deno.test(`the service exchanges a code by a signature (${alg}) that the provider accepts, without a secret`, async () => {
    for (let round = 0; round < 2; round++) {
      const { browser, reply } = await signInByKey(name, way);
      assert.equal(reply.status, 303, `${provider.faults}: ${reply.text}`);
      assert.match((await browser.get("/")).text, /Signed in as <strong><bdi>CN=ann,/);
    }
    assert.deepEqual(provider.faults, [], "each of two assertions has a jti of its own");
    const asked = provider.server.seen.filter(({ path }) => path === "/token");
    assert.equal(asked.length, 2);
    for (const { body, headers } of asked) {
      assert.equal(headers.authorization, undefined);
      const assertion = new URLSearchParams(body).get("client_assertion") ?? "";
      const [, claims = ""] = assertion.split(".");
      const { iat, exp } = JSON.parse(Buffer.from(claims, "base64url").toString());
      assert.equal(exp - iat, 60);
      assert.ok(!system.log.some((line) => line.includes(assertion)), "the log has no assertion");
    }
  });
}

Deno.test("a signature by a key that the provider does not know signs nobody in", async () => {
  const [way] = ways.filter(({ name }) => name === "OTHER");
  assert.ok(way);
  const { browser, reply } = await signInByKey("OTHER", way);
  assert.deepEqual(way.provider.faults, ["signature"]);
  assert.notEqual(reply.status, 303);
  assert.match(reply.text, /role="alert"/);
  assert.doesNotMatch((await browser.get("/")).text, /Signed in as/);
});

/** Service with one provider, whose properties the tests change. */
const other = await runReloadedService({
  authority,
  properties: {
    "container.security.rest.authentication.order": "ONE SSHKEY",
    ...authenticatorProperties("ONE", properties(one.issuer, "Institute")),
    "persistence.directory": "{folder}/data",
    ...authenticatorProperties("SSHKEY", { certificateAuthorities: "{folder}/conf/authorities.txt" }),
    "container.security.throttling.maxFailures": "1",
  },
  files: { "conf/authorities.txt": `${certificateLine("ca_ed25519")}\n` },
});
Deno.test.afterAll(() => other[Symbol.asyncDispose]());

Deno.test("a client that keeps sending its expired token prevents nobody at its address from signing in", async () => {
  const busy = await other.reloadWith({});
  const show = async (sub: string, exp: number) => {
    const token = one.signer.sign({ iss: one.issuer, sub, exp, client_id: CODE_CLIENT.id });
    return (await busy.ask("/rest/auth", { headers: { Authorization: `Bearer ${token}` } })).status;
  };
  const now = Math.floor(Date.now() / 1000);
  const statuses = await Array.fromAsync({ length: 22 }, () => show("una", now - 60));
  assert.deepEqual([statuses[20], statuses[21]], [401, 429]);
  assert.equal(await show("bob", now + 60), 200);
  const browser = new Visitor(busy);
  const { location } = await leave(browser, "ONE");
  assert.equal((await browser.get(one.signIn(location, "ann"))).status, 303);
});

const FORM = { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" };
const POLL = "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=used";
const FAILING: readonly [what: string, method: string, path: string, body: string, headers?: typeof FORM][] =
  [
    ["polling with a used device code", "POST", "/oauth/token", POLL, FORM],
    ["offering an expired certificate", "PUT", "/rest/auth/ssh-certificate", certificateLine("one_day")],
  ];
for (const [what, method, path, body, headers] of FAILING) {
  Deno.test(`a program that keeps ${what} prevents nobody at its address from signing in`, async () => {
    const busy = await other.reloadWith({});
    for (let i = 0; i < 25; i++) {
      const { status } = await new Visitor(busy).get(path, { method, body, headers });
      assert(status >= 400 && status < 500 && status !== 404, `${status}`);
    }
    const browser = new Visitor(busy);
    const { location } = await leave(browser, "ONE");
    assert.equal((await browser.get(one.signIn(location, "ann"))).status, 303);
  });
}

Deno.test("a sign-in belongs to its authenticator, even if another one accepts the provider's tokens first", async () => {
  for (const refreshing of [true, false]) {
    one.refreshing = refreshing;
    const browser = new Visitor(system);
    one.misbehaviour = { idToken: { acr: "mfa", auth_time: Math.floor(Date.now() / 1000), sid: "s-ann" } };
    try {
      await browser.get(one.signIn((await leave(browser, "ONE")).location, "ann"));
    } finally {
      one.misbehaviour = {};
      one.refreshing = false;
    }
    assert.equal((await browser.get("/tokens")).status, 200);
    assert.equal(await logOut({ sid: "s-ann" }), 200);
    assert.equal((await browser.get("/tokens")).status, 303);
  }
});

/** Reports to the service, as the first provider, that logins have ended. @returns The status of the answer. */
async function logOut(ended: Readonly<Record<string, string>>): Promise<number> {
  const iat = Math.floor(Date.now() / 1000);
  const logout_token = one.signer.sign({
    ...{ iss: one.issuer, aud: CODE_CLIENT.id, iat, exp: iat + 60, jti: randomUUID(), ...ended },
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
  const headers = { headers: { "Sec-Fetch-Site": "none" } };
  return (await new Visitor(system).post("/oidc/backchannel-logout", { logout_token }, headers)).status;
}

Deno.test("a logout at the provider while the service redeems the code ends that sign-in, and no other", async () => {
  const sid = "session of eve";
  const logouts: readonly Readonly<Record<string, string>>[] = [{ sid }, { sub: "eve" }, { sub: "eve", sid }];
  for (const ended of logouts) {
    for (const name of ["eve", "ann"]) {
      const browser = new Visitor(system);
      const { location } = await leave(browser, "ONE");
      one.redeemed = async () => assert.equal(await logOut(ended), 200);
      const back = one.signIn(location, name);
      try {
        if (name === "ann") assert.equal((await browser.get(back)).status, 303);
        else await refused(browser, back, JSON.stringify(ended));
      } finally {
        one.redeemed = () => Promise.resolve();
      }
    }
    const again = new Visitor(system);
    const { location } = await leave(again, "ONE");
    assert.equal((await again.get(one.signIn(location, "eve"))).status, 303, "a later sign-in");
  }
});

Deno.test("the service sends no browser to a provider that does not support S256", async () => {
  const provider = await startCodeProvider(tls);
  provider.metadata = { code_challenge_methods_supported: ["plain"] };
  const weak = await other.reloadWith({
    "container.security.rest.authentication.failOnMissingAuthCredentials": "true",
    ...authenticatorProperties("ONE", properties(provider.issuer, "Weak")),
  });
  try {
    const browser = new Visitor(weak);
    assert.equal((await browser.get("/login/ONE")).status, 503);
    const page = await browser.get("/login");
    assert.equal(page.status, 200, "strangers may see it where they may see nothing else");
    assert.match(page.text, /Sign in with Weak/);
    assert.doesNotMatch(page.text, /password/i);
    const home = await browser.get("/");
    assert.deepEqual([home.status, home.headers.location], [303, "./login?to="]);
    assert.equal((await browser.get("/login/NONE")).status, 404);
  } finally {
    await provider[Symbol.asyncDispose]();
  }
});

Deno.test("an invalid logout token is a bad request, whatever it contains", async () => {
  const b64 = (text: string) => btoa(text).replace(/=+$/, "");
  const now = Math.floor(Date.now() / 1000);
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const claims = {
    iss: one.issuer,
    aud: CODE_CLIENT.id,
    iat: now,
    exp: now + 120,
    jti: "1",
    sub: "ann",
    events,
  };
  const body = b64(JSON.stringify(claims));
  const heads = [
    "{}",
    "null",
    "[]",
    "x",
    '{"alg":"none"}',
    '{"alg":1}',
    '{"alg":"RS256","alg":"ES256"}',
    '{"alg":"ES256"}',
  ];
  const tokens = [
    ...["", ".", "..", "...", "x", "x.y.z", "a".repeat(9000), `${two.signer.sign(claims)}`],
    ...heads.flatMap((head) => ["", "AAAA", "@"].map((signature) => `${b64(head)}.${body}.${signature}`)),
    ...["null", "1", "{", '{"iss":{}}'].map((text) => `${b64('{"alg":"ES256"}')}.${b64(text)}.AAAA`),
  ];
  const stranger = new Visitor(system);
  for (const token of tokens) {
    const reply = await stranger.post("/oidc/backchannel-logout", { logout_token: token });
    assert.equal(reply.status, 400, token.slice(0, 300));
  }
});

Deno.test("sign-out offers the logout at the provider if there is one, and otherwise returns to the home page", async () => {
  const signOut = async () => {
    const browser = new Visitor(system);
    await browser.get(two.signIn((await leave(browser, "TWO")).location, "bob"));
    return await browser.post("/logout", { token: formToken(await browser.get("/")) });
  };
  assert.equal((await signOut()).status, 303);
  two.metadata = { end_session_endpoint: `${two.issuer}/end?realm=a` };
  try {
    await system.service.reload(); // the service keeps the discovery document for an hour
    const page = await signOut();
    assert.equal(page.status, 200);
    const back = encodeURIComponent(`https://localhost:${system.port}/`);
    const address =
      `${two.issuer}/end?realm=a&#38;client_id=${CODE_CLIENT.id}&#38;post_logout_redirect_uri=${back}`;
    assert(
      page.text.includes(
        `<a class="button" href="${address}">Sign out at &#60;b&#62;Lab&#60;/b&#62; too</a>`,
      ),
      page.text,
    );
    assert.match(String(page.headers["set-cookie"]), /sign-in=; .*Max-Age=0/);
  } finally {
    two.metadata = {};
  }
});
