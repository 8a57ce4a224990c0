import assert from "node:assert/strict";
import type { ServiceConfig } from "../../src/config/service_config.ts";
import { loadText, MINIMAL } from "./load_fixture.ts";

/*
 * Configurations with which the Java service starts. Each is MINIMAL with some lines that replace those of
 * the same key. Each must load here, with exactly the listed warnings.
 */
interface JavaStart {
  readonly lines: readonly string[];
  readonly files?: Record<string, string>;
  /** Texts that must each be in a separate warning; there must be no other warnings. */
  readonly warnings?: readonly string[];
  readonly check?: (config: ServiceConfig) => void;
}

const REST = "container.security.rest.authentication";
const OAUTH = [
  `${REST}.order=OAUTH`,
  `${REST}.OAUTH.class=eu.unicore.services.rest.security.OAuthAuthenticator`,
  `${REST}.OAUTH.address=https://idp.example/userinfo`,
];
const SOURCES = "container.security.attributes";
const XUUDB = [`${SOURCES}.order=XUUDB`, `${SOURCES}.XUUDB.xuudbGCID=HPC`];

const STARTS: Record<string, JavaStart> = {
  "without a server's port": {
    lines: ["-authservice.server.HPC.port"],
    check: ({ servers }) => assert.equal(servers[0]?.instances[0]?.port, undefined),
  },
  "with a servlet path": {
    lines: ["container.servletpath=/services"],
    warnings: ["container.servletpath: ignored: the service has no further services"],
  },
  "with an empty port": {
    lines: ["authservice.server.HPC.port="],
    check: ({ servers }) => assert.equal(servers[0]?.instances[0]?.port, undefined),
  },
  "with several hosts of a server": {
    lines: ["authservice.server.HPC.host=127.0.0.1, 127.0.0.2"],
    check: ({ servers }) => assert.equal(servers[0]?.instances[0]?.host, "127.0.0.1, 127.0.0.2"),
  },
  "with several hosts of a server, separated by blanks": {
    lines: ["authservice.server.HPC.host=127.0.0.1 127.0.0.2"],
    check: ({ servers }) => assert.equal(servers[0]?.instances[0]?.host, "127.0.0.1 127.0.0.2"),
  },
  "with keys of a server in another case": {
    lines: ["-authservice.server.HPC.commandPort", "authservice.server.HPC.commandport=64436"],
    check: ({ servers }) => assert.equal(servers[0]?.instances[0]?.commandPort, 64436),
  },
  "with keys of one of several daemons in another case": {
    lines: [
      ...["host", "port", "commandHost", "commandPort"].map((key) => `-authservice.server.HPC.${key}`),
      ...["HOST=192.0.2.1", "host=192.0.2.1", "CommandHost=10.0.0.1", "COMMANDPORT=64435"].slice(1)
        .map((line) => `authservice.server.HPC.1.${line}`),
    ],
    check: ({ servers }) => assert.equal(servers[0]?.instances[0]?.commandHost, "10.0.0.1"),
  },
  "with an invalid port, which it does not use": {
    lines: ["authservice.server.HPC.port=abc"],
    warnings: [
      "port = abc: not a port number from 1 to 65535; the service uses the port that the daemon reports",
    ],
    check: ({ servers }) => assert.equal(servers[0]?.instances[0]?.port, undefined),
  },
  "with a gap in the numbers of daemons, using those before it": {
    lines: [
      ...["host", "port", "commandHost", "commandPort"].map((key) => `-authservice.server.HPC.${key}`),
      ...[1, 2, 4].flatMap((number) =>
        ["host=192.0.2.1", "commandHost=10.0.0.1", `commandPort=6443${number}`].map((line) =>
          `authservice.server.HPC.${number}.${line}`
        )
      ),
    ],
    warnings: [
      "HPC.4.host: not used, as authservice.server.HPC.3. is missing: numbers count from 1 without gaps",
    ],
    check: ({ servers }) =>
      assert.deepEqual(servers[0]?.instances.map(({ commandPort }) => commandPort), [64431, 64432]),
  },
  "with reservations, but no reservation file": {
    lines: ["authservice.server.HPC.reservations.enable=true"],
    warnings: ["no reservation is in effect, expected authservice.server.HPC.reservations.file too"],
    check: ({ servers }) => assert.equal(servers[0]?.reservations, undefined),
  },
  "with keys that are requested from daemons each time": {
    lines: [`${REST}.SSHKEY.updateInterval=0`],
    warnings: ["0 means a request for each login in the Java service; this service uses 600 seconds"],
  },
  "with a token lifetime above the maximum": {
    lines: ["container.security.rest.jwt.lifetime=90000"],
    warnings: ["lifetime = 90000: more than container.security.rest.jwt.maxLifetime: 86400 seconds hold"],
    check: ({ issuedTokens }) => assert.equal(issuedTokens.lifetimeSeconds, 86400),
  },
  "with an empty choice": {
    lines: [
      `${SOURCES}.order=FILE`,
      `${SOURCES}.FILE.class=eu.unicore.services.aip.file.FileAttributeSource`,
      `${SOURCES}.FILE.file=conf/map.json`,
      `${SOURCES}.FILE.matching=`,
    ],
    files: { "conf/map.json": "{}" },
    warnings: ["FILE.matching = : empty; the service uses strict"],
  },
  "without any gateway key": {
    lines: ["container.security.sessionsEnabled=true"],
    warnings: [
      "sessionsEnabled: ignored",
      "sessionsEnabled: a key of the Java service, where container.security.gateway.enable is true by default; in this service it is false",
    ],
    check: ({ gateway }) => assert.equal(gateway.enabled, false),
  },
  "with an OpenSSL truststore directory": {
    lines: [
      "-container.security.truststore.directoryLocations.1",
      "container.security.truststore.type=openssl",
    ],
    check: ({ truststore }) => assert.equal(truststore?.origin.key, "container.security.truststore.type"),
  },
  "with several addresses of its own": {
    lines: ["share.clientIP=192.0.2.1, 192.0.2.2"],
    check: ({ sharing }) => assert.deepEqual(sharing.clientAddresses, ["192.0.2.1", "192.0.2.2"]),
  },
  "with the name of this machine as its own address": {
    lines: ["share.clientIP=localhost"],
    check: ({ sharing }) => assert.deepEqual(sharing.clientAddresses, ["127.0.0.1", "::1"]),
  },
  "with a name as its own address": {
    lines: ["share.clientIP=auth.example"],
    warnings: ["expected IP addresses, without any the address is found out"],
    check: ({ sharing }) => assert.deepEqual(sharing.clientAddresses, []),
  },
  "with keys of its HTTP client": {
    lines: ["container.client.http.allowCircularRedirects=false", "container.client.sslEnabled=true"],
    warnings: ["ignored: the service never follows redirects", "ignored: addresses say"],
  },
  "without timeouts": {
    lines: ["container.client.http.socket.timeout=0", "container.client.http.connection.timeout=0"],
    warnings: [
      "0 means no limit in the Java service; this service uses 20000 milliseconds",
      "0 means no limit in the Java service; this service uses 10000 milliseconds",
    ],
    check: ({ outgoing }) =>
      assert.deepEqual([outgoing.timeoutMs, outgoing.connectTimeoutMs], [20_000, 10_000]),
  },
  "with empty values": {
    lines: [
      "authservice.server.HPC.description=",
      "container.sitename=",
      "container.host=",
      "persistence.directory=",
    ],
    check: ({ servers, site }) =>
      assert.deepEqual([servers[0]?.description, site.name, site.host], ["n/a", "DEMO-SITE", "localhost"]),
  },
  "with unknown server names in share.servers": {
    lines: ["share.servers=HPC OTHER", "persistence.directory=data"],
    warnings: ["expected names from authservice.servers; ignored: OTHER"],
    check: ({ sharing }) => assert.deepEqual(sharing.servers, ["HPC"]),
  },
  "with server names that have no settings": {
    lines: ["authservice.servers=HPC MISSING"],
    warnings: ["MISSING has no settings and is ignored; expected authservice.server.MISSING.host"],
    check: ({ servers }) => assert.deepEqual(servers.map(({ name }) => name), ["HPC"]),
  },
  "with a duplicate name in an order": {
    lines: [`${REST}.order=SSHKEY SSHKEY`],
    warnings: ["SSHKEY appears twice; the first one applies"],
    check: ({ authentication }) =>
      assert.deepEqual(authentication.authenticators.map(({ name }) => name), ["SSHKEY"]),
  },
  "with only the class and address of an identity provider": {
    lines: OAUTH,
    warnings: [
      "users are known by the e-mail address that the server tells, expected " +
      `${REST}.OAUTH.identityAssign="UID="+email`,
      "tokens that others got from this provider log in here",
    ],
    check: ({ authentication: { authenticators: [authenticator] } }) =>
      assert.equal(
        authenticator !== undefined && "dnTemplate" in authenticator && authenticator.dnTemplate,
        "UID=%email",
      ),
  },
  "with an identity provider on this machine without TLS": {
    lines: [
      ...OAUTH.slice(0, 2),
      `${REST}.OAUTH.address=http://127.0.0.1:8080/userinfo`,
      `${REST}.OAUTH.identityAssign="UID="+sub`,
    ],
    warnings: ["not encrypted; acceptable only on this machine", "tokens that others got"],
  },
  "with a permitted identity provider elsewhere without TLS": {
    lines: [
      ...OAUTH.slice(0, 2),
      `${REST}.OAUTH.address=http://idp.example/userinfo`,
      `${REST}.OAUTH.identityAssign="UID="+sub`,
      `${REST}.OAUTH.allowPlainHttp=true`,
    ],
    warnings: ["anyone on the network path can read passwords and tokens", "tokens that others got"],
  },
  "with an XUUDB on this machine without TLS": {
    lines: [...XUUDB, `${SOURCES}.XUUDB.xuudbHost=http://localhost`],
    warnings: ["not encrypted; acceptable only on this machine"],
    check: ({ attributes: { sources: [source] } }) =>
      assert.equal(source !== undefined && "address" in source && source.address, "http://localhost:34463"),
  },
};

