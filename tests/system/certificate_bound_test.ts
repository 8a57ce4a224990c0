/** Tokens bound to self-signed certificates (RFC 8705), and the log's reasons for refused tokens. */
import assert from "node:assert/strict";
import { hash, X509Certificate } from "node:crypto";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createSigner } from "../identity_provider/token_issuer.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "./every_method.ts";
import { runService } from "./running_service.ts";

/** Creates a self-signed certificate with the command of the manual. */
async function selfSigned(name: string) {
  const folder = await Deno.makeTempDir();
  const args = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-days",
    "9",
  ];
  const own = ["-subj", `/CN=${name}`, "-addext", "basicConstraints=critical,CA:FALSE"];
  const files = ["-keyout", `${folder}/key.pem`, "-out", `${folder}/cert.pem`];
  const { success } = await new Deno.Command("openssl", { args: [...args, ...own, ...files], stderr: "null" })
    .output();
  assert(success);
  const [certificate, key] = await Promise.all(
    ["cert", "key"].map((file) => Deno.readTextFile(`${folder}/${file}.pem`)),
  );
  await Deno.remove(folder, { recursive: true });
  return { certificate: certificate ?? "", key: key ?? "" };
}

const [listed, unlisted] = [await selfSigned("laptop"), await selfSigned("stranger")];
const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const provider = await startOidcProvider(authority.issue({ subject: "CN=idp", names: ["localhost"] }));
const signer = createSigner("ES256", "one");
provider.keys.push(signer.jwk);
const system = await runService({
  authority,
  map: JSON.stringify({ [`CN=ann,O=${provider.issuer}`]: { role: "user", xlogin: "alice" } }),
  files: { "conf/clients.pem": listed.certificate },
  properties: {
    "container.security.rest.authentication.order": "ONE",
    "container.security.clientTruststore.type": "directory",
    "container.security.clientTruststore.directoryLocations.1": "{folder}/conf/clients.pem",
    ...authenticatorProperties("ONE", {
      class: "OAuthAuthenticator",
      issuer: provider.issuer,
      requiredAudience: "uftp",
      certificateBound: "true",
    }),
  },
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

function tokenFor({ certificate }: { readonly certificate: string }): string {
  const cnf = { "x5t#S256": hash("sha256", new X509Certificate(certificate).raw, "base64url") };
  const claims = {
    iss: provider.issuer,
    sub: "ann",
    aud: "uftp",
    exp: Math.floor(Date.now() / 1000) + 300,
    cnf,
  };
  return signer.sign(claims, { typ: "at+jwt" });
}
const show = (token: string, certificate?: typeof listed) =>
  system.ask("/rest/auth", {
    headers: { Authorization: `Bearer ${token}` },
    ...(certificate && { certificate }),
  });

Deno.test("a self-signed certificate in the client truststore proves possession of its token (RFC 8705, 2.2)", async () => {
  assert.equal((await show(tokenFor(listed), listed)).status, 200);
  assert.equal((await show(tokenFor(listed))).status, 401);
  assert.equal((await show(tokenFor(listed), unlisted)).status, 401);
});

Deno.test("the log has the reason for refusing a certificate-bound token in one line", async () => {
  const before = system.log.length;
  assert.equal((await show(tokenFor(unlisted), unlisted)).status, 401);
  const reason =
    /bound to a certificate, and that of the client does not count: no trusted authority is known to have issued it/;
  assert.match(await system.logged(reason, before), /credentials refused/);
  const next = system.log.length;
  assert.equal((await show(tokenFor(unlisted))).status, 401);
  assert.match(await system.logged(/the client showed none/, next), /credentials refused/);
});
