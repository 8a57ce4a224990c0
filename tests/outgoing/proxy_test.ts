import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import type { OutgoingConfig, ProxyConfig } from "../../src/config/service_config.ts";
import { HttpsClient } from "../../src/outgoing/https_client.ts";
import type { HttpsTrust } from "../../src/outgoing/open_tls.ts";
import { goesThroughProxy, openTunnel } from "../../src/outgoing/proxy.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { startHttpsServer } from "../identity_provider/https_server.ts";
import { createAuthority } from "../pki/authority.ts";
import { startConnectProxy } from "./connect_proxy.ts";

const authority = createAuthority({ subject: "CN=Test CA,O=Site-A" });
const idp = authority.issue({ subject: "CN=idp", names: ["idp.example"] });
const NEVER = new AbortController().signal;

interface Setting {
  readonly credential?: typeof idp;
  readonly trust?: HttpsTrust;
  readonly proxy?: Partial<ProxyConfig>;
  readonly config?: Partial<OutgoingConfig>;
  /** Returns the proxy's answer in place of a tunnel. */
  readonly answer?: (head: string) => string | undefined;
}

/** Sends requests to `idp.example`, which only the proxy can resolve. */
async function ask(
  { credential = idp, trust = { anchors: [authority.certificate] }, proxy, config, answer }: Setting = {},
) {
  await using server = await startHttpsServer(credential, (_request, response) => response.end("hello"));
  await using through = await startConnectProxy(answer);
  const client = new HttpsClient(
    {
      publicRoots: false,
      showCertificate: false,
      hostnameChecking: "FAIL",
      connectTimeoutMs: 10_000,
      timeoutMs: 20_000,
      maxConnectionsPerHost: 6,
      maxConnections: 20,
      idleTimeoutMs: 30_000,
      proxy: {
        host: "127.0.0.1",
        port: through.port,
        user: undefined,
        password: undefined,
        direct: [],
        ...proxy,
      },
      ...config,
    },
    trust,
    SILENT,
  );
  try {
    const url = `https://idp.example:${server.port}/userinfo`;
    const answers = [];
    for (let i = 0; i < 2; i++) {
      answers.push(
        await client.send({ method: "GET", url, headers: { Authorization: "Bearer s3cret" } }, NEVER),
      );
    }
    return { answers, heads: through.heads, port: server.port };
  } finally {
    client.close();
  }
}

Deno.test("HttpsClient reaches a host through a proxy, which learns only host and port", async () => {
  const { answers, heads, port } = await ask();
  assert.deepEqual(answers.map(({ status, body }) => [status, body]), [[200, "hello"], [200, "hello"]]);
  assert.deepEqual(heads, [`CONNECT idp.example:${port} HTTP/1.1\r\nHost: idp.example:${port}\r\n\r\n`]);
});

Deno.test("HttpsClient logs in to a proxy that requests it", async () => {
  const wanted = `Proxy-Authorization: Basic ${btoa("ann:s:c")}\r\n`;
  const answer = (head: string) => head.includes(wanted) ? undefined : "HTTP/1.1 407 Who?\r\n\r\n";
  const { answers } = await ask({ proxy: { user: "ann", password: "s:c" }, answer });
  assert.equal(answers[0]?.status, 200);
  await assert.rejects(ask({ answer }), caused(/wants a user name and a password \(status 407\)/));
  await assert.rejects(
    ask({ proxy: { user: "ann", password: "no" }, answer }),
    caused(/does not accept our login \(status 407\)/),
  );
});

/** Returns an assertion that a system is unavailable for this reason. */
function caused(why: RegExp) {
  return (error: unknown) => {
    assert(error instanceof RemoteUnavailable);
    assert.match(error.cause instanceof Error ? error.cause.message : "", why);
    assert.equal(error.connected, false);
    return true;
  };
}

