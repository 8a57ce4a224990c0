import assert from "node:assert/strict";
import { basename } from "node:path";
import { watchConfiguration } from "../../../src/command/serving/running_service.ts";
import { KINDS } from "../../../src/service/kinds.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import type { ServiceConfig } from "../../../src/config/service_config.ts";
import { MINIMAL } from "../../config/load_fixture.ts";

const FILES = {
  credential: ["cert", "key"],
  truststore: ["ca"],
  clients: ["of clients"],
  providers: ["of providers"],
  daemons: [["of HPC"]],
  assertionIssuers: ["idp"],
};

async function load(lines: string): Promise<ServiceConfig> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/c`, `${MINIMAL}${lines}\n`, { mode: 0o600 });
    for (const file of ["gateway.pem", "issuer.pem"]) await Deno.writeTextFile(`${folder}/${file}`, "");
    const { config, diagnostics } = await loadConfiguration("c", {
      kinds: KINDS,
      workingDirectory: folder,
      environment: () => undefined,
    });
    assert.ok(config, JSON.stringify(diagnostics));
    return { ...config, sources: { main: "c", all: ["c"] } };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns the watched files: `<paths> every <seconds>: <action>`. */
function watchesOf(config: ServiceConfig): string[] {
  const found: string[] = [];
  const reload = () => {};
  watchConfiguration(() => ({ config, files: FILES }), {
    reload,
    renewCertificates: () => {},
    failed: () => {},
  }, (
    paths,
    onChange,
    { intervalMs = () => 1000 } = {},
  ) => {
    const then = onChange === reload ? "reload" : "renew";
    const names = paths().map((path) => basename(path)).join(" ");
    if (names !== "") found.push(`${names} every ${intervalMs() / 1000} s: ${then}`);
    return { close: () => {} };
  });
  return found;
}

const ISSUERS = "container.security.trustedAssertionIssuers.directoryLocations.1=conf/idp/*.pem";

const CASES: [what: string, lines: string, expected: readonly string[]][] = [
  ["everything by default", "", [
    "c every 1 s: reload",
    "cert key every 1 s: renew",
    "ca every 600 s: renew",
  ]],
  ["no configuration file without automatic reload", "container.runtimeConfigurationUpdate=false", [
    "cert key every 1 s: renew",
    "ca every 600 s: renew",
  ]],
  ["no own certificate without automatic reload", "container.security.credential.reloadOnChange=false", [
    "c every 1 s: reload",
    "ca every 600 s: renew",
  ]],
  ["trusted certificates at the configured interval", "container.security.truststore.updateInterval=7", [
    "c every 1 s: reload",
    "cert key every 1 s: renew",
    "ca every 7 s: renew",
  ]],
  ["trusted certificates at most once a second", "container.security.truststore.updateInterval=0", [
    "c every 1 s: reload",
    "cert key every 1 s: renew",
    "ca every 1 s: renew",
  ]],
  ["trusted certificates at least once a day", "container.security.truststore.updateInterval=2000000000", [
    "c every 1 s: reload",
    "cert key every 1 s: renew",
    "ca every 86400 s: renew",
  ]],
  ["no trusted certificates after a negative interval", "container.security.truststore.updateInterval=-1", [
    "c every 1 s: reload",
    "cert key every 1 s: renew",
  ]],
  ["SAML issuers, which need a new core", ISSUERS, [
    "c every 1 s: reload",
    "cert key every 1 s: renew",
    "ca every 600 s: renew",
    "idp every 600 s: reload",
  ]],
];

const own = (store: string, seconds: number) =>
  `${store}.directoryLocations.1=conf/own.pem\n${store}.updateInterval=${seconds}\n`;
const CLIENTS = "container.security.clientTruststore";
const PROVIDERS = "container.security.providerTruststore";
const DAEMONS = "authservice.server.HPC.truststore";

CASES.push(
  [
    "each truststore at its configured interval",
    own(CLIENTS, 1200) + own(PROVIDERS, 7) + own(DAEMONS, 90_000) +
    "container.security.truststore.updateInterval=-1",
    [
      "c every 1 s: reload",
      "cert key every 1 s: renew",
      "of clients every 1200 s: renew",
      "of providers every 7 s: renew",
      "of HPC every 86400 s: renew",
    ],
  ],
  ["no truststore with a negative interval", own(CLIENTS, -1) + own(PROVIDERS, -1) + own(DAEMONS, -1), [
    "c every 1 s: reload",
    "cert key every 1 s: renew",
    "ca every 600 s: renew",
  ]],
  [
    "certificates of gateway and issuers of tokens, which need a new core",
    "container.security.gateway.enable=true\ncontainer.security.gateway.certificate=gateway.pem\n" +
    "container.security.rest.jwt.trustedIssuerCert.1=issuer.pem",
    [
      "c every 1 s: reload",
      "gateway.pem issuer.pem every 1 s: reload",
      "cert key every 1 s: renew",
      "ca every 600 s: renew",
    ],
  ],
);

for (const [what, lines, expected] of CASES) {
  Deno.test(`watchConfiguration() watches ${what}`, async () => {
    assert.deepEqual(watchesOf(await load(lines)), expected);
  });
}
