/** Service as a client without a secret: it signs each exchange of a code (`private_key_jwt`). */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { CODE_CLIENT, startCodeProvider } from "../identity_provider/code_provider.ts";
import { createSigner, type SigningAlgorithm } from "../identity_provider/token_issuer.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "./every_method.ts";
import { runService } from "./running_service.ts";
import { Visitor } from "./visitor.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const tls = authority.issue({ subject: "CN=idp", names: ["localhost"] });
const KEY_ID = "key-of-portal";

/** One method for each algorithm, and one whose provider knows another key of the client. */
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
    "container.security.rest.authentication.order": [...Object.keys(METHODS), "PASSWORD"].join(" "),
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
  await Promise.all(ways.map(({ provider }) => provider[Symbol.asyncDispose]()));
});

/** Sends a browser to a provider, signs in there, and returns to the service. */
async function signIn(name: string, { provider }: (typeof ways)[number]) {
  const browser = new Visitor(system);
  const { headers: { location = "" } } = await browser.get(`/login/${name}`);
  return { browser, reply: await browser.get(provider.signIn(location, "ann")) };
}

for (const way of ways.filter(({ name }) => name !== "OTHER")) {
  const { name, alg, provider } = way;
  Deno.test(`the service exchanges a code by a signature (${alg}) that the provider accepts, without a secret`, async () => {
    for (let round = 0; round < 2; round++) {
      const { browser, reply } = await signIn(name, way);
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
  const { browser, reply } = await signIn("OTHER", way);
  assert.deepEqual(way.provider.faults, ["signature"]);
  assert.notEqual(reply.status, 303);
  assert.match(reply.text, /role="alert"/);
  assert.doesNotMatch((await browser.get("/")).text, /Signed in as/);
});
