/** Tokens of two issuers, over HTTPS, with the product's flags. */
import assert from "node:assert/strict";
import { hash, X509Certificate } from "node:crypto";
import { createDpopClient } from "../identity_provider/dpop_client.ts";
import { CLIENT, startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createSigner } from "../identity_provider/token_issuer.ts";
import { createAuthority } from "../pki/authority.ts";
import { LONG } from "../long/results.ts";
import { authenticatorProperties } from "./every_method.ts";
import { ALICE_DN, MAP, runService } from "./running_service.ts";

/** Creates a self-signed certificate with the command of the manual. */
async function selfSigned(name: string) {
  const folder = await Deno.makeTempDir();
  const args = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-days",
    "9",
  ];
  const own = ["-subj", `/CN=${name}`, "-addext", "basicConstraints=critical,CA:FALSE"];
  const files = ["-keyout", `${folder}/key.pem`, "-out", `${folder}/cert.pem`];
  const { success } = await new Deno.Command("openssl", { args: [...args, ...own, ...files], stderr: "null" })
    .output();
  assert(success);
  const [certificate, key] = await Promise.all(
    ["cert", "key"].map((file) => Deno.readTextFile(`${folder}/${file}.pem`)),
  );
  await Deno.remove(folder, { recursive: true });
  return { certificate: certificate ?? "", key: key ?? "" };
}

const [listed, unlisted] = [await selfSigned("laptop"), await selfSigned("stranger")];
const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const tls = authority.issue({ subject: "CN=idp", names: ["localhost"] });
const [one, two] = [await startOidcProvider(tls), await startOidcProvider(tls)];
const [first, second] = [createSigner("EdDSA", "1"), createSigner("RS256", "2")];
one.keys.push(first.jwk);
two.keys.push(second.jwk);
const client = await createDpopClient();
const CLIENT_NAME = { subject: "CN=Client,O=Demo,C=EU", extendedKeyUsage: ["clientAuth"] } as const;
const certificate = authority.issue(CLIENT_NAME);

const system = await runService({
  authority,
  files: { "conf/clients.pem": listed.certificate },
  map: JSON.stringify({ ...MAP, [`CN=boss,O=${one.issuer}`]: { role: ["admin", "user"], xlogin: "alice" } }),
  properties: {
    "container.security.rest.authentication.order": "ONE TWO",
    "container.security.clientTruststore.type": "directory",
    "container.security.clientTruststore.directoryLocations.1": "{folder}/conf/ca.pem",
    "container.security.clientTruststore.directoryLocations.2": "{folder}/conf/clients.pem",
    ...authenticatorProperties("ONE", {
      class: "OAuthAuthenticator",
      issuer: one.issuer,
      requiredAudience: "uftp https://uftp.example",
      requiredScope: "transfer",
      certificateBound: "true",
      requiredAcr: "mfa phr",
      maxAuthAge: "3600",
      uidAssign: "preferred_username",
      groupsClaim: "realm_access.roles groups",
      groupsPrefix: "/hpc/",
      "groupsMap.projA": "proja",
      requiredGroups: "projA staff",
    }),
    ...authenticatorProperties("TWO", {
      class: "OAuthAuthenticator",
      issuer: two.issuer,
      validate: "true",
      clientID: CLIENT.clientId,
      clientSecret: CLIENT.clientSecret.replaceAll("\\", "\\\\"),
      opaqueTokens: "true",
      requiredClient: "portal",
      identityTemplate: "UID=%email%",
      uidAssign: "preferred_username",
    }),
  },
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await Promise.all([one, two].map((provider) => provider[Symbol.asyncDispose]()));
});

const seconds = () => Math.floor(Date.now() / 1000);

