/** Service behind a gateway (credentials.md 1.9, 9; rest-api.md 1.6). */
import assert from "node:assert/strict";
import { createHash, createPrivateKey, sign } from "node:crypto";
import { createAuthority } from "../pki/authority.ts";
import { ask } from "./ask.ts";
import { userToken } from "./every_method.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { ALICE, ALICE_DN, ROLE_ONLY, runReloadedService, STRANGER } from "./running_service.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const gateway = authority.issue({ subject: "CN=gateway", keyType: "rsa-2048" });
const other = authority.issue({ subject: "CN=gateway", keyType: "rsa-2048" });

/** Service behind a gateway at the address of the tests; the last tests configure it anew. */
const trusted = await runReloadedService({
  authority,
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY X509",
    "container.security.gateway.enable": "true",
    "container.security.gateway.trustedPeers": "127.0.0.0/8 ::1",
    "container.security.gateway.certificate": "{folder}/conf/gateway.pem",
  },
  files: { "conf/gateway.pem": gateway.certificate },
  servers: {
    HPC: [{
      users: {
        alice: { uid: 1000, home: "/home/alice", groups: ["hpc"] },
        near: {
          uid: 1001,
          home: "/home/near",
          groups: ["hpc"],
          keyFiles: { ".ssh/authorized_keys": `from="192.0.2.7" ${publicLine("user_ed25519")}\n` },
        },
      },
    }],
  },
});
Deno.test.afterAll(() => trusted[Symbol.asyncDispose]());

/** Returns the header that a gateway creates. */
function consignor(dn: string, key: string): Record<string, string> {
  const digest = createHash("sha1").update(dn, "utf8").digest();
  const signature = sign("sha1", digest, createPrivateKey(key)).toString("base64");
  return { "X-UNICORE-Consignor": `DN="${dn}";DSIG=${signature}` };
}

const clientOf = (reply: { readonly text: string }) => JSON.parse(reply.text).client;

Deno.test("the service accepts a user whom the gateway vouches for", async () => {
  const reply = await trusted.ask("/rest/auth", { headers: consignor(ALICE_DN, gateway.key) });
  const { dn, authenticationMethod, xlogin } = clientOf(reply);
  assert.deepEqual([dn, authenticationMethod, xlogin.UID], [ALICE_DN, "X509", "alice"]);
});

for (
  const [what, headers, outcome] of [
    ["signed by another key", consignor(ALICE_DN, other.key), [401, undefined]],
    ["signed for another name", {
      "X-UNICORE-Consignor": consignor("CN=Bob", gateway.key)["X-UNICORE-Consignor"]?.replace("Bob", "Al") ??
        "",
    }, [401, undefined]],
    ["without signature", { "X-UNICORE-Consignor": `DN="${ALICE_DN}"` }, [401, undefined]],
    ["with an empty signature", { "X-UNICORE-Consignor": `DN="${ALICE_DN}";DSIG=` }, [401, undefined]],
    ["for the server itself", consignor("CN=AUTH,O=Demo,C=EU", gateway.key), [401, undefined]],
  ] as const
) {
  Deno.test(`a consignor ${what} identifies nobody`, async () => {
    const reply = await trusted.ask("/rest/auth", { headers });
    assert.deepEqual([reply.status, reply.status === 200 ? clientOf(reply).dn : undefined], outcome);
  });
}

Deno.test("the log says which setting of the gateway is missing", async () => {
  const lines = trusted.log.length;
  await trusted.ask("/rest/auth", { headers: { "X-UNICORE-Consignor": `DN="${ALICE_DN}"` } });
  await trusted.logged(/gateway\.signConsignorToken=true/, lines);
});

Deno.test("the status page links to the gateway at each of its addresses", async () => {
  const headers = { Accept: "text/html", "X-UNICORE-Gateway": "https://gateway.example.org:8080/SITE" };
  for (const path of ["/", "/rest/auth", "/rest/auth/"]) {
    const { text } = await trusted.ask(path, { headers });
    assert.match(text, /<a href="https:\/\/gateway\.example\.org:8080\/SITE\/login">/);
  }
  const direct = await trusted.ask("/rest/auth", { headers: { Accept: "text/html" } });
  assert.match(direct.text, /<a href="\.\.\/login">/);
});

Deno.test("key restrictions and the daemon see the address of the gateway's client", async () => {
  const headers = {
    "X-UNICORE-Consignor-IP": "192.0.2.7",
    "X-UNICORE-Gateway": "https://gw.example:8080/DEMO",
  };
  const Authorization = `Bearer ${userToken("near", "user_ed25519")}`;
  const known = await trusted.ask("/rest/auth", { headers: { ...headers, Authorization } });
  assert.equal(known.status, 200);
  assert.equal(JSON.parse(known.text).HPC.href, "https://gw.example:8080/DEMO/rest/auth/HPC");
  assert.equal((await trusted.ask("/rest/auth", { headers: { Authorization } })).status, 401);
  const reply = await trusted.ask("/rest/auth/HPC", { as: ALICE, headers, body: { serverPath: "" } });
  assert.equal(reply.status, 200);
  const session = trusted.daemon().sessionRequests.at(-1);
  assert.equal(session?.get("client-ip"), "192.0.2.7,::ffff:192.0.2.7");
});

