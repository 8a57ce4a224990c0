/** Tests findings of `check --online` about the service's client at a provider where browsers sign in. */
import assert from "node:assert/strict";
import { check } from "../../../src/command/diagnosis/check.ts";
import { CODE_CLIENT, startCodeProvider } from "../../identity_provider/code_provider.ts";
import { createAuthority } from "../../pki/authority.ts";
import { authenticatorProperties } from "../../system/every_method.ts";
import { createSite } from "../../system/running_service.ts";
import { recordedIo } from "../recorded_io.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const provider = await startCodeProvider(authority.issue({ subject: "CN=localhost", names: ["localhost"] }));
Deno.test.afterAll(async () => await provider[Symbol.asyncDispose]());

const BASE = "https://auth.example.org:9000/DEMO";
const REDIRECT = `${BASE}/login/OAUTH/done`;

/** Returns the line about the provider, and the one with the remedy. */
async function said(values: Readonly<Record<string, string>>) {
  await using site = await createSite({
    authority,
    properties: {
      "container.externalurl": BASE,
      "container.security.rest.authentication.order": "OAUTH",
      ...authenticatorProperties("OAUTH", {
        issuer: provider.issuer,
        requiredAudience: "uftp",
        signIn: "true",
        clientID: CODE_CLIENT.id,
        clientSecret: CODE_CLIENT.secret,
        ...values,
      }),
    },
  });
  const io = recordedIo();
  const status = await check.run(["--online", "--config", site.main], io);
  const lines = io.out.split("\n");
  const at = lines.findIndex((line) => /^(?:ok|failed) +method OAUTH/.test(line));
  const fix = lines[at + 1] ?? "";
  return {
    status,
    found: lines[at] ?? "",
    fix: fix.startsWith("  fix: ") ? fix.slice("  fix: ".length) : "",
  };
}

Deno.test("check --online tries the client's login and its redirect address, and reports what it did not try", async () => {
  provider.redirects = [REDIRECT];
  const { status, found, fix } = await said({});
  assert.equal(status, 0, found);
  assert.match(found, /takes the client and its redirect address; not tried: a user's sign-in$/);
  assert.equal(fix, "");
  assert.deepEqual(provider.server.seen.map(({ path }) => path.split("?")[0]).slice(-2), ["/token", "/auth"]);
});

const MISTAKES = [
  [
    "a wrong secret",
    { clientSecret: "another-4711" },
    [REDIRECT],
    /refuses client portal with status 401, invalid_client$/,
    /^compare clientSecret and clientAuthentication with those of client portal at the provider$/,
  ],
  [
    "an unknown client",
    { clientID: "porta" },
    [REDIRECT],
    /refuses client porta with status 401, invalid_client, and the authorization endpoint too$/,
    /^see whether client porta is registered there, and compare clientID$/,
  ],
  [
    "a redirect address that is not registered",
    {},
    ["https://auth.example.org/login/OAUTH/done"],
    /the authorization endpoint refuses the redirect address with status 400$/,
    /^register https:\/\/auth\.example\.org:9000\/DEMO\/login\/OAUTH\/done as redirect address of client portal$/,
  ],
  [
    "another realm",
    { issuer: `${provider.issuer}/realms/none` },
    [REDIRECT],
    /status 404 for the discovery document https:\/\/localhost:\d+\/.*realms\/none/,
    /^compare issuer with iss .*asked https:\/\/localhost:\d+\/realms\/none\/\.well-known\/openid-configuration/,
  ],
] as const;
for (const [what, values, redirects, found, fix] of MISTAKES) {
  Deno.test(`check --online detects ${what}, and prints the remedy`, async () => {
    provider.redirects = redirects;
    const answer = await said(values);
    assert.equal(answer.status, 1);
    assert.match(answer.found, found);
    assert.match(answer.fix, fix);
  });
}
