import assert from "node:assert/strict";
import { check } from "../../../src/command/diagnosis/check.ts";
import { startXuudb } from "../../attributes/xuudb/xuudb_simulator.ts";
import { startLogServer } from "../../fixtures/log_server.ts";
import { startDaemon } from "../../daemon_simulator/daemon.ts";
import { CLIENT, startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { startUnityProvider } from "../../identity_provider/unity_provider.ts";
import { createAuthority } from "../../pki/authority.ts";
import { createSite, type Site } from "../../system/running_service.ts";
import { runAuthserver } from "../../system/service_process.ts";
import { recordedIo } from "../recorded_io.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000 + 3_600_000);
const shown = authority.issue({
  subject: "CN=localhost",
  names: ["localhost", "127.0.0.1"],
  notAfter: inDays(42),
});

const oidc = await startOidcProvider(shown);
const unity = await startUnityProvider({ tls: shown, signer: shown, url: "https://x", now: Date.now });
const xuudb = startXuudb({ "SITE-A": {} }, shown);

const authenticator = (name: string, values: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) =>
      [`container.security.rest.authentication.${name}.${key}`, value] as const
    ),
  );
const [xuudbHost = "", xuudbPort = ""] = xuudb.address.split(/:(?=\d)/);
const source = { xuudbHost, xuudbPort, xuudbGCID: "SITE-A" };
const properties = {
  "container.security.rest.authentication.order": "PASSWORD OAUTH INTROSPECT UNITY",
  ...authenticator("OAUTH", { address: oidc.userinfo, identityAssign: '"UID="+email' }),
  ...authenticator("INTROSPECT", {
    class: "eu.unicore.services.rest.security.OAuthAuthenticator",
    address: oidc.introspection,
    identityAssign: '"UID="+email',
    validate: "true",
    clientID: CLIENT.clientId,
    clientSecret: CLIENT.clientSecret,
  }),
  ...authenticator("UNITY", { address: unity.address, validate: "false" }),
  "container.security.attributes.order": "XUUDB DB2 FILE",
  "container.security.attributes.DB2.class": "eu.unicore.services.aip.xuudb.XUUDBJSONAttributeSource",
  ...Object.fromEntries(
    ["XUUDB", "DB2"].flatMap((name) =>
      Object.entries(source).map(([key, value]) =>
        [`container.security.attributes.${name}.${key}`, value] as const
      )
    ),
  ),
};
const site = await createSite({
  authority,
  properties,
  servers: { HPC: [{}], TWO: [{}, { maxSessions: 3 }] },
});
Deno.test.afterAll(async () => {
  await Promise.all([oidc, unity, xuudb, site].map((each) => each[Symbol.asyncDispose]()));
});

/** Returns the lines about other systems, without addresses, each with its remedy. */
function findings(printed: string): readonly string[] {
  return printed.split(/\n(?! )/).filter((line) => /^(?:ok|failed) /.test(line))
    .map((line) => line.replace(/ +/g, " ").replace(/ (?:https:\/\/)?[\w.]+:\d+\S*:/, ":"));
}

async function checkOnline({ main }: Site, ...more: string[]) {
  const io = recordedIo();
  const status = await check.run(["--online", "--config", main, ...more], io);
  return { status, lines: findings(io.out), out: io.out };
}

const GOOD = [
  "ok daemon HPC: UFTPD 3.5.3, at most 8 sessions per account",
  "ok daemon TWO-1: UFTPD 3.5.3, at most 8 sessions per account",
  "ok daemon TWO-2: UFTPD 3.5.3, at most 3 sessions per account",
  "ok method OAUTH: certificate valid for 42 days; answers a request without credentials with status 401",
  "ok method INTROSPECT: certificate valid for 42 days; knows this service, and refuses an unknown token",
  "ok method UNITY: certificate valid for 42 days; answers a request without credentials with status 401",
  "ok attribute source XUUDB: certificate valid for 42 days; answers for SITE-A",
  "ok attribute source DB2: certificate valid for 42 days; answers for SITE-A",
];

Deno.test("check --online reports a finding for every other system", async () => {
  const seen = oidc.server.seen.length + unity.server.seen.length;
  const { status, lines, out } = await checkOnline(site);
  assert.deepEqual(lines, GOOD);
  assert.match(out, /^The configuration is valid: /m);
  assert.equal(status, 0);
  const requests = [...oidc.server.seen, ...unity.server.seen].slice(seen);
  assert(requests.every(({ headers }) => headers.authorization === undefined));
});

Deno.test("check --online reports the same in a separate process, which trusts no system authorities", async () => {
  const running = runAuthserver(["check", "--online", "--config", site.main]);
  assert.equal(await running.ended, 0, running.printed);
  assert.deepEqual(findings(running.printed), GOOD);
});

