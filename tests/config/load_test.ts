import assert from "node:assert/strict";
import { join } from "node:path";
import { KINDS } from "../../src/service/kinds.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { loadText, MINIMAL, MINIMAL_LINES } from "./load_fixture.ts";
import { OAUTH_DEFAULTS } from "./oauth_defaults.ts";

const ROOT = join(import.meta.dirname ?? "", "..", "..");
const DATA_FILES = {
  "conf/users.txt": "",
  "conf/ssh-keys.txt": "",
  "conf/mapfile.json": "{}",
  "conf/identity.expr": 'return "UID=" + sub;\n',
};

function fixture(name: string): Promise<string> {
  return Deno.readTextFile(join(import.meta.dirname ?? "", "fixtures", name));
}

const ANY_LOGIN = { methods: [], requiredAcr: [], networks: [] };

Deno.test("loadConfiguration() reads variant A of the specification", async () => {
  const { config, errors, warnings } = await loadText(await fixture("seed_a.properties"), DATA_FILES);
  assert.deepEqual(errors, []);
  assert.deepEqual(warnings, [
    "conf/c:31: container.security.rest.authentication.order: UNITY will accept no assertion, " +
    "expected container.security.trustedAssertionIssuers.directoryLocations.1 too",
    "conf/c:31: container.security.rest.authentication.order: OAUTH is shown tokens that are for INTROSPECT, " +
    "expected an issuer for each, and opaqueTokens for one at most",
    ...[[40, "OAUTH"], [46, "INTROSPECT"]].map(([line, name]) => {
      const prefix = `container.security.rest.authentication.${name}`;
      return `conf/c:${line}: ${prefix}.address: tokens that others got from this provider log in here, expected ` +
        `${prefix}.requiredAudience, ${prefix}.requiredClient, or ${prefix}.acceptAnyAudience=true if that is meant`;
    }),
  ]);
  assert.ok(config);
  assert.deepEqual(config.site, {
    name: "AUTH",
    host: "auth.site-a.example",
    port: 9000,
    externalUrl: "https://gw.site-a.example:8080/AUTH",
    externalUrlGiven: true,
  });
  assert.deepEqual(config.sources, { main: "/conf/c", all: ["/conf/c", "/conf/identity.expr"] });
  assert.deepEqual(config.features, { auth: true, share: true, access: true, files: false, admin: true });
  assert.equal(config.credential?.path, "/conf/host.p12");
  assert.equal(config.credential?.password, "secret");
  assert.deepEqual(config.truststore, {
    type: "directory",
    locations: ["/conf/trusted/*.pem"],
    encoding: "PEM",
    updateIntervalSeconds: 600,
    origin: { file: "conf/c", line: 8, key: "container.security.truststore.directoryLocations.1" },
  });
  const daemon = (last: number) => ({
    host: `192.0.2.${last}`,
    port: 64434,
    commandHost: `10.0.0.${last}`,
    commandPort: 64435,
    ssl: true,
    allowUnverifiable: false,
  });
  assert.deepEqual(config.servers, [
    {
      name: "HPC",
      description: "Single server",
      instances: [daemon(1)],
      reservations: { file: "/conf/reservations.json" },
      logins: ANY_LOGIN,
    },
    {
      name: "CLUSTER",
      description: "Two servers",
      instances: [daemon(2), daemon(3)],
      logins: ANY_LOGIN,
    },
  ]);
  const origin = (line: number, key: string) => ({
    file: "conf/c",
    line,
    key: `container.security.rest.authentication.${key}`,
  });
  assert.deepEqual(config.authentication, {
    failOnMissingCredentials: false,
    authenticators: [
      { kind: "FilebasedAuthenticator", name: "PASSWORD", file: "/conf/users.txt" },
      {
        kind: "SSHKeyAuthenticator",
        name: "SSHKEY",
        file: "/conf/ssh-keys.txt",
        dnTemplate: "CN=%s, OU=ssh-local-users",
        useAuthorizedKeys: true,
        updateIntervalSeconds: 600,
        legacyToken: false,
        maxTokenLifetimeSeconds: 86400,
      },
      {
        kind: "UnitySAMLAuthenticator",
        name: "UNITY",
        address: "https://unity.site-a.example:2443/soapidp/saml2idp-soap/AuthenticationService",
        validate: true,
        nameIdFormat: "X509SubjectName",
        assignments: {},
        showCertificate: false,
        derivedLifetime: 28_800,
      },
      {
        kind: "OAuthAuthenticator",
        ...OAUTH_DEFAULTS,
        prefix: "container.security.rest.authentication.OAUTH.",
        name: "OAUTH",
        address: "https://idp.site-a.example/userinfo",
        assignments: {
          identity: { text: '"UID="+email', origin: origin(41, "OAUTH.identityAssign") },
          uid: { text: "preferred_username", origin: origin(42, "OAUTH.uidAssign") },
          groups: { text: '["hpc", "users"]', origin: origin(43, "OAUTH.groupsAssign") },
          role: { text: '"user"', origin: origin(44, "OAUTH.roleAssign") },
        },
        showCertificate: false,
        derivedLifetime: 28_800,
      },
      {
        kind: "OAuthAuthenticator",
        ...OAUTH_DEFAULTS,
        prefix: "container.security.rest.authentication.INTROSPECT.",
        name: "INTROSPECT",
        address: "https://idp.site-a.example/introspect",
        introspection: { clientId: "uftp", clientSecret: "client secret", inHeader: false },
        assignments: {
          identity: {
            text: 'return "UID=" + sub;\n',
            origin: {
              file: "/conf/identity.expr",
              line: 1,
              key: "container.security.rest.authentication.INTROSPECT.identityAssign",
            },
          },
        },
        showCertificate: false,
        derivedLifetime: 28_800,
      },
    ],
  });
  assert.deepEqual(config.attributes, {
    policy: "MERGE_LAST_OVERRIDES",
    sources: [{
      kind: "FileAttributeSource",
      name: "FILE",
      optional: false,
      file: "/conf/mapfile.json",
      matching: "strict",
    }],
  });
});