/** Returns the first issuer's claims about Ann. */
const annClaims = () => ({
  iss: one.issuer,
  sub: "ann",
  aud: ["uftp"],
  exp: seconds() + 300,
  auth_time: seconds() - 60,
  acr: "mfa",
  scope: "openid transfer",
  preferred_username: "ann",
  realm_access: { roles: ["/hpc/projA", "/hpc/other", "/bio/projA"] },
});
/** Returns the second issuer's claims about Bob. */
const bobClaims = () => ({
  iss: two.issuer,
  sub: "bob",
  azp: "portal",
  typ: "Bearer",
  exp: seconds() + 300,
  email: "bob@example.org",
  email_verified: true,
  preferred_username: "bob",
});
const annToken = (change: object = {}) => first.sign({ ...annClaims(), ...change }, { typ: "at+jwt" });
const bobToken = (change: object = {}) => second.sign({ ...bobClaims(), ...change }, { typ: "JWT" });

const authorized = (scheme: string, token: string, more: Readonly<Record<string, string>> = {}) => ({
  headers: { Authorization: `${scheme} ${token}`, ...more },
});
const show = (token: string) => system.ask("/rest/auth", authorized("Bearer", token));
const challengeOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  String(headers["www-authenticate"]);

Deno.test("tokens of two issuers log in by their own claims, without a request to the issuers", async () => {
  const before = [one, two].map(({ server }) => server.seen.length);
  const ann = (await show(annToken())).json().client;
  assert.deepEqual(ann, {
    dn: `CN=ann,O=${one.issuer}`,
    xlogin: { UID: "ann", availableUIDs: ["ann"], group: "proja", availableGroups: ["proja"] },
    role: { selected: "user", availableRoles: ["user"] },
    authenticationMethod: "OAUTH",
  });
  const { client } = (await show(bobToken())).json();
  assert.ok(typeof client === "object" && client !== null && "dn" in client);
  assert.equal(client.dn, "UID=bob@example.org");
  assert.deepEqual([one, two].map(({ server }) => server.seen.length), before);
  // The service fetched the keys of both before it reported itself ready.
  for (const { server } of [one, two]) assert.ok(server.seen.some(({ path }) => path === "/keys"));
});

Deno.test("the user of a token gets a session with account and mapped group", async () => {
  const reply = await system.ask("/rest/auth/HPC", {
    ...authorized("Bearer", annToken()),
    body: { serverPath: "" },
  });
  assert.equal(reply.status, 200, reply.text);
  const values = system.daemon().sessionRequests.at(-1);
  assert.equal(values?.get("user"), "ann");
  assert.equal(values?.get("group"), "proja");
});

Deno.test("tokens of this service expire when the login reaches its maximum age", async () => {
  const authTime = seconds() - 3500;
  const shown = authorized("Bearer", annToken({ auth_time: authTime }), { Accept: "text/plain" });
  const { status, text } = await system.ask("/rest/auth/token?renewable=true", shown);
  assert.equal(status, 200, text);
  const claims = Uint8Array.fromBase64(text.split(".")[1] ?? "", { alphabet: "base64url" });
  const { exp, renewableUntil } = JSON.parse(new TextDecoder().decode(claims));
  assert.deepEqual([exp, renewableUntil], [authTime + 3600, authTime + 3600]);
});

Deno.test("many first logins send no request to their issuer", async () => {
  const before = one.server.seen.length;
  for (let left = LONG ? 1000 : 50; left > 0; left -= 50) {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => show(annToken({ jti: `${left} ${i}` }))),
    );
    for (const { status } of replies) assert.equal(status, 200);
  }
  assert.equal(one.server.seen.length, before);
});

Deno.test("200 concurrent first logins by introspected tokens all succeed, with one introspection each", async () => {
  const tokens = Array.from({ length: 200 }, (_, i) => `first-${i}`);
  for (const token of tokens) {
    two.tokens.set(token, { ...bobClaims(), client_id: "portal", token_type: "Bearer" });
  }
  const before = two.server.seen.length;
  const began = performance.now();
  const replies = await Promise.all(tokens.map(async (token) => {
    const { status, text } = await show(token);
    // A login waits up to 5 seconds for its turn; only a busy machine is that slow.
    return status === 503 && performance.now() - began >= 5000 ? undefined : `${status} ${text.slice(0, 20)}`;
  }));
  for (const reply of replies) if (reply !== undefined) assert.match(reply, /^200 /);
  assert.notDeepEqual(new Set(replies), new Set([undefined]));
  const asked = two.server.seen.slice(before).filter(({ path }) => path === "/introspect");
  assert.ok(asked.length <= tokens.length, String(asked.length));
});

