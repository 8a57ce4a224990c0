/** Tests access tokens that `whoami-test` explains without the name of their user. */
import assert from "node:assert/strict";
import { whoamiTestCommand } from "../../../src/command/diagnosis/whoami_test_command.ts";
import { startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { createSigner } from "../../identity_provider/token_issuer.ts";
import { createAuthority } from "../../pki/authority.ts";
import { authenticatorProperties } from "../../system/every_method.ts";
import { createSite } from "../../system/running_service.ts";
import { recordedIo } from "../recorded_io.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const tls = authority.issue({ subject: "CN=localhost", names: ["localhost"] });
const [provider, other] = [await startOidcProvider(tls), await startOidcProvider(tls)];
const signer = createSigner("ES256", "one");
provider.keys.push(signer.jwk);
const method = (issuer: string) => ({
  class: "OAuthAuthenticator",
  issuer,
  requiredAudience: "uftp",
  requiredScope: "transfer",
  requiredAcr: "mfa",
  identityTemplate: "CN=%sub%,O=Demo",
});
const site = await createSite({
  authority,
  map: '{ "CN=ann,O=Demo": { "role": "user", "xlogin": "alice" } }',
  properties: {
    "container.security.rest.authentication.order": "ONE OTHER",
    ...authenticatorProperties("ONE", method(provider.issuer)),
    ...authenticatorProperties("OTHER", { ...method(other.issuer), askAlways: "true" }),
  },
});
Deno.test.afterAll(async () => {
  for (const each of [site, provider, other]) await each[Symbol.asyncDispose]();
});

const GOOD = { aud: ["uftp", "x"], scope: "openid transfer", acr: "mfa" };
const sign = (change: Readonly<Record<string, unknown>> = {}) => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: provider.issuer, sub: "ann", exp: now + 300, auth_time: now, ...GOOD, ...change };
  return signer.sign(claims, { typ: "at+jwt" });
};

async function run(args: readonly string[], input = "") {
  const io = recordedIo({ input });
  const status = await whoamiTestCommand.run([...args, "--config", site.main], io);
  return { status, out: io.out.replace(/ +/g, " "), err: io.err };
}

Deno.test("whoami-test takes the user from a token on standard input, and prints each check, name and servers", async () => {
  const { status, out } = await run(["--token", "-"], `${sign()}\n`);
  assert.equal(status, 0, out);
  for (
    const line of [
      `ONE issuer ok: ${provider.issuer}`,
      "ONE token ok: ES256, key one",
      "ONE requiredAudience ok: uftp x",
      "ONE requiredScope ok: openid transfer",
      "ONE requiredAcr ok: mfa",
      "ONE name ok: CN=ann,O=Demo",
      "Caller CN=ann,O=Demo",
      "HPC account alice",
      "Result allowed",
    ]
  ) assert(out.includes(line), `${line}\n${out}`);
  assert.doesNotMatch(out, /OTHER issuer/);
  assert.deepEqual(
    other.server.seen.filter(({ path }) => path !== "/.well-known/openid-configuration" && path !== "/keys"),
    [],
  );
});

const WRONG = [
  [{ aud: "other" }, "requiredAudience NOT MET: other, expected uftp"],
  [{ scope: undefined }, "requiredScope NOT MET: nothing, expected transfer"],
  [{ acr: "pwd" }, "requiredAcr NOT MET: pwd, expected mfa"],
  [{ exp: 1 }, "token NOT MET: ES256, key one: expired"],
  [{ sub: "" }, "token NOT MET: "],
] as const;
for (const [change, line] of WRONG) {
  Deno.test(`whoami-test prints for a token with ${JSON.stringify(change)}: ${line}`, async () => {
    const { status, out } = await run(["--token", sign(change)]);
    assert.equal(status, 1);
    assert(out.includes(line), out);
    assert.match(out, /Result refused/);
  });
}

Deno.test("whoami-test requires a user without --token", async () => {
  const { status, err } = await run([]);
  assert.equal(status, 2);
  assert.match(err, /Expected <user>, or --token/);
});
