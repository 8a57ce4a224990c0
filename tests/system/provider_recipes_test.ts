/**
 * Recipes of the manual for providers that cannot run here: their exact lines, with what these providers put
 * into tokens and answers, from the token to a session. Keycloak and npm oidc-provider run in tests/real/.
 */
import assert from "node:assert/strict";
import { recipeOf } from "../docs/recipe.ts";
import { CLIENT, type OidcProvider, startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createSigner } from "../identity_provider/token_issuer.ts";
import { basicHeader, startUnityProvider } from "../identity_provider/unity_provider.ts";
import { createAuthority } from "../pki/authority.ts";
import { runReloadedService, type SystemUnderTest } from "./running_service.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const tls = authority.issue({ subject: "CN=idp", names: ["localhost"] });
const signer = createSigner("RS256", "rsa1");
/** Certificate and key with which Unity signs. */
const sealer = authority.issue({ subject: "CN=unity", keyType: "rsa-2048" });
const service = await runReloadedService({
  authority,
  files: { "conf/idp-signing.pem": sealer.certificate },
});
Deno.test.afterAll(async () => await service[Symbol.asyncDispose]());
const seconds = () => Math.floor(Date.now() / 1000);

interface Trial {
  /** Section of the manual page. */
  readonly heading: string;
  /** Issuer in that section; the simulated issuer has the same path. */
  readonly issuer: string;
  /** Header members of the token besides algorithm and key. */
  readonly head?: Readonly<Record<string, unknown>>;
  /** Claims of the token besides issuer and times. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Answer of the userinfo endpoint. */
  readonly userinfo?: Readonly<Record<string, unknown>>;
  /** Claims that the service must refuse. */
  readonly refused: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Value of `uidAssign` that the page says to add. */
  readonly account?: string;
  readonly serverPath?: string;
  /** Expected values of the request to the daemon. */
  readonly ordered: Readonly<Record<string, string>>;
  readonly name: (issuer: string) => string;
}

const WLCG = "https://uftp.example.org";
const TRIALS: readonly Trial[] = [
  {
    heading: "INDIGO IAM and WLCG",
    issuer: "https://iam.example.org/",
    claims: {
      sub: "80e5fb8d-b7c8-451a-89ba-346ae278a66f",
      client_id: "oidc-agent",
      aud: [WLCG],
      scope: "wlcg.groups storage.read:/projA",
      "wlcg.ver": "1.0",
      "wlcg.groups": ["/hpc", "/hpc/projA", "/bio"],
    },
    refused: {
      "for everybody": { aud: ["https://wlcg.cern.ch/jwt/v1/any"] },
      "for another storage": { aud: ["https://storage.example.org"] },
    },
    account: '"vo001"',
    serverPath: "/srv/vo/projA/",
    ordered: { user: "vo001", group: "proja", "access-permissions": "READ" },
    name: (issuer) => `CN=80e5fb8d-b7c8-451a-89ba-346ae278a66f,O=${issuer}`,
  },
  {
    heading: "EGI Check-in",
    issuer: "https://aai.egi.eu/auth/realms/egi",
    head: { typ: "JWT" },
    claims: { sub: "f00d@egi.eu", typ: "Bearer", azp: "uftp-portal", scope: "openid entitlements" },
    userinfo: {
      sub: "f00d@egi.eu",
      entitlements: [
        "urn:mace:egi.eu:group:vo.example.org:role=member#aai.egi.eu",
        "urn:mace:egi.eu:group:other.example.org:role=member#aai.egi.eu",
      ],
    },
    refused: { "of another client": { azp: "other" }, "of another user": { sub: "cafe@egi.eu" } },
    account: '"vo001"',
    ordered: { user: "vo001", group: "vogroup" },
    name: (issuer) => `CN=f00d@egi.eu,O=${issuer}`,
  },
  {
    heading: "Unity",
    issuer: "https://unity.example.org:2443/oauth2",
    head: { typ: "at+jwt" },
    claims: { sub: "9b7c", aud: "portal", client_id: "portal", scope: "profile", auth_time: seconds() },
    userinfo: { sub: "9b7c", email: "ann@example.org", preferred_username: "ann" },
    refused: { "of another client": { client_id: "other", aud: "other" } },
    ordered: { user: "ann" },
    name: () => "UID=ann@example.org",
  },
];