Deno.test("loadConfiguration() reads variant B of the specification", async () => {
  const { config, errors, warnings } = await loadText(await fixture("seed_b.properties"), DATA_FILES);
  assert.deepEqual(errors, []);
  assert.deepEqual(warnings, [
    "conf/c:18: authservice.server.HPC.ssl: anyone who reaches the command socket can read and send commands; " +
    "for tests only",
  ]);
  assert.ok(config);
  assert.equal(config.site.externalUrl, "https://gw.site-a.example:8080/AUTH");
  assert.deepEqual(config.features, { auth: true, share: false, access: false, files: false, admin: true });
  assert.equal(config.servers[0]?.instances[0]?.ssl, false);
  assert.deepEqual(config.authentication.authenticators.map(({ name, kind }) => [name, kind]), [
    ["PASSWORD", "FilebasedAuthenticator"],
    ["SSHKEY", "SSHKeyAuthenticator"],
    ["UNITY", "UnitySAMLAuthenticator"],
  ]);
  assert.equal(config.trustedAssertionIssuers?.type, "directory");
  assert.deepEqual(config.attributes.sources, [{ kind: "AuthAttributesCollector", name: "PAM" }]);
});

Deno.test("loadConfiguration() reads the configuration that is shipped with the service", async () => {
  const { config, diagnostics } = await loadConfiguration("conf/container.properties", {
    kinds: KINDS,
    workingDirectory: ROOT,
    environment: () => undefined,
  });
  assert.deepEqual(diagnostics.map(formatDiagnostic), []);
  assert.deepEqual(config?.authentication.authenticators.map(({ name }) => name), ["SSHKEY", "PASSWORD"]);
});

Deno.test("loadConfiguration() returns frozen data that can be posted to another thread", async () => {
  const { config } = await loadConfiguration("conf/container.properties", {
    kinds: KINDS,
    workingDirectory: ROOT,
    environment: () => undefined,
  });
  assert.ok(config);
  assert.deepEqual(structuredClone(config), config);
  const frozen = (value: unknown): boolean =>
    typeof value !== "object" || value === null ||
    (Object.isFrozen(value) && Object.values(value).every(frozen));
  assert.ok(frozen(config));
});

