/** Headers with claims of a client about itself, where the service expects no gateway. */
import assert from "node:assert/strict";
import { openTls, readAll } from "../edge/tls_client.ts";
import { ALICE, runService, settled } from "../system/running_service.ts";

const system = await runService({ servers: { HPC: [{ maxSessions: 1000 }] } });
Deno.test.afterAll(() => system[Symbol.asyncDispose]());
await settled(system);

const EVIL = "203.0.113.66";
const SPOOFED: readonly Record<string, string>[] = [
  { "X-UNICORE-Consignor-IP": EVIL },
  { "X-UNICORE-Gateway": "https://evil.example/AUTH" },
  { "X-UNICORE-Consignor": 'DN="CN=Alice,O=Demo,C=EU";DSIG=' },
  { "X-UNICORE-SecuritySession": "00000000-0000-0000-0000-000000000000" },
  { "X-Forwarded-For": EVIL },
  { "X-Forwarded-Host": "evil.example" },
  { "X-Forwarded-Proto": "http" },
  { "X-Forwarded-Prefix": "/evil.example" },
  { Forwarded: `for=${EVIL};host=evil.example;proto=http` },
  { "X-Real-IP": EVIL },
  { "True-Client-IP": EVIL },
  { "X-Original-URL": "/rest/admin" },
  { "X-Rewrite-URL": "/rest/admin" },
  { "X-HTTP-Method-Override": "DELETE" },
  { "SSL-Client-Cert": "-----BEGIN CERTIFICATE-----" },
  { "X-SSL-Client-S-DN": "CN=Alice,O=Demo,C=EU" },
];

/** Returns an answer without the parts that differ between any two requests. */
function canonical(text: string): string {
  return text.replace(/"currentTime": "[^"]*"/g, "");
}

for (const headers of SPOOFED) {
  const what = Object.keys(headers).join();
  Deno.test(`${what} of a client that is no gateway changes neither answers nor links nor requests to daemons`, async () => {
    for (const as of [ALICE, undefined]) {
      const question = { ...(as && { as }) };
      const [plain, spoofed] = await Promise.all([
        system.ask("/rest/auth", question),
        system.ask("/rest/auth", { ...question, headers }),
      ]);
      assert.equal(spoofed.status, 200);
      assert.equal(canonical(spoofed.text), canonical(plain.text));
      assert(!JSON.stringify(spoofed.headers).includes("evil"));
    }
    const before = system.daemon().requests.length;
    const session = await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" }, headers });
    assert.equal(session.status, 200);
    const announced = system.daemon().requests.slice(before).map(({ values }) => values?.get("client-ip"));
    assert(announced.length > 0 && !announced.join().includes(EVIL), announced.join());
  });
}

for (const host of ["evil.example", "evil.example:443", "localhost.evil.example", "[::1]:1"]) {
  Deno.test(`no answer contains the Host ${host}`, async () => {
    for (const target of ["/rest/auth", "/", "/login", "/nothing", "/rest/auth/"]) {
      const socket = await openTls(system.port);
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
      );
      const reply = await readAll(socket);
      assert.match(reply, /^HTTP\/1\.1 [2-4]\d\d /);
      assert(!reply.includes(host), reply);
    }
  });
}

Deno.test("log lines name the address of the connection, whatever headers say", async () => {
  const reply = await system.ask("/rest/auth", { as: ALICE, headers: { "X-Forwarded-For": EVIL } });
  const line = await system.logged(new RegExp(`request=${reply.headers["x-request-id"]}`));
  assert.match(line, /client=127\.0\.0\.1/);
});
