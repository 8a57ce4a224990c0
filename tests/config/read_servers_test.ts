import assert from "node:assert/strict";
import { type Loaded, loadText } from "./load_fixture.ts";

const REST = `container.security.credential.path=conf/host.pem
container.security.truststore.directoryLocations.1=conf/ca/*.pem
container.security.rest.authentication.order=SSHKEY
`;

/** Line of the first server setting. */
const FIRST = REST.split("\n").length;

/** Returns the lines of configuration for a daemon. */
function daemon(prefix: string): string[] {
  return ["host=192.0.2.1", "port=1", "commandHost=10.0.0.1", "commandPort=2"].map((line) =>
    `authservice.server.${prefix}.${line}`
  );
}

function load(...lines: string[]): Promise<Loaded> {
  return loadText(REST + lines.join("\n"));
}

async function errorsOf(...lines: string[]): Promise<readonly string[]> {
  return (await load(...lines)).errors.map((error) =>
    error.replace(/^conf\/c:(\d+)/, (_, n) => `${+n - FIRST + 1}`)
  );
}

Deno.test("readServers() reads servers in order, with any separators between names", async () => {
  const { config, errors } = await load("authservice.servers=C | A\t,B", ...["A", "B", "C"].flatMap(daemon));
  assert.deepEqual(errors, []);
  assert.deepEqual(config?.servers.map(({ name, description }) => [name, description]), [
    ["C", "n/a"],
    ["A", "n/a"],
    ["B", "n/a"],
  ]);
});

Deno.test("readServers() reads ten or more daemons in numerical order", async () => {
  const numbers = Array.from({ length: 11 }, (_, index) => index + 1);
  const lines = numbers.toReversed().flatMap((number) => [
    `authservice.server.A.${number}.host=10.0.0.${number}`,
    ...daemon(`A.${number}`).slice(1),
  ]);
  const { config, errors } = await load("authservice.servers=A", ...lines);
  assert.deepEqual(errors, []);
  assert.deepEqual(
    config?.servers[0]?.instances.map(({ host }) => host),
    numbers.map((number) => `10.0.0.${number}`),
  );
});

Deno.test("readServers() reads a pinned subject for one daemon, or for a whole group", async () => {
  const { config } = await load(
    "authservice.servers=A B",
    ...daemon("A"),
    "authservice.server.A.sslExpectedDN=CN=a",
    ...daemon("B.1"),
    ...daemon("B.2"),
    "authservice.server.B.sslExpectedDN=CN=b",
    "authservice.server.B.2.sslExpectedDN=CN=b2",
  );
  assert.deepEqual(config?.servers.map(({ instances }) => instances.map(({ expectedDn }) => expectedDn)), [
    ["CN=a"],
    ["CN=b", "CN=b2"],
  ]);
});

Deno.test("readServers() reads reservations", async () => {
  const { config, errors } = await load(
    "authservice.servers=A",
    ...daemon("A"),
    "authservice.server.A.reservations.enable=true",
    "authservice.server.A.reservations.file=conf/later.json",
    "authservice.server.A.reservations.timezone=europe/berlin",
  );
  assert.deepEqual(errors, []);
  assert.deepEqual(config?.servers[0]?.reservations, { file: "/conf/later.json", timeZone: "Europe/Berlin" });
});

Deno.test("readServers() needs no certificates if nothing speaks TLS", async () => {
  const lines = ["authservice.servers=A", ...daemon("A"), "authservice.server.A.ssl=false"];
  const { config, errors } = await loadText(["container.security.sslEnabled=false", ...lines].join("\n"));
  assert.deepEqual(errors, []);
  assert.equal(config?.credential, undefined);
  assert.equal(config?.truststore, undefined);
  assert.equal((await loadText(lines.join("\n"))).errors.length, 2);
});

Deno.test("readServers() warns if there is no server", async () => {
  const { config, warnings } = await load();
  assert.deepEqual(config?.servers, []);
  assert.deepEqual(warnings, [
    "conf/c: authservice.servers: no transfer server is configured, expected at least one name",
  ]);
});

const NAMES: [name: string, expected: string][] = [
  ["client", "expected another name than client, which has a meaning of its own in answers and addresses"],
  ["server", "expected another name than server, which has a meaning of its own in answers and addresses"],
  ["token", "expected another name than token, which has a meaning of its own in answers and addresses"],
  [
    "certificate",
    "expected another name than certificate, which has a meaning of its own in answers and addresses",
  ],
  ["HPC-1", "expected names without -, which stands between name and number of a daemon, not HPC-1"],
  ["H/C", "expected names of up to 64 letters, digits, _ and ., not H/C"],
  ["H%2F", "expected names of up to 64 letters, digits, _ and ., not H%2F"],
  ["Größe", "expected names of up to 64 letters, digits, _ and ., not Größe"],
  [".x", "expected names of up to 64 letters, digits, _ and ., not .x"],
];