Deno.test("forged tokens in a user's name do not lock out the user", async () => {
  assert.equal((await show(annToken())).status, 200);
  const forger = createSigner("EdDSA", "1");
  const forged = Array.from(
    { length: 105 },
    (_, jti) => forger.sign({ ...annClaims(), jti: `forged ${jti}` }, { typ: "at+jwt" }),
  );
  const statuses = await Promise.all(forged.map(async (token) => (await show(token)).status));
  assert.deepEqual(new Set(statuses), new Set([401]));
  assert.equal((await show(annToken({ jti: "after" }))).status, 200);
});

Deno.test("a token is sent only to its own issuer, an opaque one only to an issuer of opaque tokens", async () => {
  two.tokens.set("opaque", { ...bobClaims(), client_id: "portal", token_type: "Bearer" });
  const before = one.server.seen.length;
  assert.equal((await show("opaque")).status, 200);
  assert.equal((await show("unknown")).status, 401);
  assert.equal(one.server.seen.length, before);
  assert.equal(two.server.seen.at(-1)?.path, "/introspect");
  const asked = two.server.seen.length;
  // Tokens of an unknown issuer, or with a signature of another issuer.
  assert.equal((await show(annToken({ iss: "https://other.example" }))).status, 401);
  assert.equal((await show(first.sign({ ...bobClaims(), iss: two.issuer }))).status, 401);
  assert.equal((await show(second.sign({ ...annClaims(), iss: one.issuer }))).status, 401);
  assert.ok(one.server.seen.slice(before).every(({ path }) => path === "/keys"));
  assert.ok(two.server.seen.slice(asked).every(({ path }) => path !== "/introspect"));
});

for (
  const [what, change, description] of [
    ["of another audience", { aud: "other" }, "The token is for another service (aud)"],
    ["without the scope", { scope: "openid" }, "The token lacks a required scope"],
    ["of a user without a required group", { realm_access: { roles: ["/hpc/other"] } }],
    ["of a refresh token", { typ: "Refresh" }, "This is not an access token"],
    ["that has expired", { exp: 1 }, "The token has expired"],
    [
      "bound to a key, without proof",
      { cnf: { jkt: "A".repeat(43) } },
      "The token is bound to a key or certificate, and the request does not prove its possession",
    ],
  ] as const
) {
  Deno.test(`a token ${what} is refused, and the answer says what the client can fix`, async () => {
    const reply = await show(annToken(change));
    assert.equal(reply.status, 401);
    const metadata =
      `resource_metadata="https://localhost:${system.port}/.well-known/oauth-protected-resource"`;
    const said = description === undefined ? "" : `error_description="${description}", `;
    assert.ok(
      challengeOf(reply).startsWith(`Bearer realm="DEMO", error="invalid_token", ${said}${metadata}`),
      challengeOf(reply),
    );
  });
}

Deno.test("an unverified e-mail address identifies nobody", async () => {
  for (
    const change of [{ email_verified: false }, { email_verified: undefined }, { email_verified: "yes" }]
  ) {
    assert.equal((await show(bobToken(change))).status, 401);
  }
});

for (
  const [what, change] of Object.entries({
    "with the wrong acr": { acr: "pwd" },
    "without acr": { acr: undefined },
    "long ago": { auth_time: 1000 },
    "at an unknown time": { auth_time: undefined },
    "in the future": { auth_time: 32503680000 },
  })
) {
  Deno.test(`a user who logged in ${what} must log in again (RFC 9470)`, async () => {
    const reply = await show(annToken(change));
    assert.equal(reply.status, 401);
    assert.match(
      challengeOf(reply),
      /Bearer realm="DEMO", error="insufficient_user_authentication", error_description="[^"]+", acr_values="mfa phr", max_age="3600"/,
    );
  });
}

