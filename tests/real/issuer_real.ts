/** Tokens of the npm package `oidc-provider` in a Node.js process, verified by issuer: signed, opaque, bound; keys that change. */
import assert from "node:assert/strict";
import { exportJWK, generateKeyPair } from "jose";
import { createDpopClient } from "../identity_provider/dpop_client.ts";
import { type Authority, createAuthority } from "../pki/authority.ts";
import { methodProperties } from "../system/every_method.ts";
import { runService, type SystemUnderTest } from "../system/running_service.ts";
import { send } from "./https_form.ts";
import { hasProgram, lacking, run } from "./lacking.ts";

const PART = "npm oidc-provider as issuer";
const VERSION = "9.13.3";

const folder = await installed();
if (folder !== undefined) {
  for (const alg of ["RS256", "ES256", "EdDSA"] as const) {
    Deno.test(`${PART}: tokens signed by ${alg}, opaque and bound ones, revocation, other keys, an outage`, async () => {
      const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
      await writeKeys(folder, authority, alg, "first");
      let provider = await startProvider(folder, 0);
      const { issuer, port } = provider;
      const system = await runService({ authority, properties: properties(issuer) });
      try {
        const { ask, token } = parties(system, authority, issuer);
        await signedTokens(system, ask, token);
        await boundTokens(system, ask, token, issuer);
        await opaqueTokens(ask, token, authority, issuer);

        const before = await token("portal", "urn:uftp:jwt");
        await provider.stop();
        assert.equal(
          (await ask(before)).status,
          200,
          "while the issuer is away, a token that was never seen",
        );
        await writeKeys(folder, authority, alg, "second");
        provider = await startProvider(folder, port);
        const after = await token("portal", "urn:uftp:jwt");
        // Keys are fetched at most once in 30 seconds.
        let status = 0;
        for (let i = 0; i < 40 && status !== 200; i++) {
          ({ status } = await ask(after));
          if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 1000));
        }
        assert.equal(status, 200, "signed by the new key");
      } finally {
        await provider.stop();
        await system[Symbol.asyncDispose]();
      }
    });
  }
}

type Ask = (token: string, more?: Readonly<Record<string, string>>, scheme?: string) => Promise<
  { readonly status: number; readonly client: Readonly<Record<string, unknown>> | undefined }
