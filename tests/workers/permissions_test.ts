import assert from "node:assert/strict";
import { corePermissions, edgePermissions, nameServers } from "../../src/workers/permissions.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { createSite } from "../system/running_service.ts";

for (
  const [address, expected] of [
    ["192.0.2.1", "192.0.2.1:9000"],
    ["::1", "[::1]:9000"],
    ["0.0.0.0", "0.0.0.0:9000"],
  ] as const
) {
  Deno.test(`the edge may only listen on ${expected}`, () => {
    const { net, ...others } = edgePermissions([{ address: address, port: 9000 }]);
    assert.deepEqual(net, [expected]);
    assert.deepEqual([...new Set(Object.values(others))], [false]);
  });
}

const METHOD = "container.security.rest.authentication";
const PROXY = {
  "container.client.http.proxyHost": "proxy.example.org",
  "container.client.http.proxyPort": "3128",
};

/** Addresses of providers, more settings, and the hosts that the core may reach besides its daemon. */
const PROVIDERS: readonly (readonly [address: string, more: Readonly<Record<string, string>>, string])[] = [
  ["https://idp.example.org/userinfo", {}, "idp.example.org:443"],
  ["https://idp.example.org:8443/userinfo", {}, "idp.example.org:8443"],
  ["https://[2001:db8::1]/userinfo", {}, "[2001:db8::1]:443"],
  ["http://127.0.0.1/userinfo", {}, "127.0.0.1:80"],
  ["http://127.0.0.1:8080/userinfo", {}, "127.0.0.1:8080"],
  ["https://idp.example.org/userinfo", PROXY, "proxy.example.org:3128"],
  [
    "https://idp.example.org/userinfo",
    { ...PROXY, "container.client.http.nonProxyHosts": "*.example.org" },
    "idp.example.org:443",
  ],
  ["http://127.0.0.1/userinfo", PROXY, "127.0.0.1:80"],
];
for (const [address, more, expected] of PROVIDERS) {
  Deno.test(`the core may reach ${expected} for ${address}${"container.client.http.proxyHost" in more ? ", with a proxy" : ""}`, async () => {
    await using site = await createSite({
      properties: {
        [`${METHOD}.order`]: "OAUTH",
        [`${METHOD}.OAUTH.class`]: "OAuthAuthenticator",
        [`${METHOD}.OAUTH.address`]: address,
        [`${METHOD}.OAUTH.identityAssign`]: "email",
        ...more,
      },
    });
    const { snapshot, diagnostics } = await loadSnapshot(site.main, { environment: () => undefined });
    assert(snapshot !== undefined, JSON.stringify(diagnostics));
    const asked: string[] = [];
    const { net, write, run, env } = await corePermissions(snapshot.config, (host) => {
      asked.push(host);
      return Promise.resolve(["192.0.2.99", "2001:db8::99"]);
    });
    const port = expected.slice(expected.lastIndexOf(":") + 1);
    const daemon = `127.0.0.1:${site.daemon().commandPort}`;
    const found = (net || []).filter((endpoint) => !endpoint.endsWith(`:${site.daemon().commandPort}`));
    assert(net !== false && net.includes(daemon));
    assert.deepEqual(found.sort(), [expected, `192.0.2.99:${port}`, `[2001:db8::99]:${port}`].sort());
    assert.equal(asked.length, 2);
    assert.deepEqual([write, run, env], [false, false, false]);
  });
}

Deno.test("the core may not read files with secrets", async () => {
  await using site = await createSite({
    properties: { "container.security.rest.jwt.hmacSecretFile": "{folder}/conf/secret" },
    files: { "conf/secret": `${"s".repeat(40)}\n` },
  });
  const { snapshot } = await loadSnapshot(site.main, { environment: () => undefined });
  assert(snapshot !== undefined);
  const secret = `${site.main.slice(0, site.main.lastIndexOf("/"))}/secret`;
  assert(snapshot.config.sources.all.includes(secret));
  const { read } = await corePermissions(snapshot.config, () => Promise.resolve([]));
  assert(Array.isArray(read) && read.length > 1, JSON.stringify(read));
  assert(!read.some((path) => secret.startsWith(path)), JSON.stringify(read));
});

async function read(text: string): Promise<readonly string[]> {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, text);
    return await nameServers(file);
  } finally {
    await Deno.remove(file);
  }
}

Deno.test("nameServers() reads only addresses in the forms of resolv.conf(5)", async () => {
  const text = [
    "# nameserver 192.0.2.1",
    "; nameserver 192.0.2.2",
    "search example.org",
    "nameserver 192.0.2.3",
    "nameserver\t2001:DB8::1 # of the campus",
    "nameserver fe80::1%eth0",
    "nameserver dns.example.org",
    "nameservers 192.0.2.4",
    "options ndots:2",
  ].join("\n");
  assert.deepEqual(await read(text), ["192.0.2.3", "2001:db8::1"]);
  assert.deepEqual(await read(""), []);
});

Deno.test("nameServers() returns no servers on a machine without the file", async () => {
  assert.deepEqual(await nameServers("/nonexistent/resolv.conf"), []);
});
