/** Credentials of every kind, at a service whose authenticators are in different orders. */
import assert from "node:assert/strict";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createSigner } from "../identity_provider/token_issuer.ts";
import { basicHeader, startUnityProvider } from "../identity_provider/unity_provider.ts";
import { createAuthority } from "../pki/authority.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { authenticatorProperties, userToken } from "./every_method.ts";
import { ALICE, ALICE_DN, runReloadedService } from "./running_service.ts";

const EXTERNAL_URL = "https://auth.demo.example:9000/DEMO";
const ORDER = "container.security.rest.authentication.order";
const METHODS = ["PASSWORD", "SSHKEY", "OAUTH", "UNITY", "X509"];

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const tls = authority.issue({ subject: "CN=idp", names: ["localhost"] });
const signer = authority.issue({ subject: "CN=unity", keyType: "rsa-2048" });
const carl = authority.issue({ subject: "CN=Carl,O=Demo,C=EU" });
const oidc = await startOidcProvider(tls);
const unity = await startUnityProvider({ tls, signer, url: EXTERNAL_URL, now: Date.now });
const [issuerKey, strangerKey] = [createSigner("ES256", "k1"), createSigner("ES256", "k1")];
oidc.keys.push(issuerKey.jwk);
const uma = basicHeader("uma", "right-4711");
unity.known.add(uma);
const system = await runReloadedService({
  authority,
  properties: {
    "container.externalurl": EXTERNAL_URL,
    [ORDER]: METHODS.join(" "),
    ...authenticatorProperties("SSHKEY", { file: "{folder}/conf/keys.txt", useAuthorizedKeys: "false" }),
    ...authenticatorProperties("OAUTH", {
      issuer: oidc.issuer,
      requiredAudience: "uftp",
      identityTemplate: "CN=%sub%,O=oidc",
    }),
    ...authenticatorProperties("UNITY", { address: unity.address }),
    "container.security.trustedAssertionIssuers.type": "directory",
    "container.security.trustedAssertionIssuers.directoryLocations.1": "{folder}/conf/unity.pem",
    "container.httpServer.wantClientAuthn": "true",
    "container.security.throttling.maxFailures": "10000",
  },
  files: {
    "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n`,
    "conf/unity.pem": signer.certificate,
  },
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await Promise.all([oidc[Symbol.asyncDispose](), unity[Symbol.asyncDispose]()]);
});

const seconds = Math.floor(Date.now() / 1000);
const jwt = (key = issuerKey, exp = seconds + 600) =>
  `Bearer ${key.sign({ iss: oidc.issuer, sub: "ann", aud: "uftp", scope: "x", exp })}`;
const UNITY_DN = "CN=Ann Example,O=Site-A,C=DE";

/** Credentials, their user (absent: 401), and the method that accepts them. */
const CREDENTIALS: readonly [what: string, authorization: string, dn?: string, method?: string][] = [
  ["a password", basicHeader(...ALICE), ALICE_DN, "PASSWORD"],
  ["a wrong password", basicHeader("alice", "wrong")],
  ["malformed Basic credentials", "Basic ===="],
  ["a password at Unity", uma, UNITY_DN, "UNITY"],
  ["a wrong password at Unity", basicHeader("uma", "wrong")],
  ["an SSH key", `Bearer ${userToken("alice", "user_ed25519")}`, ALICE_DN, "SSHKEY"],
  ["another SSH key", `Bearer ${userToken("alice", "other_ed25519")}`],
  ["a token", jwt(), "CN=ann,O=oidc", "OAUTH"],
  ["a forged token", jwt(strangerKey)],
  ["an expired token", jwt(issuerKey, seconds - 5)],
  ["a malformed token", "Bearer a.b.c"],
  ["another scheme", "Digest x=1"],
];

for (const [shift, first] of METHODS.entries()) {
  const order = [...METHODS.slice(shift), ...METHODS.slice(0, shift)];
  Deno.test(`the order decides only between two valid credentials: ${first} first`, async () => {
    await system.reloadWith({ [ORDER]: order.join(" ") });
    const nameOf = async (authorization: string | undefined, certificate?: typeof carl) => {
      const headers = { ...(authorization !== undefined && { Authorization: authorization }) };
      const { status, text } = await system.ask("/rest/auth", { headers, certificate });
      return status === 200 ? /"dn": *"([^"]+)"/.exec(text)?.[1] : String(status);
    };
    assert.equal(await nameOf(undefined, carl), "CN=Carl,O=Demo,C=EU");
    for (const [what, authorization, dn = "401", method = ""] of CREDENTIALS) {
      assert.equal(await nameOf(authorization), dn, what);
      const isLater = dn !== "401" && order.indexOf("X509") < order.indexOf(method);
      const expected = isLater ? "CN=Carl,O=Demo,C=EU" : dn;
      assert.equal(await nameOf(authorization, carl), expected, `${what}, with a certificate`);
    }
  });
}
