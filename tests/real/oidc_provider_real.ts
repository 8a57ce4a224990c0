/** Userinfo and introspection of the npm package `oidc-provider` in Node.js, by the recipes of the manual. */
import assert from "node:assert/strict";
import { createAuthority } from "../pki/authority.ts";
import { runService } from "../system/running_service.ts";
import { installOidcProvider, startOidcScript, writeCertificate } from "./npm_oidc_provider.ts";

const PART = "npm oidc-provider";
const SCRIPT = "oidc_provider.mjs";
const DN = "UID=alice@example.org";
const PREFIX = "container.security.rest.authentication.OAUTH";

const folder = await installOidcProvider(PART, SCRIPT);
if (folder !== undefined) {
  Deno.test(`${PART} identifies the bearer of a token at its userinfo endpoint`, async () => {
    await using provider = await startProvider(folder);
    await knows(provider, { address: `${provider.issuer}/me` });
  });

  Deno.test(`${PART} identifies the bearer of a token at its introspection endpoint`, async () => {
    await using provider = await startProvider(folder);
    await knows(provider, {
      address: `${provider.issuer}/token/introspection`,
      validate: "true",
      clientID: "uftp-auth",
      clientSecret: "a-secret-of-the-client-4711",
      identityAssign: '"UID=" + sub + "@example.org"',
      requiredClient: "uftp-auth",
    });
  });

  Deno.test(`${PART} authenticates a client by its secret in the header, and by its signature`, async () => {
    await using provider = await startProvider(folder);
    const common = {
      address: `${provider.issuer}/token/introspection`,
      validate: "true",
      identityAssign: '"UID=" + sub + "@example.org"',
      requiredClient: "uftp-auth",
    };
    await knows(provider, {
      ...common,
      clientID: "uftp-auth",
      clientSecret: "a-secret-of-the-client-4711",
      clientAuthentication: "client_secret_basic",
    });
    await Deno.writeTextFile(`${folder}/client-key.pem`, provider.clientKey);
    await knows(provider, {
      ...common,
      clientID: "uftp-signs",
      clientAuthentication: "private_key_jwt",
      clientKey: `${folder}/client-key.pem`,
      clientKeyId: "k1",
    });
  });
}

/** Starts a provider, and returns its tokens. */
async function startProvider(folder: string) {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  await writeCertificate(folder, authority);
  const { said, stop } = await startOidcScript(folder, SCRIPT, []);
  const { issuer = "", token = "", revoked = "", clientKey = "" } = said;
  return { authority, issuer, token, revoked, clientKey, [Symbol.asyncDispose]: stop };
}

/** Asserts that the service knows the user of the provider's token, and refuses other tokens. */
async function knows(
  { authority, token, revoked }: Awaited<ReturnType<typeof startProvider>>,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const own = { identityAssign: '"UID=" + email', uidAssign: '"alice"', ...settings };
  await using system = await runService({
    authority,
    map: JSON.stringify({ [DN]: { role: "user", xlogin: "alice" } }),
    properties: {
      "container.security.rest.authentication.order": "OAUTH",
      ...Object.fromEntries(Object.entries(own).map(([key, value]) => [`${PREFIX}.${key}`, value])),
    },
  });
  const client = async (bearer: string) => {
    const reply = await system.ask("/rest/auth", { headers: { Authorization: `Bearer ${bearer}` } });
    return [reply.status, reply.status === 200 ? JSON.parse(reply.text).client : undefined];
  };
  const [status, { dn, authenticationMethod, xlogin }] = await client(token);
  assert.deepEqual([status, dn, authenticationMethod, xlogin.UID], [200, DN, "OAUTH", "alice"]);
  for (const other of [revoked, `${token}x`, "nonsense"]) {
    assert.deepEqual(await client(other), [401, undefined], other);
  }
}