for (const [name, expected] of NAMES) {
  Deno.test(`readServers() refuses the name ${name}`, async () => {
    assert.deepEqual(await errorsOf(`authservice.servers=${name}`, ...daemon(name)), [
      `1: authservice.servers = ${name}: ${expected}`,
    ]);
  });
}

Deno.test("readServers() treats hostile names as ordinary ones", async () => {
  const names = ["__proto__", "constructor", "toString"];
  const { config, errors } = await load(`authservice.servers=${names.join(" ")}`, ...names.flatMap(daemon));
  assert.deepEqual(errors, []);
  assert.deepEqual(config?.servers.map(({ name }) => name), names);
});

const BAD: [what: string, lines: string[], errors: string[]][] = [
  ["a server without settings", ["authservice.servers=A"], [
    "1: authservice.server.A.host: missing, expected a host name or an IP address, without port, or several with " +
    "blanks or commas between",
    "1: authservice.server.A.commandHost: missing, expected a host name or an IP address, without port",
    "1: authservice.server.A.commandPort: missing, expected a port number from 1 to 65535",
  ]],
  ["a server without command socket", ["authservice.servers=A", ...daemon("A").slice(0, 2)], [
    "2: authservice.server.A.commandHost: missing, expected a host name or an IP address, without port",
    "2: authservice.server.A.commandPort: missing, expected a port number from 1 to 65535",
  ]],
  ["a numbered daemon without command port", [
    "authservice.servers=A",
    ...daemon("A.1").filter((line) => !/\.commandPort/.test(line)),
  ], [
    "2: authservice.server.A.1.commandPort: missing, expected a port number from 1 to 65535",
  ]],
  ["a list of hosts with a port", [
    "authservice.servers=A",
    "authservice.server.A.host=a, b:1",
    ...daemon("A").slice(1),
  ], [
    "2: authservice.server.A.host = a, b:1: expected a host name or an IP address, without port, or several with " +
    "blanks or commas between",
  ]],
  ["a server both numbered and not", [
    "authservice.servers=A",
    ...daemon("A.1"),
    "authservice.server.A.host=a",
  ], [
    "6: authservice.server.A.host = a: expected A to have either this key or numbered ones such as " +
    "authservice.server.A.1.host",
  ]],
  ["numbers that begin with 0", ["authservice.servers=A", ...daemon("A.0")], [
    "2: authservice.server.A.0.host: expected numbers that count from 1, authservice.server.A.1. is missing",
  ]],
  ["a number with leading zero", ["authservice.servers=A", ...daemon("A.01")], [
    "2: authservice.server.A.01.host: expected numbers that count from 1, authservice.server.A.1. is missing",
  ]],
  ["a name that extends another one", ["authservice.servers=A A.1", ...daemon("A"), ...daemon("A.1")], [
    "1: authservice.servers = A A.1: expected names of which none continues another after a dot, as A.1 does A",
    "2: authservice.server.A.host = 192.0.2.1: expected A to have either this key or numbered ones such as " +
    "authservice.server.A.1.host",
  ]],
];

for (const [what, lines, errors] of BAD) {
  Deno.test(`readServers() refuses ${what}`, async () => {
    assert.deepEqual(await errorsOf(...lines), errors);
  });
}

Deno.test("readServers() reads what a server requires of logins", async () => {
  const { config, errors } = await load(
    "authservice.servers=A B",
    ...daemon("A"),
    "authservice.server.A.methods=SSHKEY",
    "authservice.server.A.maxAuthAge=600",
    "authservice.server.A.networks=192.0.2.0/24, 2001:db8::/32",
    ...daemon("B.1"),
    "authservice.server.B.requiredAcr=mfa",
  );
  assert.deepEqual(errors, []);
  assert.deepEqual(config?.servers.map(({ logins }) => logins), [
    { methods: ["SSHKEY"], requiredAcr: [], maxAuthAge: 600, networks: ["192.0.2.0/24", "2001:db8::/32"] },
    { methods: [], requiredAcr: ["mfa"], networks: [] },
  ]);
});

for (
  const [line, expected] of [
    ["methods=SSHKEY OAUTH", /expected methods out of SSHKEY, not OAUTH/],
    ["methods=sshkey", /expected methods out of SSHKEY, not sshkey/],
    ["maxAuthAge=0", /maxAuthAge = 0: /],
    ["maxAuthAge=1h", /maxAuthAge = 1h: /],
    ["networks=everywhere", /ranges such as 192\.0\.2\.0\/24, not everywhere/],
  ] as const
) {
  Deno.test(`readServers() refuses ${line} of a server`, async () => {
    const [error = "", ...more] = await errorsOf(
      "authservice.servers=A",
      ...daemon("A"),
      `authservice.server.A.${line}`,
    );
    assert.match(error, expected);
    assert.deepEqual(more, []);
  });
}

Deno.test("readServers() warns about a login class that no method of a server reports", async () => {
  const { warnings } = await load(
    "authservice.servers=A",
    ...daemon("A"),
    "authservice.server.A.requiredAcr=mfa",
  );
  assert.match(warnings.join("\n"), /requiredAcr = mfa: no login by SSHKEY meets it/);
});
