// Issuer of the npm package `oidc-provider` over HTTPS, for issuer_real.ts. Arguments: a folder with
// cert.pem, key.pem and jwks.json (private keys), and a port, 0 for any. Clients get tokens with their own
// credentials: signed tokens for the resource urn:uftp, opaque tokens for urn:uftp:opaque. The script prints
// its issuer and serves until a signal ends it.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

// A variable hides the package from type checks here: it is installed beside a copy of this file.
const packageName = "oidc-provider";
const { Provider } = await import(packageName);

const [folder, port] = process.argv.slice(2);
const server = createServer({
  cert: readFileSync(`${folder}/cert.pem`),
  key: readFileSync(`${folder}/key.pem`),
});
server.listen(Number(port), "127.0.0.1", () => {
  const issuer = `https://localhost:${server.address().port}`;
  const jwks = JSON.parse(readFileSync(`${folder}/jwks.json`, "utf8"));
  const [{ alg }] = jwks.keys;
  const provider = new Provider(issuer, {
    jwks,
    clients: ["portal", "stranger", "uftp-auth"].map((id) => ({
      client_id: id,
      client_secret: `a-secret-of-${id}-4711`,
      token_endpoint_auth_method: "client_secret_post",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
      id_token_signed_response_alg: alg,
    })),
    scopes: ["transfer"],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "urn:uftp",
        getResourceServerInfo: (_, resource) => ({
          scope: "transfer",
          // Both kinds of tokens have the same audience.
          audience: resource.replace(":opaque", ""),
          accessTokenTTL: 300,
          accessTokenFormat: resource === "urn:uftp:opaque" ? "opaque" : "jwt",
          jwt: { sign: { alg } },
        }),
      },
    },
    extraTokenClaims: (_, token) => ({
      preferred_username: token.clientId,
      groups: ["/hpc/projA", "/staff"],
    }),
  });
  server.on("request", provider.callback());
  console.log(JSON.stringify({ issuer }));
});
