import assert from "node:assert/strict";
import { CodeLogin } from "../../../src/authentication/oauth/code_login.ts";
import { Provider } from "../../../src/authentication/oauth/provider.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { PROOFS, ReplayCache } from "../../../src/model/replay_cache.ts";
import type { OutgoingResponse } from "../../../src/outgoing/outgoing.ts";
import { RemoteUnavailable } from "../../../src/outgoing/remote_unavailable.ts";
import { CODE_CLIENT, type Misbehaviour, startCodeProvider } from "../../identity_provider/code_provider.ts";
import { httpsClient, PROVIDER_TLS } from "../remote_subject.ts";
import { unsignedJwt } from "../sample_credentials.ts";
import { OAUTH_CONFIG } from "./oauth_config.ts";

const clock = Date.now;
const provider = await startCodeProvider(PROVIDER_TLS);
const { issuer } = provider;
const http = httpsClient();
Deno.test.afterAll(async () => {
  http.close();
  await provider[Symbol.asyncDispose]();
});

const client = { clientId: CODE_CLIENT.id, clientSecret: CODE_CLIENT.secret, inHeader: false };
const subject = new CodeLogin(
  { ...OAUTH_CONFIG, issuer, signIn: { client, title: undefined, scopes: ["openid"] } },
  {
    provider: new Provider({ ...OAUTH_CONFIG, issuer, address: undefined }, { http, clock, log: SILENT }),
    keys: { matching: () => Promise.resolve([provider.signer.publicKey]) },
    clock,
    replays: new ReplayCache(PROOFS, clock),
  },
);
const CALLER = {
  queueKey: "ann",
  known: true,
  credential: "ann",
  address: "192.0.2.17",
  signal: new AbortController().signal,
};
const VISIT = {
  redirectUri: "https://localhost/login/ONE/done",
  state: "a state",
  nonce: "a nonce",
  verifier: "v".repeat(43),
};

/** Signs in. @param change Changes the answer that the browser returns, as an attacker might. */
async function signIn(misbehaviour: Misbehaviour = {}, change: (answer: URLSearchParams) => void = () => {}) {
  provider.misbehaviour = misbehaviour;
  const back = provider.signIn(await subject.begin(VISIT, CALLER), "ann");
  const answer = new URL(back, issuer).searchParams;
  change(answer);
  return await subject.finish(answer, VISIT, CALLER);
}

Deno.test("CodeLogin returns the access token and session of a user with an ID token for this client", async () => {
  for (const aud of [CODE_CLIENT.id, [CODE_CLIENT.id]]) {
    const outcome = await signIn({ idToken: { aud, azp: CODE_CLIENT.id } });
    assert.ok(outcome.kind === "token");
    assert.deepEqual(outcome.session, { sub: "ann", sid: "session of ann", refreshToken: undefined });
  }
});

const ANSWERS: readonly [what: string, change: (answer: URLSearchParams) => void, reason: string][] = [
  [
    "has two codes",
    (answer) => answer.append("code", "x"),
    "code of the provider's answer is there twice, or too long",
  ],
  [
    "has a code that is too long",
    (answer) => answer.set("code", "x".repeat(4097)),
    "code of the provider's answer is there twice, or too long",
  ],
  ["has no code", (answer) => answer.delete("code"), "the provider's answer has no code"],
  ["has an empty code", (answer) => answer.set("code", ""), "the provider's answer has no code"],
  [
    "has another code",
    (answer) => answer.set("code", "x"),
    "the provider does not take the code, invalid_grant",
  ],
  ["names another issuer", (answer) => answer.set("iss", "https://x"), "the answer is of another provider"],
  ["names no issuer", (answer) => answer.delete("iss"), "the answer is of another provider"],
];
for (const [what, change, reason] of ANSWERS) {
  Deno.test(`CodeLogin refuses an answer that ${what}`, async () => {
    assert.deepEqual(await signIn({}, change), { kind: "refused", reason });
  });
}

