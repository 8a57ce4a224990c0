/** Tokens whose scopes permit only some paths, over HTTPS: requests to daemons, and refusals. */
import assert from "node:assert/strict";
import { whoamiTestCommand } from "../../src/command/diagnosis/whoami_test_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createSigner } from "../identity_provider/token_issuer.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "./every_method.ts";
import { runService } from "./running_service.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const provider = await startOidcProvider(authority.issue({ subject: "CN=idp", names: ["localhost"] }));
const signer = createSigner("EdDSA", "1");
provider.keys.push(signer.jwk);
const system = await runService({
  authority,
  properties: {
    "container.security.rest.authentication.order": "OAUTH",
    ...authenticatorProperties("OAUTH", {
      issuer: provider.issuer,
      requiredAudience: "https://wlcg.cern.ch/jwt/v1/any",
      identityTemplate: "CN=%sub%,O=Demo",
      uidAssign: '"ann"',
      capabilities: "true",
      capabilitiesBase: "/srv/vo",
    }),
    "share.servers": "HPC",
    "persistence.directory": "{folder}/data",
  },
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const headers = (scope: string) => ({
  Authorization: `Bearer ${
    signer.sign({
      iss: provider.issuer,
      sub: "ann",
      aud: "https://wlcg.cern.ch/jwt/v1/any",
      "wlcg.ver": "1.0",
      exp: Math.floor(Date.now() / 1000) + 300,
      scope,
    })
  }`,
});
const open = (scope: string, serverPath: string) =>
  system.ask("/rest/auth/HPC", { headers: headers(scope), body: { serverPath } });
const ordered = () => {
  const values = system.daemon().sessionRequests.at(-1);
  return ["file", "access-permissions", "includes", "excludes"].map((key) => values?.get(key));
};

const READ = "storage.read:/data";
const BOTH = `${READ} storage.modify:/data/run7`;

Deno.test("a session has the directory and the permission of the token", async () => {
  assert.equal((await open(READ, "/srv/vo/data/")).status, 200);
  assert.deepEqual(ordered(), ["/srv/vo/data/", "READ", "/srv/vo/data/*", undefined]);
  assert.equal((await open(BOTH, "/srv/vo/data/run7")).status, 200);
  assert.deepEqual(ordered(), ["/srv/vo/data/run7/", "FULL", "/srv/vo/data/run7/*", undefined]);
  assert.equal((await open(BOTH, "/srv/vo/data/run8")).status, 200);
  assert.deepEqual(ordered(), ["/srv/vo/data/run8/", "READ", "/srv/vo/data/run8/*", undefined]);
});

Deno.test("whoami-test shows how a token's scopes limit its user", async () => {
  const said = async (scope: string) => {
    const io = recordedIo();
    const [, token = ""] = headers(scope).Authorization.split(" ");
    await whoamiTestCommand.run(["ann", "--token", token, "--config", system.main], io);
    return io.out;
  };
  assert.match(
    await said(BOTH),
    /limited by the token's scopes to reading \/srv\/vo\/data\/, all of \/srv\/vo\/data\/run7\//,
  );
  assert.match(await said("openid"), /limited by the token's scopes to nothing: no session is opened/);
});

for (
  const [what, scope, path] of [
    ["another directory", READ, "/srv/vo/other/"],
    ["a directory with the same prefix", READ, "/srv/vo/data2/"],
    ["the home directory", READ, ""],
    ["the root", READ, "/"],
    ["the same path without base", READ, "/data/"],
    ["a path that leaves the directory", READ, "/srv/vo/data/../../../etc/"],
    ["a directory where the token may only create files", "storage.create:/data", "/srv/vo/data/"],
    ["a directory that the token may write but not read", "storage.modify:/data", "/srv/vo/data/"],
    ["a token without storage scopes", "openid", "/srv/vo/data/"],
  ] as const
) {
  Deno.test(`no session is opened for ${what}`, async () => {
    const before = system.daemon().sessionRequests.length;
    const reply = await open(scope, path);
    assert.equal(reply.status, 403, reply.text);
    assert.equal(reply.json().code, "ERR_OUTSIDE_CAPABILITIES");
    assert.equal(system.daemon().sessionRequests.length, before);
  });
}

Deno.test("the list of servers shows the remaining permissions", async () => {
  const { client } = (await system.ask("/rest/auth", { headers: headers(BOTH) })).json();
  assert.ok(typeof client === "object" && client !== null && "capabilities" in client);
  assert.deepEqual(client.capabilities, [
    { path: "/srv/vo/data/", access: "read" },
    { path: "/srv/vo/data/run7/", access: "all" },
  ]);
});

Deno.test("a limited token cannot be exchanged, and can neither create nor list shares", async () => {
  for (
    const [path, question] of [
      ["/rest/auth/token", {}],
      ["/rest/share/HPC", {}],
      ["/rest/share/HPC", { body: { path: "/srv/vo/data/x", access: "READ" } }],
      ["/rest/access/HPC", { body: { serverPath: "/srv/vo/data/" } }],
    ] as const
  ) {
    const reply = await system.ask(path, {
      ...question,
      headers: { ...headers(BOTH), Accept: "application/json, */*" },
    });
    assert.deepEqual([reply.status, reply.json().code], [403, "ERR_LOGIN_TOO_NARROW"], path);
  }
});
