/** Logout tokens (OpenID Connect Back-Channel Logout 1.0, 2.4 and 2.6). */
import assert from "node:assert/strict";
import { OAuth } from "../../../src/authentication/oauth/oauth.ts";
import { InvalidToken } from "../../../src/authentication/signed_token.ts";
import { PROOFS, ReplayCache } from "../../../src/model/replay_cache.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { createSigner } from "../../identity_provider/token_issuer.ts";
import { httpsClient, PROVIDER_TLS } from "../remote_subject.ts";
import { OAUTH_CONFIG } from "./oauth_config.ts";

const NOW = 1_800_000_000;
const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const [SIGNER, STRANGER] = [createSigner("ES256", "ec"), createSigner("ES256", "ec")];
const { signal } = new AbortController();

const provider = await startOidcProvider(PROVIDER_TLS);
provider.keys.push(SIGNER.jwk);
const issuer = provider.server.origin;
const client = { clientId: "portal", clientSecret: "s", inHeader: false };
const signIn = { client, title: undefined, scopes: ["openid"] };
const time = { now: NOW * 1000 };
const proofs = new ReplayCache(PROOFS, () => time.now);
const opened = (name: string) =>
  new OAuth({ ...OAUTH_CONFIG, name, issuer, address: undefined, signIn }, {
    http: httpsClient(),
    clock: () => time.now,
    log: SILENT,
    proofs,
  });
const [subject, second] = [opened("SUBJECT"), opened("SECOND")];
Deno.test.afterAll(async () => {
  subject.close();
  second.close();
  await provider.server[Symbol.asyncDispose]();
});

let made = 0;
const claims = () => ({
  iss: issuer,
  aud: "portal",
  iat: NOW,
  exp: NOW + 120,
  jti: String(made++),
  events: { [EVENT]: {} },
  sub: "ann",
  sid: "session 1",
});
const read = (text: string) =>
  subject.browserLogin?.readLogout(text, (ended) => Promise.resolve(ended), signal) ??
    Promise.reject(new TypeError());
const sign = (more: Readonly<Record<string, unknown>>, header = {}) =>
  SIGNER.sign({ ...claims(), ...more }, header);

Deno.test("a logout token ends one session, or all sessions of a subject", async () => {
  assert.deepEqual(await read(sign({})), { sub: "ann", sid: "session 1" });
  assert.deepEqual(await read(sign({ sid: undefined })), { sub: "ann", sid: undefined });
  assert.deepEqual(await read(sign({ sub: undefined })), { sub: undefined, sid: "session 1" });
  for (const typ of ["logout+jwt", "application/logout+jwt", "JWT"]) await read(sign({}, { typ }));
  await read(sign({ aud: ["others", "portal"] }));
});

Deno.test("a logout token is accepted once", async () => {
  const token = sign({});
  await read(token);
  await assert.rejects(read(token), InvalidToken);
  const { jti } = claims();
  await read(sign({ jti }));
  await assert.rejects(read(sign({ jti, sub: "bob" })), InvalidToken, "another one of the same id");
});

Deno.test("a logout token is accepted once by each authenticator of its issuer and client", async () => {
  const token = sign({});
  for (const { browserLogin } of [subject, second]) {
    const read = () => browserLogin?.readLogout(token, (ended) => Promise.resolve(ended), signal);
    assert.deepEqual(await read(), { sub: "ann", sid: "session 1" });
    await assert.rejects(async () => await read(), InvalidToken);
  }
});

Deno.test("a logout token is accepted again if the logins could not be ended", async () => {
  const token = sign({});
  const away = () => Promise.reject(new Error("the database is away"));
  await assert.rejects(subject.browserLogin?.readLogout(token, away, signal) ?? Promise.resolve(), /away/);
  assert.deepEqual(await read(token), { sub: "ann", sid: "session 1" });
  await assert.rejects(read(token), InvalidToken);
});

const BAD: [what: string, claims: Readonly<Record<string, unknown>>, header?: object][] = [
  ["a nonce, as in ID tokens", { nonce: "n" }],
  ["no events", { events: undefined }],
  ["another event", { events: { "http://schemas.openid.net/event/other": {} } }],
  ["an event that is no object", { events: { [EVENT]: "" } }],
  ["events as a list", { events: [EVENT] }],
  ["no jti", { jti: undefined }],
  ["an empty jti", { jti: "" }],
  ["neither sub nor sid", { sub: undefined, sid: undefined }],
  ["a sub that is a number", { sub: 1 }],
  ["another client", { aud: "others" }],
  ["no audience", { aud: undefined }],
  ["another issuer", { iss: "https://others" }],
  ["no iat", { iat: undefined }],
  ["an old iat", { iat: NOW - 301 }],
  ["a future iat", { iat: NOW + 61 }],
  ["no exp", { exp: undefined }],
  ["expired", { exp: NOW }],
  ["an access token's type", {}, { typ: "at+jwt" }],
  ["a security event's type", {}, { typ: "secevent+jwt" }],
  ["no algorithm", {}, { alg: "none" }],
];
for (const [what, more, header] of BAD) {
  Deno.test(`a logout token is refused: ${what}`, async () => {
    await assert.rejects(read(sign(more, header)), InvalidToken);
  });
}

Deno.test("a logout token is refused if another issuer signed it, or if it is unsigned or malformed", async () => {
  for (const text of [STRANGER.sign(claims()), sign({}).replace(/[^.]+$/, ""), "", "a.b.c"]) {
    await assert.rejects(read(text), InvalidToken);
  }
});
