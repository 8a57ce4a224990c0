/** A user in Chromium signs in at two providers of the npm package `oidc-provider` in Node.js. */
import assert from "node:assert/strict";
import { Chromium, findWholeChromium } from "../browser/chromium.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "../system/every_method.ts";
import { runService } from "../system/running_service.ts";
import { lacking } from "./lacking.ts";
import { installOidcProvider, startOidcScript, writeCertificate } from "./npm_oidc_provider.ts";

const PART = "sign-in at npm oidc-provider";
const SCRIPT = "oidc_sign_in.mjs";
const VIEW = { width: 800, scheme: "light" } as const;

async function startProvider(folder: string, redirectUri: string) {
  const { said: { issuer = "" }, stop } = await startOidcScript(folder, SCRIPT, [redirectUri]);
  return { issuer, [Symbol.asyncDispose]: stop };
}

/** Returns a free port: the test must know the redirect URI before the service runs. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

const browserPath = await findWholeChromium();
if (browserPath === undefined) lacking(PART, "install chromium");
const folder = browserPath && await installOidcProvider(PART, SCRIPT);
if (browserPath !== undefined && folder !== undefined) {
  Deno.test(`${PART}: each of two providers has its button, and a user signs in at each`, async () => {
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    await writeCertificate(folder, authority);
    const port = freePort();
    const base = `https://localhost:${port}`;
    await using one = await startProvider(folder, `${base}/login/ONE/done`);
    await using two = await startProvider(folder, `${base}/login/TWO/done`);
    const method = (issuer: string, title: string) => ({
      class: "OAuthAuthenticator",
      issuer,
      signIn: "true",
      signInTitle: title,
      clientID: "uftp-auth",
      clientSecret: "a-secret-of-uftp-auth-4711",
      clientAuthentication: "client_secret_basic",
      requiredAudience: "urn:uftp",
      requiredClient: "uftp-auth",
      maxAuthAge: "600", // only the ID token has the time of the login, not the access token
      uidAssign: "sub",
    });
    await using _system = await runService({
      authority,
      properties: {
        "container.port": String(port),
        "container.security.rest.authentication.order": "ONE TWO",
        ...authenticatorProperties("ONE", method(one.issuer, "Institute")),
        ...authenticatorProperties("TWO", method(two.issuer, "Laboratory")),
      },
    });
    await using browser = await Chromium.start(browserPath, ["--ignore-certificate-errors"]);
    for (
      const [title, issuer, user] of [["Institute", one.issuer, "ann"], ["Laboratory", two.issuer, "bob"]]
    ) {
      const page = await browser.open(`${base}/login`, VIEW);
      await page.follow(`Sign in with ${title}`);
      assert.equal(await page.evaluate("location.origin"), issuer);
      await page.send("Sign-in", { login: String(user), password: "anything" });
      await page.send("Continue");
      const text = String(await page.evaluate("document.body.innerText"));
      assert.equal(await page.evaluate("location.href"), `${base}/`, text);
      assert.match(text, new RegExp(`Signed in as CN=${user},O=${issuer}`));
      assert.equal(await page.evaluate("document.cookie"), "");
    }
  });
}
