// Provider of the npm package `oidc-provider` over HTTPS, for oidc_provider_real.ts: with two clients and
// tokens of one user. Argument: a folder with cert.pem and key.pem. The script prints one line of JSON and
// serves until a signal ends it.
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import process from "node:process";

// A variable hides the package from type checks here: it is installed beside a copy of this file.
const packageName = "oidc-provider";
const { Provider } = await import(packageName);

const [folder] = process.argv.slice(2);
const [cert, key] = ["cert", "key"].map((name) => readFileSync(`${folder}/${name}.pem`));
const signer = generateKeyPairSync("ec", { namedCurve: "P-256" });
const server = createServer({ cert, key });
server.listen(0, "127.0.0.1", async () => {
  const { port } = server.address();
  const issuer = `https://localhost:${port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: "uftp-auth",
      client_secret: "a-secret-of-the-client-4711",
      redirect_uris: ["https://localhost/never"],
    }, {
      client_id: "uftp-signs",
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_signing_alg: "ES256",
      jwks: { keys: [{ ...signer.publicKey.export({ format: "jwk" }), kid: "k1", use: "sig" }] },
      redirect_uris: ["https://localhost/never"],
    }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["preferred_username"] },
    features: { introspection: { enabled: true }, devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.org`, email_verified: true, preferred_username: sub }),
    }),
  });
  server.on("request", provider.callback());
  const client = await provider.Client.find("uftp-auth");
  const token = async (scope) => {
    const grant = new provider.Grant({ accountId: "alice", clientId: client.clientId });
    grant.addOIDCScope(scope);
    const made = new provider.AccessToken({
      accountId: "alice",
      client,
      grantId: await grant.save(),
      gty: "authorization_code",
      scope,
      claims: {},
    });
    return { made, text: await made.save() };
  };
  const good = await token("openid email profile");
  const revoked = await token("openid email profile");
  await revoked.made.destroy();
  const clientKey = signer.privateKey.export({ type: "pkcs8", format: "pem" });
  console.log(JSON.stringify({ issuer, token: good.text, revoked: revoked.text, clientKey }));
});
