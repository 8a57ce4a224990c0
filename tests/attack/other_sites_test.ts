/**
 * Requests that a page of another site makes a browser send, with the browser's credentials for this site.
 */
import assert from "node:assert/strict";
import { ask } from "../system/ask.ts";
import { ALICE, runService } from "../system/running_service.ts";

const SHARING = { "share.servers": "HPC", "persistence.directory": "{folder}/data" };
const system = await runService({ properties: SHARING });
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

/**
 * Types that forms, and scripts without preflight, can send (Fetch standard, 2.2.2), and types close to JSON.
 */
const TYPES = [
  "text/plain",
  "text/plain; charset=UTF-8; application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=application/json",
  "application/json, text/plain",
  "",
];
const body = '{"serverPath":"","path":"/","user":"CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN"}';
const Origin = "https://evil.example";

for (const type of TYPES) {
  Deno.test(`a body of type "${type}" opens no session and makes no share`, async () => {
    for (const path of ["/rest/auth/HPC", "/rest/share/HPC", "/rest/access/HPC"]) {
      const before = system.daemon().requests.length;
      const headers = { "Content-Type": type, Origin };
      const reply = await system.ask(path, { method: "POST", as: ALICE, headers, body });
      assert.equal(reply.status, 415, path);
      const heard = system.daemon().requests.slice(before).some(({ values }) => values?.has("secret"));
      assert(!heard, path);
    }
  });
}

for (const method of ["PUT", "DELETE", "POST"]) {
  Deno.test(`a script of another site gets no permission for ${method}, and reads nothing`, async () => {
    const headers = { Origin, "Access-Control-Request-Method": method };
    const asked = await system.ask("/rest/share/HPC", { method: "OPTIONS", headers });
    const read = await system.ask("/rest/auth", { as: ALICE, headers: { Origin } });
    for (const name of Object.keys({ ...asked.headers, ...read.headers })) {
      assert(!name.startsWith("access-control-"), name);
    }
  });
}

Deno.test("if other sites are allowed, the service does not permit browsers to send credentials", async () => {
  await using open = await runService({ properties: { "container.httpServer.enableCORS": "true" } });
  for (const method of ["GET", "OPTIONS"]) {
    const headers = { Origin, "Access-Control-Request-Method": "GET" };
    const reply = await open.ask("/rest/auth", { method, headers });
    assert.equal(reply.headers["access-control-allow-origin"], "*");
    assert.equal(reply.headers["access-control-allow-credentials"], undefined);
  }
});

Deno.test("pages of other sites use up no device logins of the address of their visitors", async () => {
  const begin = (headers: Readonly<Record<string, string>>) =>
    ask(`https://localhost:${system.port}/oauth/device`, system.authority.certificate, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
      body: "client_id=tool",
    });
  for (const site of ["cross-site", "same-site"]) {
    for (let i = 0; i < 25; i++) assert.equal((await begin({ "Sec-Fetch-Site": site, Origin })).status, 403);
  }
  const { status, text } = await begin({});
  assert.equal(status, 200, text);
});

Deno.test("another site gets no token through the certificate or password that a browser adds", async () => {
  const issue = async (headers: Readonly<Record<string, string>>) =>
    (await system.ask("/rest/auth/token", { as: ALICE, headers: { Accept: "text/plain", ...headers } }))
      .status;
  for (const site of ["cross-site", "same-site"]) {
    assert.equal(await issue({ "Sec-Fetch-Site": site }), 403, site);
    assert.equal(await issue({ "Sec-Fetch-Site": site, Origin }), 200, "a script that was asked for");
    const byCertificate = { "Sec-Fetch-Site": site, Origin };
    assert.equal((await system.ask("/rest/auth/token", { headers: byCertificate })).status, 403, site);
  }
  for (const site of ["same-origin", "none"]) {
    assert.equal(await issue({ "Sec-Fetch-Site": site }), 200, site);
  }
  assert.equal(await issue({}), 200, "a program");
});
