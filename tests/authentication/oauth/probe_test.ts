import assert from "node:assert/strict";
import { probeIssuer, probeKeys } from "../../../src/authentication/oauth/probe.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { CODE_CLIENT, startCodeProvider } from "../../identity_provider/code_provider.ts";
import { CLIENT, startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { createSigner } from "../../identity_provider/token_issuer.ts";
import { httpsClient, PROVIDER_TLS } from "../remote_subject.ts";
import { onlyHttp } from "../../outgoing/only_http.ts";
import { OAUTH_CONFIG } from "./oauth_config.ts";

const [ONE, OTHER] = [createSigner("ES256", "one"), createSigner("ES256", "other")];
const STRANGE = { kty: "oct", k: "c2VjcmV0", kid: "secret" };

const KEYS: readonly (readonly [keys: readonly object[], found: RegExp])[] = [
  [[ONE.jwk], /^signs with 1 key$/],
  [[ONE.jwk, OTHER.jwk], /^signs with 2 keys$/],
  [[ONE.jwk, STRANGE], /^signs with 1 key \(left out: a secret key\)$/],
];
for (const [keys, expected] of KEYS) {
  Deno.test(`probeKeys() of ${keys.length} keys reports ${expected.source}`, async () => {
    await using provider = await startOidcProvider(PROVIDER_TLS);
    provider.keys.push(...keys);
    const http = httpsClient();
    const parts = {
      outgoing: onlyHttp(http),
      clock: Date.now,
      log: SILENT,
      externalUrl: "https://auth.example",
    };
    const config = { ...OAUTH_CONFIG, opaqueTokens: false };
    try {
      const jwksUri = `${provider.issuer}/keys`;
      const { ok, found } = await probeKeys({ ...config, jwksUri, address: undefined }, parts);
      assert.equal(ok, true);
      assert.match(found, expected);
      const issuer = { ...config, issuer: provider.issuer, address: undefined };
      assert.deepEqual(await probeIssuer(issuer, parts), { ok, found });
      const nothing = await probeIssuer({ ...issuer, jwksUri }, parts);
      assert.deepEqual(nothing, { ok: true, found: "nothing is asked of it" });
    } finally {
      http.close();
    }
  });
}

Deno.test("probeIssuer() reports whether the endpoint for opaque tokens accepts this service", async () => {
  await using provider = await startOidcProvider(PROVIDER_TLS);
  provider.keys.push(ONE.jwk);
  const http = httpsClient();
  const parts = {
    outgoing: onlyHttp(http),
    externalUrl: "https://auth.example",
    clock: Date.now,
    log: SILENT,
  };
  const config = { ...OAUTH_CONFIG, issuer: provider.issuer, address: undefined, name: "SUBJECT" };
  const probe = async (introspection: typeof CLIENT | undefined) =>
    await probeIssuer({ ...config, introspection }, parts).catch((error) => String(error));
  const known = "introspection endpoint knows this service, and refuses an unknown token";
  assert.deepEqual(await probe(CLIENT), { ok: true, found: `signs with 1 key; ${known}` });
  const refused = JSON.stringify(await probe({ ...CLIENT, clientSecret: "another" }));
  assert.match(refused, /"ok":false.*(?:status 401|client)/);
  assert.deepEqual(await probe(undefined), {
    ok: true,
    found: "signs with 1 key; userinfo endpoint answers a request without credentials with status 401",
  });
  http.close();
});

Deno.test("probeIssuer() reports whether the provider accepts the sign-in client and its redirect address", async () => {
  await using provider = await startCodeProvider(PROVIDER_TLS);
  const http = httpsClient();
  const parts = {
    outgoing: onlyHttp(http),
    externalUrl: "https://auth.example",
    clock: Date.now,
    log: SILENT,
  };
  const probe = async (clientId: string, clientSecret: string, redirect: string) => {
    provider.redirects = [`https://auth.example/login/${redirect}/done`];
    const client = { clientId, clientSecret, inHeader: false };
    const signIn = { client, title: undefined, scopes: ["openid"] };
    const config = { ...OAUTH_CONFIG, issuer: provider.issuer, opaqueTokens: false, signIn };
    return await probeIssuer(config, parts);
  };
  const { id, secret } = CODE_CLIENT;
  assert.deepEqual(await probe(id, secret, "SUBJECT"), {
    ok: true,
    found: "signs with 1 key; takes the client and its redirect address; not tried: a user's sign-in",
  });
  assert.deepEqual(await probe(id, "another", "SUBJECT"), {
    ok: false,
    found: `the token endpoint refuses client ${id} with status 401, invalid_client`,
    fix: `compare clientSecret and clientAuthentication with those of client ${id} at the provider`,
  });
  assert.deepEqual(await probe("another", secret, "SUBJECT"), {
    ok: false,
    found:
      "the token endpoint refuses client another with status 401, invalid_client, and the authorization endpoint too",
    fix: "see whether client another is registered there, and compare clientID",
  });
  assert.deepEqual(await probe(id, secret, "OTHER"), {
    ok: false,
    found: "the authorization endpoint refuses the redirect address with status 400",
    fix: `register https://auth.example/login/SUBJECT/done as redirect address of client ${id}`,
  });
  http.close();
});