Deno.test("loadConfiguration() reports all problems in all files together, by file and line", async () => {
  const { config, errors, warnings } = await loadText(
    [
      "$include.auth=conf/auth",
      "container.port=70000",
      "authservice.servers=HPC",
      "authservice.server.HPC.host=10.0.0.1",
      "authservice.server.HPC.port=64434",
      "authservice.server.HPC.comandHost=10.0.0.1",
      "authservice.server.HPC.commandPort=64435",
      "container.httpServer.enableHsts=maybe",
      "container.sitname=AUTH",
      "container.security.credential.path=a.pem",
      "container.security.truststore.directoryLocations.1=*.pem",
    ].join("\n"),
    {
      "conf/auth":
        "container.security.rest.authentication.order=PASSWORD\n\ncontainer.security.rest.jwt.hmacSecret=short\n",
    },
  );
  assert.equal(config, undefined);
  assert.deepEqual(errors, [
    "conf/c:2: container.port = 70000: expected a port number from 0 to 65535",
    "conf/c:4: authservice.server.HPC.commandHost: missing, expected a host name or an IP address, without port",
    "conf/c:8: container.httpServer.enableHsts = maybe: expected true, yes, false or no",
    "conf/c:9: container.sitname: unknown key, did you mean container.sitename?",
    "conf/auth:1: container.security.rest.authentication.PASSWORD.file: missing, " +
    "expected a path, relative ones start from the working directory",
    "conf/auth:3: container.security.rest.jwt.hmacSecret: expected a secret of at least 32 bytes",
  ]);
  assert.deepEqual(warnings, [
    "conf/c:6: authservice.server.HPC.comandHost: unknown key, did you mean authservice.server.HPC.commandHost?",
  ]);
});

Deno.test("loadConfiguration() reports a missing file, and keys missing in an empty file", async () => {
  const missing = await loadConfiguration("none", {
    kinds: KINDS,
    workingDirectory: "/nowhere",
    environment: () => undefined,
  });
  assert.deepEqual(missing.diagnostics.map(formatDiagnostic), [
    "none: cannot read /nowhere/none: there is no such file",
  ]);
  assert.deepEqual((await loadText("")).errors, [
    "conf/c: container.security.credential.path: missing, expected a path, relative ones start from the working directory",
    "conf/c: container.security.truststore.type: expected container.security.truststore.type too: " +
    "directory, keystore or openssl",
  ]);
});

Deno.test("loadConfiguration() loads the minimal configuration without diagnostics", async () => {
  const { errors, warnings, config } = await loadText(MINIMAL);
  assert.deepEqual({ errors, warnings }, { errors: [], warnings: [] });
  assert.equal(config?.site.externalUrl, "https://localhost:7777");
});

Deno.test("loadConfiguration() reports an invalid escape once, and not the key as missing", async () => {
  const { errors } = await loadText(MINIMAL.replace(/(commandHost=).*/, "$1a\\u"));
  assert.equal(errors.length, 1);
  assert.match(errors[0] ?? "", /commandHost: expected four hexadecimal digits after \\u$/);
});

const AT = `conf/c:${MINIMAL_LINES + 1}`;

