/** Results of `check --online` for the service's client at a provider of the npm package `oidc-provider`. */
import assert from "node:assert/strict";
import { check } from "../../src/command/diagnosis/check.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "../system/every_method.ts";
import { createSite } from "../system/running_service.ts";
import { installOidcProvider, startOidcScript, writeCertificate } from "./npm_oidc_provider.ts";

const PART = "check --online at npm oidc-provider";
const SCRIPT = "oidc_sign_in.mjs";
const BASE = "https://auth.example.org:9000/DEMO";

const folder = await installOidcProvider(PART, SCRIPT);
if (folder !== undefined) {
  Deno.test(`${PART}: each mistake of the client has its own line and remedy`, async () => {
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    await writeCertificate(folder, authority);
    const { said: { issuer = "" }, stop } = await startOidcScript(folder, SCRIPT, [`${BASE}/login/ONE/done`]);
    const tried = async (name: string, values: Readonly<Record<string, string>>) => {
      await using site = await createSite({
        authority,
        properties: {
          "container.externalurl": BASE,
          "container.security.rest.authentication.order": name,
          ...authenticatorProperties(name, {
            class: "OAuthAuthenticator",
            issuer,
            signIn: "true",
            clientID: "uftp-auth",
            clientSecret: "a-secret-of-uftp-auth-4711",
            clientAuthentication: "client_secret_basic",
            requiredAudience: "urn:uftp",
            ...values,
          }),
        },
      });
      const io = recordedIo();
      await check.run(["--online", "--config", site.main], io);
      return io.out;
    };
    try {
      assert.match(await tried("ONE", {}), /takes the client and its redirect address; not tried: a user's/);
      assert.match(await tried("TWO", {}), /fix: register https:\S+\/login\/TWO\/done as redirect address/);
      assert.match(await tried("ONE", { clientSecret: "wrong-4711" }), /fix: compare clientSecret/);
      assert.match(
        await tried("ONE", { clientID: "nobody" }),
        /fix: see whether client nobody is registered/,
      );
      assert.match(await tried("ONE", { issuer: `${issuer}/realms/x` }), /fix: compare issuer with iss/);
    } finally {
      await stop();
    }
  });
}