for (const trial of TRIALS) {
  Deno.test(`the recipe for ${trial.heading} leads from a token to a session`, async () => {
    await using provider = await startOidcProvider(tls);
    provider.keys.push(signer.jwk);
    // Some issuers end with a slash, some with a path.
    const issuer = `${provider.issuer}${new URL(trial.issuer).pathname}`;
    provider.metadata = { issuer };
    provider.metadataPath = `${new URL(issuer).pathname.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const { settings: [properties = {}] } = await recipeOf(trial.heading, { [trial.issuer]: issuer });
    const uidAssign = "container.security.rest.authentication.OAUTH.uidAssign";
    const system = await service.reloadWith({
      ...properties,
      // No public authority issued the certificate of this test's issuer.
      "container.client.publicRoots": "false",
      ...(trial.account !== undefined && { [uidAssign]: trial.account }),
    });
    await checkTrial(trial, { system, provider, issuer });
  });
}

/** Returns a value of the latest session request to the daemon. */
function ordered(system: SystemUnderTest, key: string): string | undefined {
  return system.daemon().sessionRequests.at(-1)?.get(key);
}

async function checkTrial(
  trial: Trial,
  { system, provider, issuer }: {
    readonly system: SystemUnderTest;
    readonly provider: OidcProvider;
    readonly issuer: string;
  },
): Promise<void> {
  const made = (change: Readonly<Record<string, unknown>> = {}) => {
    const times = { iat: seconds(), exp: seconds() + 300, jti: crypto.randomUUID() };
    const token = signer.sign({ iss: issuer, ...times, ...trial.claims, ...change }, trial.head);
    if (trial.userinfo !== undefined) provider.tokens.set(token, trial.userinfo);
    return { Authorization: `Bearer ${token}` };
  };
  const headers = made();
  const who = await system.ask("/rest/auth", { headers });
  assert.equal(who.status, 200, system.log.join("\n"));
  assert.match(who.text, new RegExp(`"dn": ?"${RegExp.escape(trial.name(issuer))}"`));
  const { serverPath = "" } = trial;
  const session = await system.ask("/rest/auth/HPC", { headers, body: { serverPath } });
  assert.equal(session.status, 200, `${session.text}\n${system.log.join("\n")}`);
  for (const [key, value] of Object.entries(trial.ordered)) assert.equal(ordered(system, key), value, key);
  for (const [what, change] of Object.entries(trial.refused)) {
    assert.equal((await system.ask("/rest/auth", { headers: made(change) })).status, 401, what);
  }
}

Deno.test("the recipe for Unity leads from a password to a session", async () => {
  const url = "https://auth.example.org:9000";
  await using unity = await startUnityProvider({ tls, signer: sealer, url, now: Date.now });
  unity.known.add(basicHeader("ann", "sesame"));
  unity.lie = { attributes: { uid: ["ann"] } };
  const { settings: [, properties = {}] } = await recipeOf("Unity", {
    "https://unity.example.org:2443/saml-idp/saml2idp-soap/AuthenticationService": unity.address,
    "=conf/idp-signing.pem": "={folder}/conf/idp-signing.pem",
  });
  const system = await service.reloadWith({ ...properties, "container.externalurl": url });
  const headers = { Authorization: basicHeader("ann", "sesame") };
  const session = await system.ask("/rest/auth/HPC", { headers, body: { serverPath: "" } });
  assert.equal(session.status, 200, `${session.text}\n${system.log.join("\n")}`);
  assert.equal(ordered(system, "user"), "ann");
  const wrong = { Authorization: basicHeader("ann", "other") };
  assert.equal((await system.ask("/rest/auth", { headers: wrong })).status, 401);
});

/** Answer of the endpoints about a user, in the recipes without an issuer. */
const MEMBERS = { sub: "9b7c", email: "ann@example.org", preferred_username: "ann" };

async function byAddress(which: number, provider: OidcProvider): Promise<SystemUnderTest> {
  const { settings } = await recipeOf("Endpoint without issuer", {
    "https://idp.example.org/oauth2/userinfo": provider.userinfo,
    "https://idp.example.org/oauth2/introspect": provider.introspection,
    "uftp-auth": CLIENT.clientId,
    "${AUTH_CLIENT_SECRET}": CLIENT.clientSecret,
  }, "authentication.md");
  return await service.reloadWith(settings[which] ?? {});
}

Deno.test("the recipe for a userinfo endpoint leads from a signed token to a session, and the log says why an opaque one is refused", async () => {
  await using provider = await startOidcProvider(tls);
  const system = await byAddress(0, provider);
  const made = (aud: string) => {
    const token = signer.sign({ iss: provider.issuer, sub: "9b7c", aud, exp: seconds() + 300 });
    provider.tokens.set(token, MEMBERS);
    return token;
  };
  provider.tokens.set("opaque-1", MEMBERS);
  const status = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await system.ask("/rest/auth/HPC", { headers, body: { serverPath: "" } })).status;
  };
  assert.equal(await status(made("uftp")), 200, system.log.join("\n"));
  assert.deepEqual([ordered(system, "user"), ordered(system, "group")], ["ann", "hpc"]);
  assert.equal(await status(made("another")), 401);
  assert.equal(await status("opaque-1"), 401);
  await system.logged(/credentials refused.*the token is no signed JWT, and opaqueTokens is false/);
});

Deno.test("the recipe for an introspection endpoint leads from an opaque token to a session", async () => {
  await using provider = await startOidcProvider(tls);
  const system = await byAddress(1, provider);
  provider.tokens.set("opaque-1", { ...MEMBERS, aud: "uftp" });
  provider.tokens.set("opaque-2", { ...MEMBERS, aud: "another" });
  const status = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await system.ask("/rest/auth/HPC", { headers, body: { serverPath: "" } })).status;
  };
  assert.equal(await status("opaque-1"), 200, system.log.join("\n"));
  assert.equal(ordered(system, "user"), "ann");
  assert.deepEqual([await status("opaque-2"), await status("opaque-3")], [401, 401]);
});