/** Settings that prevent the start if added to the minimal configuration, with the message. */
const ERRORS: [added: string, message: string][] = [
  ["container.host=a b", "container.host = a b: expected a host name or an IP address, without port"],
  [
    "container.host=https://a",
    "container.host = https://a: expected a host name or an IP address, without port",
  ],
  ["container.port=", "container.port = : expected a port number from 0 to 65535"],
  ["container.port=9000x", "container.port = 9000x: expected a port number from 0 to 65535"],
  ["container.port=-1", "container.port = -1: expected a port number from 0 to 65535"],
  ["container.port=9e3", "container.port = 9e3: expected a port number from 0 to 65535"],
  [
    "container.externalurl=gw:8080/AUTH",
    "container.externalurl = gw:8080/AUTH: expected a URL that begins with https:// or http://",
  ],
  [
    "container.externalurl=https://u:p@gw/",
    "container.externalurl: expected a URL without user name, password and fragment",
  ],
  [
    "container.externalurl=https://gw/?a",
    "container.externalurl = https://gw/?a: expected a URL without query",
  ],
  ["container.baseurl=://x", "container.baseurl = ://x: expected <host>:<port>/<sitename>/services"],
  [
    "container.baseurl=https://me:hidden@gw:8080/AUTH/services",
    "container.baseurl: expected <host>:<port>/<sitename>/services",
  ],
  [
    "container.feature.AuthServer.enable=on",
    "container.feature.AuthServer.enable = on: expected true, yes, false or no",
  ],
  [
    "container.httpServer.maxConnections=-1",
    "container.httpServer.maxConnections = -1: expected a whole number from 0 to 2147483647",
  ],
  [
    "container.httpServer.maxIdleTime=1.5",
    "container.httpServer.maxIdleTime = 1.5: expected a whole number from 1000 to 2147483647 (milliseconds)",
  ],
  [
    "container.httpServer.xFrameOptions=maybe",
    "container.httpServer.xFrameOptions = maybe: expected one of deny, sameOrigin, allowFrom, allow",
  ],
  [
    "container.httpServer.disabledProtocols=TLSv1.2 TLSv1.3",
    "container.httpServer.disabledProtocols = TLSv1.2 TLSv1.3: expected at most one of TLSv1.2 and TLSv1.3",
  ],
  [
    "container.httpServer.disabledProtocols=SSLv3 TLSv1 TLS1.2",
    "container.httpServer.disabledProtocols = SSLv3 TLSv1 TLS1.2: expected names such as TLSv1.2",
  ],
  [
    "container.httpServer.disabledProtocols=TLSv1.1;TLSv1.2",
    "container.httpServer.disabledProtocols = TLSv1.1;TLSv1.2: expected names such as TLSv1.2",
  ],
  [
    "container.security.gateway.trustedPeers=10.0.0.0/8 10.0.0.0/33",
    "container.security.gateway.trustedPeers = 10.0.0.0/8 10.0.0.0/33: " +
    "expected IP addresses or ranges such as 192.0.2.0/24, not 10.0.0.0/33",
  ],
  [
    "container.httpServer.proxyProtocol.trustedPeers=10.0.0.7/8",
    "container.httpServer.proxyProtocol.trustedPeers = 10.0.0.7/8: " +
    "expected IP addresses or ranges such as 192.0.2.0/24, not 10.0.0.7/8",
  ],
  [
    "container.drainSeconds=3601",
    "container.drainSeconds = 3601: expected a whole number from 0 to 3600 (seconds)",
  ],
  [
    "container.security.gateway.trustedPeers=gw.example",
    "container.security.gateway.trustedPeers = gw.example: " +
    "expected IP addresses or ranges such as 192.0.2.0/24, not gw.example",
  ],
  [
    "container.security.rest.jwt.trustedIssuerCert.1=none.pem",
    "container.security.rest.jwt.trustedIssuerCert.1: cannot read /none.pem: there is no such file",
  ],
  [
    "container.security.rest.jwt.trustedLocalIssuer.1=conf",
    "container.security.rest.jwt.trustedLocalIssuer.1: cannot read /conf: it is a folder",
  ],
  [
    "container.security.throttling.baseDelay=1000",
    "container.security.throttling.baseDelay = 1000: " +
    "expected at most container.security.throttling.maxDelay, which is 900",
  ],
  [
    "container.security.credential.format=p12",
    "container.security.credential.format = p12: expected one of pem, pkcs12, der, jks",
  ],
  [
    "container.security.truststore.type=java_default",
    "container.security.truststore.type = java_default: there is no Java here to take certificates from, " +
    "expected directory with the CA certificates you trust " +
    "(container.security.truststore.directoryLocations.1=conf/trusted/*.pem)",
  ],
  [
    "container.security.truststore.ocspMode=REQUIRE",
    "container.security.truststore.ocspMode = REQUIRE: OCSP responders are not asked, expected IGNORE, and " +
    "container.security.truststore.crlMode=REQUIRE with lists in container.security.truststore.crlLocations.1",
  ],
  [
    "container.security.clientTruststore.opensslNsMode=GLOBUS_REQUIRE\n" +
    "container.security.clientTruststore.type=openssl",
    "container.security.clientTruststore.opensslNsMode = GLOBUS_REQUIRE: name spaces are not evaluated, expected IGNORE",
  ],
  [
    "container.security.trustedAssertionIssuers.type=keystore",
    "container.security.trustedAssertionIssuers.type: " +
    "expected container.security.trustedAssertionIssuers.keystorePath too",
  ],
  [
    "container.security.trustedAssertionIssuers.type=directory",
    "container.security.trustedAssertionIssuers.type: " +
    "expected container.security.trustedAssertionIssuers.directoryLocations.1 too, such as conf/trusted/*.pem",
  ],
  ["authservice.server.HPC.ssl=ja", "authservice.server.HPC.ssl = ja: expected true, yes, false or no"],
  [
    "authservice.server.HPC.reservations.timezone=Mars/Olympus",
    "authservice.server.HPC.reservations.timezone = Mars/Olympus: expected a time zone such as Europe/Berlin",
  ],
  [
    "authservice.server.HPC.sslExpectedDN=daemon.example",
    "authservice.server.HPC.sslExpectedDN = daemon.example: " +
    "expected a distinguished name such as CN=Ann Example,O=Site-A,C=DE",
  ],
  [
    "container.security.credential.keyPath=k\ncontainer.security.credential.keyAlias=a",
    "container.security.credential.keyPath = /k: " +
    "expected either keyPath (PEM, DER) or keyAlias (key stores), both are ambiguous",
  ],
  [
    "container.audit.journal=true\ncontainer.audit.file=a.log",
    "container.audit.journal = true: expected one destination, there is container.audit.file too",
  ],
  [
    "container.audit.file=logs/../logs/a.log\ncontainer.logging.file=logs/a.log",
    "container.audit.file = /logs/a.log: expected different files for log and audit stream",
  ],
  [
    "container.logging.file=logs/audit.log",
    "container.logging.file = /logs/audit.log: expected different files for log and audit stream",
  ],
  [
    "share.servers=HPC",
    "share.servers = HPC: expected persistence.directory too, the folder of the share database",
  ],
  ["share.maxLifetime=1d", "share.maxLifetime = 1d: expected a whole number from 0 to 2147483647 (seconds)"],
  ["container.metrics.port=-1", "container.metrics.port = -1: expected a port number from 0 to 65535"],
  [
    "container.logging.level=trace",
    "container.logging.level = trace: expected one of debug, info, warn, error",
  ],
  [
    "container.client.serverHostnameChecking=OFF",
    "container.client.serverHostnameChecking = OFF: expected one of NONE, WARN, FAIL",
  ],
  ["persistence.directoy=data", "persistence.directoy: unknown key, did you mean persistence.directory?"],
  ["share.allowWriteAcess=true", "share.allowWriteAcess: unknown key, did you mean share.allowWriteAccess?"],
  ["authservice.sevrers=A", "authservice.sevrers: unknown key, did you mean authservice.servers?"],
  ["container.security.nonsense.at.all=1", "container.security.nonsense.at.all: unknown key"],
];

