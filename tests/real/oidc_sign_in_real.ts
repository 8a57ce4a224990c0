/** A person in Chromium signs in at two providers of the npm package `oidc-provider`, each in a Node.js process. */
import assert from "node:assert/strict";
import { Chromium, findChromium } from "../browser/chromium.ts";
import { createAuthority } from "../pki/authority.ts";
import { methodProperties } from "../system/every_method.ts";
import { runService } from "../system/running_service.ts";
import { hasProgram, lacking, run } from "./lacking.ts";

const PART = "sign-in at npm oidc-provider";
const VERSION = "9.13.3";
const VIEW = { width: 800, scheme: "light" } as const;

/** A folder with the package and a certificate of the authority; it goes when the tests have ended. */
async function installed(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-sign-in-" });
  Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));
  const options = ["--no-audit", "--no-fund", "--no-save", "--prefix", folder];
  await run("npm", ["install", ...options, `oidc-provider@${VERSION}`], { cwd: folder });
  await Deno.copyFile(new URL("oidc_sign_in.mjs", import.meta.url), `${folder}/provider.mjs`);
  return folder;
}

async function startProvider(folder: string, redirectUri: string) {
  const process = new Deno.Command("node", {
    args: [`${folder}/provider.mjs`, folder, redirectUri],
    cwd: folder,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  while (!printed.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the provider ended: ${printed}`);
    printed += value;
  }
  const { issuer } = JSON.parse(printed);
  return {
    issuer: String(issuer),
    async [Symbol.asyncDispose]() {
      process.kill("SIGKILL");
      await reader.cancel();
      await process.status;
    },
  };
}

/** A port that is free now: the redirect URI has to be known before the service runs. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

const browserPath = await findChromium();
if (browserPath === undefined || !await hasProgram("npm")) {
  lacking(PART, "install chromium and Node.js with npm");
} else {
  Deno.test(`${PART}: two of them are two buttons, and a person comes back from each`, async () => {
    const folder = await installed();
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    const own = authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] });
    await Deno.writeTextFile(`${folder}/cert.pem`, own.certificate);
    await Deno.writeTextFile(`${folder}/key.pem`, own.key);
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
      maxAuthAge: "600", // of which the access token says nothing, but the ID token does
      uidAssign: "sub",
    });
    await using _system = await runService({
      authority,
      properties: {
        "container.port": String(port),
        "container.security.rest.authentication.order": "ONE TWO",
        ...methodProperties("ONE", method(one.issuer, "Institute")),
        ...methodProperties("TWO", method(two.issuer, "Laboratory")),
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
