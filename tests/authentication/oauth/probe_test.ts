import assert from "node:assert/strict";
import { probeIssuer, probeKeys } from "../../../src/authentication/oauth/probe.ts";
import { SILENT } from "../../../src/logging/logger.ts";
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
  Deno.test(`probeKeys() of ${keys.length} keys says ${expected.source}`, async () => {
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

Deno.test("probeIssuer() says whether the endpoint for opaque tokens knows this service", async () => {
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
  assert.match(JSON.stringify(await probe({ ...CLIENT, clientSecret: "another" })), /status 401|client/);
  assert.deepEqual(await probe(undefined), {
    ok: true,
    found: "signs with 1 key; userinfo endpoint answers a request without credentials with status 401",
  });
  http.close();
});