for (const [added, message] of ERRORS) {
  Deno.test(`loadConfiguration() refuses ${added}`, async () => {
    const { config, errors } = await loadText(`${MINIMAL}${added}\n`);
    assert.equal(config, undefined);
    assert.deepEqual(errors, [`${AT}: ${message}`]);
  });
}

/** Doubtful settings, with which the service starts, and the warning. */
const WARNINGS: [added: string, message: string][] = [
  [
    "container.logging.maxSize=10",
    "container.logging.maxSize = 10: keeps little, expected at least 65536 bytes",
  ],
  [
    "container.security.accesscontrol=false",
    "container.security.accesscontrol = false: everybody may do everything, for tests only",
  ],
  [
    "container.security.sslEnabled=no",
    "container.security.sslEnabled = false: passwords travel unencrypted, for tests only",
  ],
  [
    "container.security.accesscontrol.pdp=eu.unicore.services.pdp.AcceptingPdp",
    "container.security.accesscontrol.pdp = AcceptingPdp: the built-in rules are used; " +
    "to permit everything, set container.security.accesscontrol=false",
  ],
  [
    "container.security.accesscontrol.pdpConfig=conf/pdp.conf",
    "container.security.accesscontrol.pdpConfig: ignored: the service does not evaluate XACML policies; " +
    "its built-in rules equal the default policy of the Java service",
  ],
  [
    "container.security.accesscontrol.auth=false",
    "container.security.accesscontrol.auth: ignored: access control is on or off for all services, " +
    "see container.security.accesscontrol",
  ],
  [
    "container.security.gateway.enable=true",
    "container.security.gateway.enable = true: expected container.security.gateway.trustedPeers too, " +
    "without which the service accepts no gateway headers; or false, if there is no gateway",
  ],
  ...["0.0.0.0/0", "::/0", "192.0.2.1 128.0.0.0/1", "::ffff:0.0.0.0/96"].map((found): [string, string] => [
    `container.httpServer.proxyProtocol.trustedPeers=${found}`,
    `container.httpServer.proxyProtocol.trustedPeers = ${found}: ${
      found.split(" ").at(-1)
    } trusts nearly everybody, ` +
    "expected addresses of your own",
  ]),
  [
    "container.security.gateway.waitTime=10",
    "container.security.gateway.waitTime: ignored: the service does not wait for the gateway",
  ],
  [
    "container.client.serverHostnameChecking=none",
    "container.client.serverHostnameChecking = NONE: any server with a certificate of a trusted authority " +
    "can pose as your identity provider, expected FAIL",
  ],
  [
    "container.httpServer.minThreads=1",
    "container.httpServer.minThreads: ignored: there are no threads per request",
  ],
  [
    "container.pools.executor.maxsize=1",
    "container.pools.executor.maxsize: ignored: the service has no thread pools",
  ],
  ["container.onstartup.1=a.b.C", "container.onstartup.1: ignored: the service has no start-up classes"],
  [
    "container.feature.Registry.enable=false",
    "container.feature.Registry.enable: ignored: this feature does not exist",
  ],
  [
    "container.feature.DataShring.enable=false",
    "container.feature.DataShring.enable: unknown key, did you mean container.feature.DataSharing.enable?",
  ],
  [
    "persistence.user=sa",
    "persistence.user: ignored: the service keeps shares in a SQLite database in persistence.directory",
  ],
  [
    "persistence.directory.SHARES_HPC=data",
    "persistence.directory.SHARES_HPC: ignored: the service uses one database for everything",
  ],
  ...[
    "",
    "\npersistence.class=PGSQLPersist\npersistence.host=db\npersistence.database=d\npersistence.user=u\npersistence.password=p",
  ].map((
    more,
  ): [string, string] => [
    `authservice.server.HPC.reservations.enable=true${more}`,
    "authservice.server.HPC.reservations.enable = true: no reservation is in effect, " +
    "expected authservice.server.HPC.reservations.file too",
  ]),
  ["containr.host=a", "containr.host: not a key of this service, did you mean container.host?"],
  ["notfy.webhook.url=https://x", "notfy.webhook.url: not a key of this service, did you mean notify.?"],
  ["$inclde.x=conf/a", "$inclde.x: not a key of this service, did you mean $include.?"],
  ["container .port=1", "container: not a key of this service, did you mean container.?"],
  ["[logging]", "[logging]: not a key of this service"],
  [
    "authservice.server.OTHER.host=a",
    "authservice.server.OTHER.host: not used, OTHER is not in authservice.servers",
  ],
  ["authservice.server.HPC.colour=red", "authservice.server.HPC.colour: unknown key"],
];

