import assert from "node:assert/strict";
import { check } from "../../../src/command/diagnosis/check.ts";
import { CLIENT, startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { createSigner } from "../../identity_provider/token_issuer.ts";
import { createAuthority } from "../../pki/authority.ts";
import { authenticatorProperties } from "../../system/every_method.ts";
import { createSite, type Site } from "../../system/running_service.ts";
import { recordedIo } from "../recorded_io.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const shown = authority.issue({ subject: "CN=localhost", names: ["localhost"] });
const [provider, elsewhere] = [await startOidcProvider(shown), await startOidcProvider(shown)];
const [first, second] = [createSigner("ES256", "1"), createSigner("EdDSA", "2")];
provider.keys.push(first.jwk, second.jwk);
elsewhere.keys.push(first.jwk);

/** Creates a site with a daemon and the issuer as its only other systems. */
const siteOf = (values: Readonly<Record<string, string>>) =>
  createSite({
    authority,
    properties: {
      "container.security.rest.authentication.order": "OAUTH",
      ...authenticatorProperties("OAUTH", { issuer: provider.issuer, requiredAudience: "uftp", ...values }),
    },
  });
const asClient = {
  validate: "true",
  clientID: CLIENT.clientId,
  clientSecret: CLIENT.clientSecret.replaceAll("\\", "\\\\"),
};
const [signed, opaque, keysElsewhere] = await Promise.all([
  siteOf({}),
  siteOf({ opaqueTokens: "true", ...asClient }),
  siteOf({ jwksUri: `${elsewhere.issuer}/keys` }),
]);
Deno.test.afterAll(async () => {
  await Promise.all(
    [provider, elsewhere, signed, opaque, keysElsewhere].map((each) => each[Symbol.asyncDispose]()),
  );
});

/** Returns the lines about the issuer, without addresses and the days of its certificate. */
async function said({ main }: Site) {
  const io = recordedIo();
  const status = await check.run(["--online", "--config", main], io);
  const lines = io.out.split("\n").filter((line) => /^(?:ok|failed) +method /.test(line))
    .map((line) =>
      line.replace(/ +/g, " ").replace(/ https:\/\/localhost:\d+(?:\/keys)?:/, ":")
        .replace(/certificate valid for \d+ days; /, "")
    );
  return { status, lines };
}

Deno.test("check --online reads an issuer's documents, and tries its introspection endpoint", async () => {
  const before = provider.server.seen.length;
  assert.deepEqual(await said(signed), { status: 0, lines: ["ok method OAUTH: signs with 2 keys"] });
  const paths = new Set(provider.server.seen.slice(before).map(({ path }) => path));
  assert.deepEqual(paths, new Set(["/.well-known/openid-configuration", "/keys"]));
  assert.deepEqual(await said(opaque), {
    status: 0,
    lines: [
      "ok method OAUTH: signs with 2 keys; introspection endpoint knows this service, and refuses an unknown token",
    ],
  });
  assert.deepEqual((await said(keysElsewhere)).lines, [
    "ok method OAUTH: nothing is asked of it",
    "ok method OAUTH: signs with 1 key",
  ]);
});

/** Faults of an issuer, each with its message. */
const FAULTS: Readonly<
  Record<
    string,
    { readonly metadata?: Record<string, unknown>; readonly keys?: unknown[]; readonly says: RegExp }
  >
> = {
  "that names another issuer": {
    metadata: { issuer: "https://other.example" },
    says: /discovery document is of https:\/\/other\.example, expected /,
  },
  "without keys": { metadata: { jwks_uri: undefined }, says: /jwks_uri/ },
  "whose keys are on another host": {
    metadata: { jwks_uri: `${elsewhere.issuer}/keys` },
    says: /jwks_uri.*expected .*OAUTH\.jwksUri/,
  },
  "with an empty key set": { keys: [], says: /no key at all/ },
  "that publishes a secret key": {
    keys: [{ ...first.jwk, d: "AAAA" }],
    says: /no key that could be used: a secret key/,
  },
};
for (const [what, { metadata = {}, keys, says }] of Object.entries(FAULTS)) {
  Deno.test(`check --online detects an issuer ${what}`, async () => {
    const before = [...provider.keys];
    provider.metadata = metadata;
    if (keys !== undefined) provider.keys.splice(0, Infinity, ...keys);
    try {
      const { status, lines: [line = "", more] } = await said(signed);
      assert.equal(status, 1);
      assert.match(line, /^failed method OAUTH: /);
      assert.match(line, says);
      assert.equal(more, undefined);
    } finally {
      provider.metadata = {};
      provider.keys.splice(0, Infinity, ...before);
    }
  });
}

Deno.test("check --online reports which of an issuer's keys are ignored", async () => {
  provider.keys.push({ ...createSigner("EdDSA", "3").jwk, use: "enc" });
  try {
    const { lines } = await said(signed);
    assert.deepEqual(lines, ["ok method OAUTH: signs with 2 keys (left out: not for signatures)"]);
  } finally {
    provider.keys.pop();
  }
});

for (const status of [404, 500]) {
  Deno.test(`check --online detects an issuer that answers ${status}`, async () => {
    provider.fault = (_, response) => response.writeHead(status).end();
    try {
      const { status: code, lines } = await said(signed);
      assert.equal(code, 1);
      assert.match(
        lines.join(),
        new RegExp(`^failed method OAUTH: .*status ${status} for the discovery document`),
      );
    } finally {
      provider.fault = undefined;
    }
  });
}
