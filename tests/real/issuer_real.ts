/** Tokens of the npm package `oidc-provider` in Node.js, verified by issuer: signed, opaque and bound. */
import assert from "node:assert/strict";
import { exportJWK, generateKeyPair } from "jose";
import { recipeOf } from "../docs/recipe.ts";
import { createDpopClient } from "../identity_provider/dpop_client.ts";
import { type Authority, createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "../system/every_method.ts";
import { runService, type SystemUnderTest } from "../system/running_service.ts";
import { send } from "./https_form.ts";
import { installOidcProvider, startOidcScript, writeCertificate } from "./npm_oidc_provider.ts";

const PART = "npm oidc-provider as issuer";
const SCRIPT = "oidc_issuer.mjs";

const folder = await installOidcProvider(PART, SCRIPT);
if (folder !== undefined) {
  for (const alg of ["RS256", "ES256", "EdDSA"] as const) {
    Deno.test(`${PART}: tokens signed by ${alg}, opaque and bound ones, revocation, other keys, an outage`, async () => {
      const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
      await writeKeys(folder, authority, alg, "first");
      let provider = await startProvider(folder, 0);
      const { issuer, port } = provider;
      const system = await runService({ authority, properties: await properties(issuer) });
      try {
        const { ask, token } = parties(system, authority, issuer);
        await signedTokens(system, ask, token);
        await boundTokens(system, ask, token, issuer);
        await opaqueTokens(ask, token, authority, issuer);

        const before = await token("portal", "urn:uftp");
        await provider.stop();
        assert.equal(
          (await ask(before)).status,
          200,
          "while the issuer is away, a token that was never seen",
        );
        await writeKeys(folder, authority, alg, "second");
        provider = await startProvider(folder, port);
        const after = await token("portal", "urn:uftp");
        // The service fetches keys at most once in 30 seconds.
        let status = 0;
        for (let i = 0; i < 40 && status !== 200; i++) {
          ({ status } = await ask(after));
          if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 1000));
        }
        assert.equal(status, 200, "signed by the new key");
      } finally {
        await provider.stop();
        await system[Symbol.asyncDispose]();
      }
    });
  }
}

type Ask = (token: string, more?: Readonly<Record<string, string>>, scheme?: string) => Promise<
  { readonly status: number; readonly client: Readonly<Record<string, unknown>> | undefined }
>;
type Token = (
  client: string,
  resource: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<string>;

/** Returns the properties of the manual's recipe for any provider, and further ones for this test. */
async function properties(issuer: string): Promise<Record<string, string>> {
  const { settings: [recipe = {}] } = await recipeOf("Any OIDC provider", {
    "https://idp.example.org": issuer,
    "${AUTH_CLIENT_SECRET}": "a-secret-of-uftp-auth-4711",
  });
  return {
    ...recipe,
    ...authenticatorProperties("OAUTH", {
      cacheSeconds: "0",
      identityTemplate: "CN=%client_id%,O=%iss%",
      uidAssign: "client_id",
      requiredClient: "portal",
      groupsClaim: "groups",
      "groupsMap./hpc/projA": "proja",
    }),
  };
}

function parties(system: SystemUnderTest, authority: Authority, issuer: string): { ask: Ask; token: Token } {
  return {
    async ask(token, more = {}, scheme = "Bearer") {
      const { status, text } = await system.ask("/rest/auth", {
        headers: { Authorization: `${scheme} ${token}`, ...more },
      });
      return { status, client: status === 200 ? JSON.parse(text).client : undefined };
    },
    async token(client, resource, headers = {}) {
      const { access_token } = await send(`${issuer}/token`, authority.certificate, {
        form: {
          grant_type: "client_credentials",
          client_id: client,
          client_secret: `a-secret-of-${client}-4711`,
          scope: "transfer",
          resource,
        },
      }, headers);
      assert.ok(typeof access_token === "string", "a token");
      return access_token;
    },
  };
}

async function signedTokens(system: SystemUnderTest, ask: Ask, token: Token): Promise<void> {
  const signed = await token("portal", "urn:uftp");
  assert.equal(signed.split(".").length, 3);
  const { status, client } = await ask(signed);
  assert.equal(status, 200);
  assert.match(String(client?.dn), /^CN=portal,O=https:\/\/localhost:\d+$/);
  const session = await system.ask("/rest/auth/HPC", {
    headers: { Authorization: `Bearer ${signed}` },
    body: { serverPath: "" },
  });
  assert.equal(session.status, 200, session.text);
  const values = system.daemon().sessionRequests.at(-1);
  assert.deepEqual([values?.get("user"), values?.get("group")], ["portal", "proja"]);
  assert.equal((await ask(await token("stranger", "urn:uftp"))).status, 401, "another client's");
  assert.equal((await ask(await token("portal", "urn:other"))).status, 401, "for another audience");
  assert.equal((await ask(`${signed.slice(0, -4)}AAAA`)).status, 401, "with another signature");
}

async function boundTokens(system: SystemUnderTest, ask: Ask, token: Token, issuer: string): Promise<void> {
  const [holder, thief] = [await createDpopClient(), await createDpopClient()];
  const url = `https://localhost:${system.port}/rest/auth`;
  const forToken = holder.prove({ token: "", method: "POST", url: `${issuer}/token` }, {
    claims: { ath: undefined },
  });
  const bound = await token("portal", "urn:uftp", { DPoP: forToken });
  const proof = (client: typeof holder) => ({ DPoP: client.prove({ token: bound, method: "GET", url }) });
  const once = proof(holder);
  assert.equal((await ask(bound, once, "DPoP")).status, 200, "with proof");
  assert.equal((await ask(bound, once, "DPoP")).status, 401, "with the same proof again");
  assert.equal((await ask(bound)).status, 401, "a bound token as bearer token");
  assert.equal((await ask(bound, proof(thief), "DPoP")).status, 401, "by a thief");
}

async function opaqueTokens(ask: Ask, token: Token, authority: Authority, issuer: string): Promise<void> {
  const opaque = await token("portal", "urn:uftp:opaque");
  assert.equal(opaque.includes("."), false);
  assert.equal((await ask(opaque)).status, 200);
  await send(`${issuer}/token/revocation`, authority.certificate, {
    form: {
      client_id: "portal",
      client_secret: "a-secret-of-portal-4711",
      token: opaque,
    },
  });
  assert.equal((await ask(opaque)).status, 401, "revoked");
  assert.equal((await ask("made-up")).status, 401, "made up");
}

/** Writes the issuer's certificate for TLS, and a key for signatures. */
async function writeKeys(
  folder: string,
  authority: Authority,
  alg: "RS256" | "ES256" | "EdDSA",
  kid: string,
): Promise<void> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...await exportJWK(privateKey), kid, alg, use: "sig" };
  await writeCertificate(folder, authority);
  await Deno.writeTextFile(`${folder}/jwks.json`, JSON.stringify({ keys: [jwk] }));
}

/** @param port 0 for any free port. */
async function startProvider(folder: string, port: number) {
  const { said, stop } = await startOidcScript(folder, SCRIPT, [String(port)]);
  const { issuer = "" } = said;
  return { issuer, port: Number(new URL(issuer).port), stop };
}