for (const [added, message] of WARNINGS) {
  Deno.test(`loadConfiguration() warns about ${added}`, async () => {
    const { config, errors, warnings } = await loadText(`${MINIMAL}${added}\n`);
    assert.deepEqual(errors, []);
    assert.ok(config);
    assert.deepEqual(warnings, [`${AT}: ${message}`]);
  });
}

Deno.test("loadConfiguration() recognises every documented key of the Java service", async () => {
  const { config, errors, warnings } = await loadText(await fixture("java_service_keys.properties"), {
    "conf/file": "",
  });
  assert.deepEqual(errors, []);
  assert.deepEqual(warnings.filter((warning) => warning.includes("unknown")), []);
  assert.ok(config);
});

Deno.test("loadConfiguration() reads a proxy for outgoing connections", async () => {
  const lines = ["proxyHost=2001:db8::1", "proxyPort=3128", "proxy.user=ann", "proxy.password=hidden"];
  const text = [...lines, "nonProxyHosts=localhost|*.example.org 10.0.0.0/8"]
    .map((line) => `container.client.http.${line}\n`).join("");
  const { config, errors } = await loadText(MINIMAL + text);
  assert.deepEqual(errors, []);
  assert.deepEqual(config?.outgoing.proxy, {
    host: "2001:db8::1",
    port: 3128,
    user: "ann",
    password: "hidden",
    direct: ["localhost", "*.example.org", "10.0.0.0/8"],
  });
  assert.equal((await loadText(MINIMAL)).config?.outgoing.proxy, undefined);
});