Deno.test("behind a gateway without TLS users get sessions and https links, but cannot send forms", async () => {
  const headers = {
    "X-UNICORE-Gateway": "http://gw.example:8080/DEMO",
    "X-UNICORE-Consignor-IP": "[2001:db8:0:0:0:0:0:7]",
  };
  const lines = trusted.log.length;
  const known = await trusted.ask("/rest/auth", { as: ALICE, headers });
  assert.equal(known.status, 200);
  assert.match(JSON.parse(known.text).HPC.href, /^https:\/\/localhost:/);
  const session = await trusted.ask("/rest/auth/HPC", { as: ALICE, headers, body: { serverPath: "" } });
  assert.equal(session.status, 200);
  const ordered = trusted.daemon().sessionRequests.at(-1);
  assert.equal(ordered?.get("client-ip"), "2001:db8::7");
  for (const origin of ["http://gw.example:8080", "https://gw.example:8080"]) {
    const form = { ...headers, "Content-Type": "application/x-www-form-urlencoded", Origin: origin };
    const login = `https://localhost:${trusted.port}/login`;
    const sent = await ask(login, authority.certificate, { method: "POST", headers: form, body: "token=x" });
    assert.deepEqual([sent.status, sent.json().code], [403, "ERR_FOREIGN_PAGE"], origin);
  }
  await trusted.logged(/warn .*X-UNICORE-Gateway is not an https:\/\/ address/, lines);
  const warnings = trusted.log.filter((line) => line.includes("X-UNICORE-Gateway is no"));
  assert.equal(warnings.length, 1, warnings.join("\n"));
});

for (
  const [what, headers] of [
    ["two addresses", { "X-UNICORE-Consignor-IP": "192.0.2.7, 10.0.0.1" }],
    ["an invalid address", { "X-UNICORE-Consignor-IP": "[gateway]" }],
  ] as const
) {
  Deno.test(`a gateway that sends ${what} gets 400`, async () => {
    for (const path of ["/rest/auth", "/login"]) {
      const reply = await trusted.ask(path, { headers });
      assert.equal(reply.status, 400, path);
      assert.equal(reply.json().code, "ERR_BAD_FORWARDING");
    }
  });
}

Deno.test("the service ignores a gateway's headers from other senders", async () => {
  const untrusted = await trusted.reloadWith({
    "container.security.gateway.trustedPeers": "192.0.2.1",
  });
  const headers = {
    ...consignor(ALICE_DN, gateway.key),
    "X-UNICORE-Consignor-IP": "192.0.2.7",
    "X-UNICORE-Gateway": "https://evil.example/DEMO",
    "X-Forwarded-For": "192.0.2.7",
  };
  const reply = await untrusted.ask("/rest/auth", { headers });
  assert.equal(reply.status, 200);
  const { client, HPC } = JSON.parse(reply.text);
  assert.equal(client.dn, "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN");
  assert(!HPC.href.includes("evil"));
  const token = `Bearer ${userToken("near", "user_ed25519")}`;
  assert.equal(
    (await untrusted.ask("/rest/auth", { headers: { ...headers, Authorization: token } })).status,
    401,
  );
  await untrusted.ask("/rest/auth/HPC", { as: ALICE, headers, body: { serverPath: "" } });
  const session = untrusted.daemon().sessionRequests.at(-1);
  assert.doesNotMatch(session?.get("client-ip") ?? "", /192\.0\.2\.7/);
});

Deno.test("without a gateway, the status page links to the external address", async () => {
  const named = await trusted.reloadWith({
    "container.security.gateway.enable": "false",
    "container.externalurl": "https://front.example.org/auth",
  });
  const { text } = await named.ask("/", { headers: { Accept: "text/html" } });
  assert.match(text, /<a href="https:\/\/front\.example\.org\/auth\/login">/);
});

for (
  const [order, [name, right]] of [["PASSWORD X509", STRANGER], ["X509 PASSWORD", ROLE_ONLY]] as const
) {
  Deno.test(`a valid certificate exempts no password guess from throttling (${order})`, async () => {
    const system = await trusted.reloadWith({
      "container.security.rest.authentication.order": order,
      "container.security.throttling.maxFailures": "2",
      "container.security.throttling.baseDelay": "30",
    });
    const headers = consignor("CN=Eve,O=Demo,C=EU", gateway.key);
    const statuses: number[] = [];
    for (const password of ["a", "b", "c", "d", right]) {
      statuses.push((await system.ask("/rest/auth", { as: [name, password], headers })).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
    assert.equal((await system.ask("/rest/auth", { headers })).status, 200, "the certificate by itself");
  });
}
