/** SSH certificates that people upload by page, and browsers that have no way to sign in. */
import assert from "node:assert/strict";
import { certificateLine } from "../authentication/ssh_key/certificate/certificates.ts";
import { ALICE, runReloadedService } from "./running_service.ts";
import { authenticatorProperties } from "./every_method.ts";
import { formToken, Visitor } from "./visitor.ts";

const service = await runReloadedService({
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY",
    "persistence.directory": "{folder}/data",
    ...authenticatorProperties("SSHKEY", {
      class: "SSHKeyAuthenticator",
      certificateAuthorities: "{folder}/conf/ssh_ca.pub",
    }),
  },
  files: { "conf/ssh_ca.pub": `${certificateLine("ca_ed25519")}\n` },
});
Deno.test.afterAll(() => service[Symbol.asyncDispose]());

Deno.test("users can upload an SSH certificate by page, only from our own page", async () => {
  const system = await service.reloadWith({});
  const alice = new Visitor(system);
  assert.equal((await alice.signIn(ALICE)).status, 303);
  const page = await alice.get("/tokens");
  assert.match(page.text, /Register an SSH certificate/);
  const fields = { token: formToken(page), line: ` ${certificateLine("for_ever")}\r\n` };
  const shown = await alice.post("/certificate", fields);
  assert.equal(shown.status, 200, shown.text);
  assert.match(shown.text, /The certificate is registered[^]*For <bdi>ann/);
  const cross = { headers: { "Sec-Fetch-Site": "cross-site" } };
  assert.equal((await alice.post("/certificate", fields, cross)).status, 403);
  assert.equal((await alice.post("/certificate", { ...fields, token: "x" })).status, 403);
  const wrong = await alice.post("/certificate", { ...fields, line: certificateLine("for_host") });
  assert.equal(wrong.status, 403);
  assert.match(wrong.text, /not one for a user/);
  assert.equal((await new Visitor(system).post("/certificate", fields)).status, 303, "to the sign-in page");
});

Deno.test("without an authenticator for browsers, neither the sign-in page nor pages that need it exist", async () => {
  const system = await service.reloadWith({ "container.security.rest.authentication.order": "SSHKEY" });
  const one = new Visitor(system);
  const home = await one.get("/");
  assert.equal(home.status, 200);
  assert.doesNotMatch(home.text.replace(/<script>[^]*<\/script>/, ""), /login|Sign in/);
  for (const path of ["/login", "/tokens", "/admin", "/shares"]) {
    assert.equal((await one.get(path)).status, 404, path);
  }
  assert.equal((await one.post("/login", { token: "x", user: "a", password: "b" })).status, 404);
});

Deno.test("users can sign in below a path prefix, behind a proxy", async () => {
  const front = "https://front.example.org/auth";
  const system = await service.reloadWith({ "container.externalurl": front });
  const one = new Visitor(system);
  const page = await one.get("/login");
  assert.match(page.text, /action="https:\/\/front\.example\.org\/auth\/login"/);
  const [user, password] = ALICE;
  const fields = { token: formToken(page), user, password };
  for (const origin of ["https://front.example.org:444", "http://front.example.org", "null"]) {
    const headers = { "Content-Type": "application/x-www-form-urlencoded", Origin: origin };
    const body = new URLSearchParams(fields).toString();
    assert.equal((await one.get("/login", { method: "POST", headers, body })).status, 403, origin);
  }
  const signedIn = await one.post("/login", fields);
  assert.deepEqual([signedIn.status, signedIn.headers.location], [303, `${front}/`]);
  assert.deepEqual([...one.cookies.keys()], ["__Host-authserver-sign-in.auth"]);
  assert.match((await one.get("/")).text, /Signed in as <strong><bdi>alice/);
});