const wrongProxies: readonly (readonly [lines: readonly string[], RegExp])[] = [
  [["proxyHost=proxy"], /expected container\.client\.http\.proxyPort too/],
  [["proxyPort=3128"], /expected container\.client\.http\.proxyHost too/],
  [["proxyHost=http://proxy", "proxyPort=3128"], /expected a host name or an IP address/],
  [["proxyHost=proxy", "proxyPort=0x1"], /expected a port number/],
  [["proxyHost=proxy", "proxyPort=3128", "proxyType=SOCKS"], /SOCKS: expected one of HTTP/],
  [["proxyHost=proxy", "proxyPort=3128", "proxy.user=a:b"], /expected a name without colon/],
];
for (const [lines, expected] of wrongProxies) {
  Deno.test(`loadConfiguration() refuses ${lines.join(", ")}`, async () => {
    const { errors } = await loadText(
      MINIMAL + lines.map((line) => `container.client.http.${line}\n`).join(""),
    );
    assert.match(errors.join("\n"), expected);
  });
}

Deno.test("loadConfiguration() ignores the keys of other programs", async () => {
  const { warnings } = await loadText(
    `${MINIMAL}coreServices.targetsystemfactory.tmpdir=/tmp\nXNJS.staging=1\n`,
  );
  assert.deepEqual(warnings, []);
});

Deno.test("loadConfiguration() warns about secrets in a world-readable file", async () => {
  const secret = "container.security.credential.password=secret\n";
  assert.deepEqual((await loadText(MINIMAL + secret, {}, { mode: 0o644 })).warnings, [
    `${AT}: container.security.credential.password: every user of this machine can read this secret, ` +
    "expected: chmod o-r conf/c",
  ]);
  assert.deepEqual((await loadText(MINIMAL + secret, {}, { mode: 0o640 })).warnings, []);
  const fromEnvironment = await loadText(`${MINIMAL}container.security.credential.password=\${PW}\n`, {}, {
    mode: 0o644,
    environment: { PW: "secret" },
  });
  assert.deepEqual(fromEnvironment.warnings, []);
  assert.equal(fromEnvironment.config?.credential?.password, "secret");
});

Deno.test("loadConfiguration() never shows a secret", async () => {
  const { errors, warnings } = await loadText(
    `${MINIMAL}container.security.rest.jwt.hmacSecret=hidden\ncontainer.security.credential.pasword=hidden\n` +
      "container.security.credential.password=hidden\ncontainer.security.credential.password=hidden\n" +
      "persistence.password=hidden\ncontainer.client.httpPassword=hidden\nx=${hidden}\n",
  );
  assert.equal(errors.length + warnings.length, 6);
  assert.doesNotMatch([...errors, ...warnings].filter((text) => !text.includes("variable")).join(), /hidden/);
});

Deno.test("loadConfiguration() treats name spaces as an error in the truststore for clients, else as a warning", async () => {
  const prefix = "container.security.clientTruststore.";
  const nameSpacesOf = async (...lines: readonly string[]) => {
    const text = MINIMAL.replace(/\.directoryLocations.*/, ".type=openssl") + lines.join("\n");
    const { config } = await loadText(text, {});
    return [config?.truststore, config?.clientTruststore].map((store) =>
      store?.type === "openssl" ? store.nameSpaces : "none"
    );
  };
  assert.deepEqual(await nameSpacesOf(), ["error", "none"]);
  assert.deepEqual(await nameSpacesOf("container.security.truststore.opensslNsMode=ignore"), [
    undefined,
    "none",
  ]);
  assert.deepEqual(await nameSpacesOf(`${prefix}type=openssl`), ["warning", "error"]);
  assert.deepEqual(await nameSpacesOf(`${prefix}type=openssl`, `${prefix}opensslNsMode=IGNORE`), [
    "warning",
    undefined,
  ]);
});