const TRUST = "container.security.truststore";

Deno.test("loadConfiguration() reads the locations of revocation lists, in every mode", async () => {
  for (const mode of ["REQUIRE", "IF_VALID", undefined, "IGNORE"] as const) {
    const lines = [`${TRUST}.crlLocations.1=conf/crl/*.pem`, `${TRUST}.crlLocations.2=/etc/crl/a.der`];
    const { config, errors, warnings } = await loadText(
      withLines([...lines, ...(mode === undefined ? [] : [`${TRUST}.crlMode=${mode}`])]),
    );
    assert.deepEqual([errors, warnings], [[], []]);
    const { revocation } = config?.truststore ?? {};
    assert.equal(revocation?.mode, mode === "IGNORE" ? undefined : mode ?? "IF_VALID");
    if (mode !== "IGNORE") assert.deepEqual(revocation?.locations, ["/conf/crl/*.pem", "/etc/crl/a.der"]);
  }
});

Deno.test("loadConfiguration() reports which revocation lists are not read", async () => {
  const { warnings } = await loadText(withLines([`${TRUST}.crlLocations.1=http://ca.example/ca.crl`]));
  assert.match(
    warnings.join("\n"),
    /crlLocations\.1 = http:\S+: ignored: revocation lists are read from files only/,
  );
  const issuers = "container.security.trustedAssertionIssuers";
  const { errors } = await loadText(
    withLines([`${issuers}.directoryLocations.1=conf/idp.pem`, `${issuers}.crlMode=REQUIRE`]),
  );
  assert.match(
    errors.join("\n"),
    /the service checks revocation lists for clients and daemons only, expected IGNORE/,
  );
});