>;
type Token = (
  client: string,
  resource: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<string>;

/** Two methods of one issuer: signed tokens are verified here, opaque ones asked about. */
function properties(issuer: string): Record<string, string> {
  return {
    "container.security.rest.authentication.order": "OAUTH",
    ...methodProperties("OAUTH", {
      issuer,
      requiredAudience: "urn:uftp:jwt urn:uftp:opaque",
      requiredClient: "portal",
      requiredScope: "transfer",
      opaqueTokens: "true",
      validate: "true",
      clientID: "uftp-auth",
      clientSecret: "a-secret-of-uftp-auth-4711",
      cacheSeconds: "0",
      identityTemplate: "CN=%client_id%,O=%iss%",
      uidAssign: "client_id",
      groupsClaim: "groups",
      "groupsMap./hpc/projA": "proja",
    }),
  };
}

function parties(system: SystemUnderTest, authority: Authority, issuer: string): { ask: Ask; token: Token } {
  return {
    async ask(token, more = {}, scheme = "Bearer") {
      const { status, text } = await system.ask("/rest/auth", {
        headers: { Authorization: `${scheme} ${token}`, ...more },
      });
      return { status, client: status === 200 ? JSON.parse(text).client : undefined };
    },
    async token(client, resource, headers = {}) {
      const { access_token } = await send(`${issuer}/token`, authority.certificate, {
        form: {
          grant_type: "client_credentials",
          client_id: client,
          client_secret: `a-secret-of-${client}-4711`,
          scope: "transfer",
          resource,
        },
      }, headers);
      assert.ok(typeof access_token === "string", "a token");
      return access_token;
    },
  };
}

async function signedTokens(system: SystemUnderTest, ask: Ask, token: Token): Promise<void> {
  const signed = await token("portal", "urn:uftp:jwt");
  assert.equal(signed.split(".").length, 3);
  const { status, client } = await ask(signed);
  assert.equal(status, 200);
  assert.match(String(client?.dn), /^CN=portal,O=https:\/\/localhost:\d+$/);
  const session = await system.ask("/rest/auth/HPC", {
    headers: { Authorization: `Bearer ${signed}` },
    body: { serverPath: "" },
  });
  assert.equal(session.status, 200, session.text);
  const { values } = system.daemon().requests.at(-1) ?? {};
  assert.deepEqual([values?.get("user"), values?.get("group")], ["portal", "proja"]);
  assert.equal((await ask(await token("stranger", "urn:uftp:jwt"))).status, 401, "another client's");
  assert.equal((await ask(await token("portal", "urn:other"))).status, 401, "for another audience");
  assert.equal((await ask(`${signed.slice(0, -4)}AAAA`)).status, 401, "with another signature");
}

async function boundTokens(system: SystemUnderTest, ask: Ask, token: Token, issuer: string): Promise<void> {
  const [holder, thief] = [await createDpopClient(), await createDpopClient()];
  const url = `https://localhost:${system.port}/rest/auth`;
  const forToken = holder.prove({ token: "", method: "POST", url: `${issuer}/token` }, {
    claims: { ath: undefined },
  });
  const bound = await token("portal", "urn:uftp:jwt", { DPoP: forToken });
  const proof = (client: typeof holder) => ({ DPoP: client.prove({ token: bound, method: "GET", url }) });
  const once = proof(holder);
  assert.equal((await ask(bound, once, "DPoP")).status, 200, "with proof");
  assert.equal((await ask(bound, once, "DPoP")).status, 401, "with the same proof again");
  assert.equal((await ask(bound)).status, 401, "a bound token as bearer token");
  assert.equal((await ask(bound, proof(thief), "DPoP")).status, 401, "by a thief");
}

async function opaqueTokens(ask: Ask, token: Token, authority: Authority, issuer: string): Promise<void> {
  const opaque = await token("portal", "urn:uftp:opaque");
  assert.equal(opaque.includes("."), false);
  assert.equal((await ask(opaque)).status, 200);
  await send(`${issuer}/token/revocation`, authority.certificate, {
    form: {
      client_id: "portal",
      client_secret: "a-secret-of-portal-4711",
      token: opaque,
    },
  });
  assert.equal((await ask(opaque)).status, 401, "revoked");
  assert.equal((await ask("made-up")).status, 401, "made up");
}

/** A folder with the package; it goes when the tests have ended. */
async function installed(): Promise<string | undefined> {
  if (!await hasProgram("npm")) return lackingPart("install Node.js with npm");
  const folder = await Deno.makeTempDir({ prefix: "authserver-issuer-" });
  Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));
  try {
    const options = ["--no-audit", "--no-fund", "--no-save", "--prefix", folder];
    await run("npm", ["install", ...options, `oidc-provider@${VERSION}`], { cwd: folder });
  } catch (error) {
    return lackingPart(`npm does not install it (${String(error).split("\n")[0]})`);
  }
  await Deno.copyFile(new URL("oidc_issuer.mjs", import.meta.url), `${folder}/issuer.mjs`);
  return folder;
}

function lackingPart(what: string): undefined {
  lacking(PART, what);
}

/** What the issuer shows on connections, and a key to sign by. */
async function writeKeys(
  folder: string,
  authority: Authority,
  alg: "RS256" | "ES256" | "EdDSA",
  kid: string,
): Promise<void> {
  const own = authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] });
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...await exportJWK(privateKey), kid, alg, use: "sig" };
  await Deno.writeTextFile(`${folder}/cert.pem`, own.certificate);
  await Deno.writeTextFile(`${folder}/key.pem`, own.key);
  await Deno.writeTextFile(`${folder}/jwks.json`, JSON.stringify({ keys: [jwk] }));
}

/** @param port 0 for any. */
async function startProvider(folder: string, port: number) {
  const process = new Deno.Command("node", {
    args: [`${folder}/issuer.mjs`, folder, String(port)],
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
    port: Number(new URL(issuer).port),
    async stop() {
      try {
        process.kill("SIGKILL");
      } catch {
        return; // it has ended
      }
      await reader.cancel();
      await process.status;
    },
  };
}