/** Asserts the finding about a system during a simulated fault. */
async function finds(expected: RegExp, arrange: () => void, undo: () => void): Promise<void> {
  arrange();
  try {
    const { status, lines, out } = await checkOnline(site);
    assert.equal(status, 1);
    assert.match(
      out,
      /^The service would start, but \d of 8 other systems cannot be used: 0 errors, \d /m,
    );
    assert.doesNotMatch(out, /usable/);
    const news = lines.filter((line) => !GOOD.includes(line));
    assert(news.length > 0);
    for (const line of news) assert.match(line, expected, out);
  } finally {
    undo();
  }
}

const daemon = () => site.daemon("HPC");
const DAEMON_FAULTS = [
  [
    { kind: "close-at-once" },
    /failed daemon HPC: closes the connection during the TLS handshake.*\n fix: see whether ssl fits/,
  ],
  [{ kind: "plain-text" }, /failed daemon HPC: does not speak TLS.*\n fix: see whether ssl fits/],
  [
    { kind: "certificate", credential: createAuthority({ subject: "CN=Other" }) },
    /HPC: its certificate is not trusted.*\n fix: put the authority/,
  ],
] as const;
for (const [fault, expected] of DAEMON_FAULTS) {
  Deno.test(`check --online detects a daemon with the fault ${fault.kind}`, async () => {
    await finds(expected, () => daemon().fault = fault, () => daemon().fault = undefined);
  });
}

Deno.test("check --online detects a daemon whose ACL does not name the service", async () => {
  await finds(
    /failed daemon HPC: closes without a reply; the daemon's ACL file.*\n fix: add the subject/,
    () => daemon().acl = "CN=Somebody Else",
    () => daemon().acl = ",",
  );
});

Deno.test("check --online suggests ssl for a daemon that expects TLS and gets none", async () => {
  await using plain = await createSite({ properties: { "authservice.server.HPC.ssl": "false" } });
  const { status, lines } = await checkOnline(plain);
  assert.equal(status, 1);
  assert.match(lines.join(), /^failed daemon HPC: the reply is not one of a .*\n fix: see whether ssl fits/);
});

Deno.test("check --online tries the log server of audit lines", async () => {
  for (
    const [issuer, expected] of [
      [authority, "ok log server tls://localhost: certificate valid for 8436 days; takes connections"],
      [
        createAuthority({ subject: "CN=Other" }),
        /^failed log server .*no trusted authority signed.*\n fix: see/,
      ],
    ] as const
  ) {
    await using server = await startLogServer(issuer);
    const properties = { "container.audit.syslog": `tls://localhost:${server.port}` };
    await using sending = await createSite({ authority, properties });
    const line = (await checkOnline(sending)).lines.at(-1)?.replace(/:\d+:/, ":").replace(
      /\d+ days/,
      "8436 days",
    );
    if (typeof expected === "string") assert.equal(line, expected);
    else assert.match(String(line), expected);
  }
});

Deno.test("check --online detects a missing daemon", async () => {
  await using gone = await startDaemon();
  const port = gone.commandPort;
  await gone.stop();
  await using other = await createSite({
    properties: { "authservice.server.HPC.commandPort": String(port) },
  });
  const { status, lines } = await checkOnline(other);
  assert.equal(status, 1);
  assert.match(
    lines.join(),
    /^failed daemon HPC: connection refused, nothing listens.*\n fix: see whether the daemon runs/,
  );
});

for (const status of [404, 500, 503]) {
  Deno.test(`check --online detects an OIDC provider that answers ${status}`, async () => {
    await finds(
      new RegExp(`failed method (?:OAUTH|INTROSPECT): .*status ${status}`),
      () => oidc.fault = (_, response) => response.writeHead(status).end(),
      () => oidc.fault = undefined,
    );
  });
}

Deno.test("check --online detects an OIDC provider with another client secret", async () => {
  await finds(
    /failed method INTROSPECT: .*unexpected status 401/,
    () => oidc.fault = (_, response) => response.writeHead(401).end(),
    () => oidc.fault = undefined,
  );
});

Deno.test("check --online detects a system that does not answer like an XUUDB", async () => {
  await finds(
    /failed attribute source (?:XUUDB|DB2): Attribute source (?:XUUDB|DB2): /,
    () => xuudb.reply = { status: 500, body: "no" },
    () => xuudb.reply = undefined,
  );
});

Deno.test("check --online detects untrusted certificates, and reports why", async () => {
  await using other = await createSite({ properties });
  const { status, lines } = await checkOnline(other);
  assert.equal(status, 1);
  const failed = lines.filter((line) => line.startsWith("failed"));
  assert.equal(failed.length, 5);
  for (const line of failed) assert.match(line, /(?:unknown ?issuer|self.signed|certificate|verify)/i);
});

Deno.test("check --online --json prints the same as data", async () => {
  const { status, out } = await checkOnline(site, "--json");
  assert.equal(status, 0);
  const { ok, online } = JSON.parse(out);
  assert.equal(ok, true);
  assert.deepEqual(
    online.map(({ system, ok }: Record<string, unknown>) => [system, ok]),
    GOOD.map((line) => [line.replace(/^ok |: .*$/g, ""), true]),
  );
});