const TOKENS: readonly [what: string, misbehaviour: Misbehaviour, reason: string][] = [
  ["an invalid ID token", { answer: { id_token: "x" } }, "the ID token is no signed JWT"],
  ["an ID token for another client", { idToken: { aud: "x" } }, "the ID token is for another client"],
  [
    "an ID token for several clients that does not name the authorized one",
    { idToken: { aud: [CODE_CLIENT.id, "x"] } },
    "the ID token is for another client",
  ],
  [
    "an ID token that was issued to another client",
    { idToken: { azp: "x" } },
    "the ID token was made for another client",
  ],
  ["an ID token of another sign-in", { idToken: { nonce: "x" } }, "the ID token is of another visit"],
  [
    "an ID token of another access token",
    { idToken: { at_hash: "x" } },
    "the ID token was made with another access token",
  ],
  ["an ID token without subject", { idToken: { sub: undefined } }, "no subject"],
  [
    "an access token that claims to come from this service",
    { answer: { access_token: unsignedJwt({ sub: "ann", etd: "true" }) } },
    "the access token is not from a provider",
  ],
];
Deno.test("CodeLogin refuses an ID token as access token", async () => {
  const now = Math.floor(clock() / 1000);
  const { nonce } = VISIT;
  const token = provider.signer.sign({ iss: issuer, aud: CODE_CLIENT.id, sub: "ann", exp: now + 60, nonce });
  assert.deepEqual(await signIn({ answer: { access_token: token, id_token: token } }), {
    kind: "refused",
    reason: "the access token is the ID token",
  });
});

for (const [what, misbehaviour, reason] of TOKENS) {
  Deno.test(`CodeLogin refuses ${what}`, async () => {
    assert.deepEqual(await signIn(misbehaviour), { kind: "refused", reason });
  });
}

Deno.test("CodeLogin reports an outage, not a refusal, if the provider's answer is unusable", async () => {
  for (
    const answer of [{ token_type: "DPoP" }, { access_token: 1 }, { access_token: undefined }, {
      id_token: "",
    }]
  ) {
    await assert.rejects(signIn({ answer }), RemoteUnavailable);
  }
});

Deno.test("CodeLogin renews a login until the provider ends it", async () => {
  provider.refreshing = true;
  const outcome = await signIn();
  assert.ok(outcome.kind === "token");
  const session = { sub: "ann", refreshToken: outcome.session.refreshToken ?? "" };
  assert.equal((await subject.renew(session, {}, CALLER)).kind, "token");
  assert.deepEqual(await subject.renew(session, {}, CALLER), {
    kind: "refused",
    reason: "the provider does not take the refresh token, invalid_grant",
  });
});

Deno.test("CodeLogin counts a provider as up once it refuses a code or a refresh token", async () => {
  const time = { elapsed: 0 };
  const answers: (() => Promise<OutgoingResponse>)[] = [];
  const scripted = { send: () => (answers.shift() ?? (() => Promise.reject(new Error("no answer left"))))() };
  const document = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    code_challenge_methods_supported: ["S256"],
  };
  const parts = { http: scripted, clock, elapsed: () => time.elapsed, log: SILENT };
  const remote = new Provider({ ...OAUTH_CONFIG, issuer, address: undefined }, parts);
  const login = new CodeLogin({ ...subject.config }, { ...subject.parts, provider: remote });
  const session = { sub: "ann", refreshToken: "x" };
  answers.push(() => Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(document) }));
  answers.push(() => Promise.reject(new RemoteUnavailable("h", "refused")));
  await assert.rejects(login.renew(session, {}, CALLER), RemoteUnavailable);
  assert.equal(remote.status().up, false);
  time.elapsed += 1000;
  answers.push(() => Promise.resolve({ status: 400, headers: {}, body: '{"error":"invalid_grant"}' }));
  assert.equal((await login.renew(session, {}, CALLER)).kind, "refused");
  assert.equal(remote.status().up, true);
});
