// Provider of the npm package `oidc-provider` over HTTPS with sign-in of users, for oidc_sign_in_real.ts.
// Arguments: a folder with cert.pem and key.pem, and the redirect URI of the one client. The script prints
// its issuer and serves until a signal ends it.
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

// A variable hides the package from type checks here: it is installed beside a copy of this file.
const packageName = "oidc-provider";
const { Provider } = await import(packageName);

const [folder, redirectUri] = process.argv.slice(2);
const server = createServer({
  cert: readFileSync(`${folder}/cert.pem`),
  key: readFileSync(`${folder}/key.pem`),
});
server.listen(0, "127.0.0.1", () => {
  const issuer = `https://localhost:${server.address().port}`;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "k1", alg: "ES256", use: "sig" }] },
    cookies: { keys: ["a key of a test"] },
    clients: [{
      client_id: "uftp-auth",
      client_secret: "a-secret-of-uftp-auth-4711",
      token_endpoint_auth_method: "client_secret_basic",
      redirect_uris: [redirectUri],
      id_token_signed_response_alg: "ES256",
    }],
    features: {
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "urn:uftp",
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "",
          audience: "urn:uftp",
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "ES256" } },
        }),
      },
    },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  });
  server.on("request", provider.callback());
  console.log(JSON.stringify({ issuer }));
});