const stranger = createAuthority({ subject: "CN=Other" });
const alone = createAuthority({ subject: "CN=idp", ca: false, names: ["idp.example"] });
const unbelieved: readonly (readonly [what: string, Setting, RegExp])[] = [
  [
    "a certificate of an unknown authority",
    { credential: stranger.issue({ subject: "CN=x", names: ["idp.example"] }) },
    /no trusted authority/,
  ],
  [
    "a forged certificate",
    { credential: authority.impostor().issue({ subject: "CN=x", names: ["idp.example"] }) },
    /authority|key/,
  ],
  [
    "a certificate for another host",
    { credential: authority.issue({ subject: "CN=x", names: ["127.0.0.1", "localhost"] }) },
    /for another host/,
  ],
  ["an expired certificate", {
    credential: authority.issue({
      subject: "CN=x",
      names: ["idp.example"],
      notAfter: new Date("2021-01-01"),
    }),
  }, /has expired/],
  ["a certificate trusted only as itself", { trust: { anchors: [idp.certificate] } }, /trusted as itself/],
  ["a certificate trusted only as itself, besides an authority", {
    credential: alone,
    trust: { anchors: [authority.certificate, alone.certificate] },
  }, /no trusted authority|trusted as itself/],
  ["a server that requires a client certificate", {
    trust: { anchors: [authority.certificate], clientCertificate: idp },
  }, /nonProxyHosts/],
];
for (const [what, setting, why] of unbelieved) {
  Deno.test(`HttpsClient refuses ${what} behind a proxy`, async () => {
    await assert.rejects(ask(setting), caused(why));
  });
}

const answers: readonly (readonly [what: string, answer: string, RegExp])[] = [
  [
    "a refusal",
    "HTTP/1.1 403 \u001b[2JForbidden\r\n\r\n",
    /refuses the connection: HTTP\/1\.1 403 \\u001bForbidden|403 \\u001b/,
  ],
  ["nothing", "", /closed the connection/],
  ["half an answer", "HTTP/1.1 200 OK\r\n", /closed the connection/],
  ["text that is not HTTP", "SSH-2.0-x\r\n\r\n", /no HTTP proxy/],
  ["an endless head", `HTTP/1.1 200 OK\r\nX: ${"a".repeat(20_000)}`, /longer than 16384 bytes/],
  ["more than an answer", "HTTP/1.1 200 OK\r\n\r\n\x16\x03\x03", /more than an answer/],
];
for (const [what, answer, why] of answers) {
  Deno.test(`HttpsClient reports that a proxy answers with ${what}`, async () => {
    await assert.rejects(ask({ answer: () => answer }), caused(why));
  });
}

Deno.test("HttpsClient applies the connection timeout to a proxy", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = silent.accept();
  const proxy = { port: silent.addr.port };
  await assert.rejects(ask({ proxy, config: { connectTimeoutMs: 100 } }), RemoteUnavailable);
  const connection = await accepted;
  const rest = new Uint8Array(1000);
  while (await connection.read(rest) !== null); // ends because the client closes its side
  connection.close();
  silent.close();
});

Deno.test("openTunnel() writes an IPv6 address in brackets", async () => {
  await using through = await startConnectProxy(() => "HTTP/1.1 200 OK\r\n\r\n");
  const proxy = { host: "127.0.0.1", port: through.port, user: undefined, password: undefined, direct: [] };
  const connection = await openTunnel({ host: "2001:db8::7", port: 443 }, { proxy, limitMs: 10_000 });
  connection.close();
  assert.deepEqual(through.heads, ["CONNECT [2001:db8::7]:443 HTTP/1.1\r\nHost: [2001:db8::7]:443\r\n\r\n"]);
});

Deno.test("openTunnel() gives up on a proxy that reads nothing", async () => {
  const deaf = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = deaf.accept();
  // More than the buffers of both ends hold.
  const user = "a".repeat(32 * 1024 * 1024);
  const proxy = { host: "127.0.0.1", port: deaf.addr.port, user, password: "", direct: [] };
  await assert.rejects(openTunnel({ host: "idp.example", port: 443 }, { proxy, limitMs: 200 }));
  (await accepted).close();
  deaf.close();
});

const hosts: readonly (readonly [host: string, through: boolean])[] = [
  ["idp.example", true],
  ["IDP.Example.ORG", false],
  ["example.org", false],
  ["badexample.org", true],
  ["unity.site-b.example", false],
  ["site-b.example", true],
  ["db1", false],
  ["db12", true],
  ["10.1.2.3", false],
  ["11.1.2.3", true],
  ["2001:db8::7", false],
  ["2001:db9::7", true],
  ["localhost", false],
  ["127.0.0.53", false],
  ["::1", false],
];
for (const [host, through] of hosts) {
  Deno.test(`goesThroughProxy() returns ${through} for ${host}`, () => {
    const direct = [".Example.org", "*.site-b.example", "db?", "10.0.0.0/8", "2001:db8::/32"];
    assert.equal(goesThroughProxy(host, { direct }), through);
  });
}