Deno.test("the resource metadata name the issuers (RFC 9728)", async () => {
  const reply = await system.ask("/.well-known/oauth-protected-resource");
  assert.deepEqual(reply.json(), {
    resource: `https://localhost:${system.port}`,
    resource_name: "DEMO",
    authorization_servers: [one.issuer, two.issuer],
    bearer_methods_supported: ["header"],
    scopes_supported: ["transfer"],
    dpop_signing_alg_values_supported: [
      ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
      ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
    ],
  });
  const challenge = challengeOf(await system.ask("/rest/auth/HPC", { body: { serverPath: "" } }));
  assert.match(challenge, /^Bearer realm="DEMO", resource_metadata="https:\/\/localhost:/);
  assert.match(challenge, /, DPoP realm="DEMO", algs="RS256 .*Ed25519", resource_metadata=/);
  assert.doesNotMatch(challenge, /error=/);
});

Deno.test("a token bound to a key logs in with proofs of that key, each valid for one request", async () => {
  // As in Keycloak 26.7, with a further member that binds nothing.
  const token = annToken({ cnf: { jkt: client.jkt, "kc-jkt-type": "DPoP" } });
  const url = `https://localhost:${system.port}/rest/auth`;
  const proof = client.prove({ token, method: "GET", url });
  const ask = (proof: string, scheme = "DPoP") =>
    system.ask("/rest/auth?x=1", authorized(scheme, token, { DPoP: proof }));
  assert.equal((await ask(proof)).status, 200);
  const again = await ask(proof);
  assert.equal(again.status, 401);
  assert.match(challengeOf(again), /DPoP realm="DEMO", algs="[^"]*", error="invalid_token"/);
  assert.equal((await ask(client.prove({ token, method: "GET", url }), "dpop")).status, 200);

  const other = await createDpopClient();
  const wrong: Readonly<Record<string, string>> = {
    "for another method": client.prove({ token, method: "POST", url }),
    "for another address": client.prove({ token, method: "GET", url: `${url}/HPC` }),
    "for another host": client.prove({ token, method: "GET", url: "https://evil.example/rest/auth" }),
    "for another token": client.prove({ token: annToken(), method: "GET", url }),
    "of another key": other.prove({ token, method: "GET", url }),
  };
  for (const [what, proof] of Object.entries(wrong)) {
    assert.equal((await ask(proof)).status, 401, what);
  }
  assert.equal(
    (await ask(client.prove({ token, method: "GET", url }), "Bearer")).status,
    401,
    "as bearer token",
  );
  assert.equal((await show(token)).status, 401, "without proof");
  const unbound = annToken({ jti: "unbound" });
  const shown = authorized("DPoP", unbound, { DPoP: client.prove({ token: unbound, method: "GET", url }) });
  assert.equal((await system.ask("/rest/auth", shown)).status, 401, "a token that is not bound");
});

Deno.test("an opaque token that its provider reports as bound logs in only with proofs of that key", async () => {
  two.tokens.set("bound", {
    ...bobClaims(),
    client_id: "portal",
    token_type: "DPoP",
    cnf: { jkt: client.jkt, "kc-jkt-type": "DPoP" },
  });
  const ask = (prover: typeof client, scheme = "DPoP") => {
    const url = `https://localhost:${system.port}/rest/auth`;
    const DPoP = prover.prove({ token: "bound", method: "GET", url });
    return system.ask("/rest/auth", authorized(scheme, "bound", { DPoP }));
  };
  assert.equal((await ask(client)).status, 200);
  assert.equal((await ask(await createDpopClient())).status, 401);
  assert.equal((await ask(client, "Bearer")).status, 401);
});

Deno.test("a token bound to a key or a certificate cannot be exchanged for an unbound one", async () => {
  const path = "/rest/auth/token";
  const url = `https://localhost:${system.port}${path}`;
  const token = annToken({ cnf: { jkt: client.jkt } });
  const exchanged = await system.ask(
    path,
    authorized("DPoP", token, { DPoP: client.prove({ token, method: "GET", url }), Accept: "*/*" }),
  );
  assert.deepEqual([exchanged.status, exchanged.json().code], [403, "ERR_LOGIN_BOUND"]);
  const thumbprint = hash("sha256", new X509Certificate(certificate.certificate).raw, "base64url");
  const shown = authorized("Bearer", annToken({ cnf: { "x5t#S256": thumbprint } }), { Accept: "*/*" });
  assert.equal((await system.ask(path, { ...shown, certificate })).status, 403);
  assert.equal((await system.ask(path, authorized("Bearer", annToken(), { Accept: "*/*" }))).status, 200);
});

Deno.test("an administrator whose token is bound cannot issue an unbound one", async () => {
  const path = "/rest/admin/actions/IssueAPIToken";
  const url = `https://localhost:${system.port}${path}`;
  const boss = { "X-UNICORE-User-Preferences": "role:admin" };
  const body = { subject: ALICE_DN };
  const bound = annToken({ sub: "boss", cnf: { jkt: client.jkt } });
  const DPoP = client.prove({ token: bound, method: "POST", url });
  const refused = await system.ask(path, {
    ...authorized("DPoP", bound, { ...boss, DPoP }),
    method: "POST",
    body,
  });
  const { success, message } = refused.json();
  assert.deepEqual([refused.status, success], [200, false], refused.text);
  assert.match(String(message), /proof of possession/);
  const unbound = annToken({ sub: "boss" });
  const made = await system.ask(path, { ...authorized("Bearer", unbound, boss), method: "POST", body });
  assert.equal(made.json().success, true, made.text);
});

Deno.test("a proof used before a reload is refused after it", async () => {
  const token = annToken({ cnf: { jkt: client.jkt } });
  const prove = () =>
    client.prove({ token, method: "GET", url: `https://localhost:${system.port}/rest/auth` });
  const ask = (proof: string) => system.ask("/rest/auth", authorized("DPoP", token, { DPoP: proof }));
  const proofs = Array.from({ length: 20 }, prove);
  for (const proof of proofs) assert.equal((await ask(proof)).status, 200);
  await system.service.reload();
  for (const proof of proofs) assert.equal((await ask(proof)).status, 401);
  assert.equal((await ask(prove())).status, 200);
});

/** Returns a token that is bound to a certificate. */
const boundTo = (shown: { readonly certificate: string }) =>
  annToken({
    cnf: { "x5t#S256": hash("sha256", new X509Certificate(shown.certificate).raw, "base64url") },
  });
const showBound = (token: string, shown?: typeof certificate) =>
  system.ask("/rest/auth", { ...authorized("Bearer", token), ...(shown && { certificate: shown }) });

Deno.test("a token bound to a certificate logs in only with that certificate (RFC 8705)", async () => {
  const token = boundTo(certificate);
  assert.equal((await showBound(token, certificate)).status, 200);
  assert.equal((await showBound(token)).status, 401);
  assert.equal((await showBound(token, authority.issue(CLIENT_NAME))).status, 401);
});

Deno.test("a self-signed certificate in the client truststore proves possession of its token (RFC 8705, 2.2)", async () => {
  assert.equal((await showBound(boundTo(listed), listed)).status, 200);
  assert.equal((await showBound(boundTo(listed))).status, 401);
  assert.equal((await showBound(boundTo(listed), unlisted)).status, 401);
});

Deno.test("the log has the reason for refusing a certificate-bound token in one line", async () => {
  const before = system.log.length;
  assert.equal((await showBound(boundTo(unlisted), unlisted)).status, 401);
  const reason =
    /bound to a certificate, and that of the client does not count: no trusted authority is known to have issued it/;
  assert.match(await system.logged(reason, before), /credentials refused/);
  const next = system.log.length;
  assert.equal((await showBound(boundTo(unlisted))).status, 401);
  assert.match(await system.logged(/the client showed none/, next), /credentials refused/);
});
