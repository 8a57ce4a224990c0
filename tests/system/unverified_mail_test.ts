/** Tokens of people whose e-mail address the issuer did not verify, over HTTPS. */
import assert from "node:assert/strict";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createSigner } from "../identity_provider/token_issuer.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "./every_method.ts";
import { runService } from "./running_service.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const provider = await startOidcProvider(authority.issue({ subject: "CN=idp", names: ["localhost"] }));
const signer = createSigner("EdDSA", "1");
provider.keys.push(signer.jwk);
Deno.test.afterAll(async () => await provider[Symbol.asyncDispose]());

const MAIL = "boss@example.org";
const BY_MAIL = { roleAssign: `email == "${MAIL}" ? "admin" : "user"` };

/** Returns the status and the role for a token with these claims. */
async function login(settings: Readonly<Record<string, string>>, claims: object) {
  const oauth = {
    class: "OAuthAuthenticator",
    issuer: provider.issuer,
    requiredAudience: "uftp",
    uidAssign: "preferred_username",
    ...settings,
  };
  await using system = await runService({
    authority,
    properties: {
      "container.security.rest.authentication.order": "OAUTH",
      ...authenticatorProperties("OAUTH", oauth),
    },
  });
  const exp = Math.floor(Date.now() / 1000) + 300;
  const token = { iss: provider.issuer, sub: "eve", aud: "uftp", exp, preferred_username: "eve", ...claims };
  const Authorization = `Bearer ${signer.sign(token, { typ: "at+jwt" })}`;
  const { status, json } = await system.ask("/rest/auth", { headers: { Authorization } });
  return status === 200 ? json().client : status;
}

Deno.test("an e-mail address that the issuer did not verify gives neither role nor account nor groups", async () => {
  const all: readonly Readonly<Record<string, string>>[] = [
    BY_MAIL,
    { uidAssign: `email == "${MAIL}" ? "boss" : "guest"` },
    { groupsAssign: "[email]" },
  ];
  for (const settings of all) {
    for (const claims of [{ email: MAIL, email_verified: false }, { email: MAIL }]) {
      assert.equal(await login(settings, claims), 401, JSON.stringify([settings, claims]));
    }
  }
  const verified: unknown = await login(BY_MAIL, { email: MAIL, email_verified: true });
  assert.match(JSON.stringify(verified), /"selected":"admin"/);
});

Deno.test("an expression that looks at email_verified, and emailVerified=false, permit unverified addresses", async () => {
  const checked = { roleAssign: `email_verified == "true" && email == "${MAIL}" ? "admin" : "user"` };
  const unverified = { email: MAIL, email_verified: false };
  assert.match(JSON.stringify(await login(checked, unverified)), /"selected":"user"/);
  const trusted = { ...BY_MAIL, emailVerified: "false" };
  assert.match(JSON.stringify(await login(trusted, unverified)), /"selected":"admin"/);
});