function withLines(lines: readonly string[]): string {
  const keys = lines.map((line) => line.replace(/^-/, "").split("=")[0]);
  const others = MINIMAL.trimEnd().split("\n").filter((line) => !keys.includes(line.split("=")[0]));
  return [...others, ...lines.filter((line) => !line.startsWith("-"))].join("\n") + "\n";
}

for (const [how, { lines, files, warnings = [], check }] of Object.entries(STARTS)) {
  Deno.test(`loadConfiguration() starts like the Java service, ${how}`, async () => {
    const { config, errors, warnings: found } = await loadText(withLines(lines), files);
    assert.deepEqual(errors, []);
    for (const text of warnings) {
      assert(found.some((line) => line.includes(text)), `${text} in ${found.join("\n")}`);
    }
    assert.equal(found.length, warnings.length, found.join("\n"));
    assert(config);
    check?.(config);
  });
}

for (
  const [address, lines] of [
    [`${REST}.OAUTH.address`, [...OAUTH.slice(0, 2), `${REST}.OAUTH.address=http://10.0.0.1/userinfo`]],
    [`${SOURCES}.XUUDB.xuudbHost`, [...XUUDB, `${SOURCES}.XUUDB.xuudbHost=http://xuudb.example`]],
    [`${SOURCES}.XUUDB.xuudbHost`, [...XUUDB, `${SOURCES}.XUUDB.xuudbHost=http://127.0.0.1.example`]],
  ] as const
) {
  Deno.test(`loadConfiguration() refuses ${lines.at(-1)}, and names the key that permits it`, async () => {
    const { errors } = await loadText(withLines(lines));
    const key = address.replace(/\w+$/, "allowPlainHttp");
    assert.match(errors.join("\n"), new RegExp(`${key}=true`));
    assert.equal(errors.length, 1);
  });
}
