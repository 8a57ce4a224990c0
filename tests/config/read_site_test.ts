import assert from "node:assert/strict";
import { externalUrlAt } from "../../src/config/external_url.ts";
import { ROUTES } from "../service/http/every_route.ts";
import { loadText, MINIMAL } from "./load_fixture.ts";

const URLS: [what: string, lines: string[], url: string][] = [
  ["host and port", ["container.host=a.example", "container.port=9000"], "https://a.example:9000"],
  ["an IPv6 address", ["container.host=2001:db8::1", "container.port=9000"], "https://[2001:db8::1]:9000"],
  ["this machine's name", ["container.host=0.0.0.0", "container.port=9000"], "https://machine.example:9000"],
  [
    "this machine's name for IPv6",
    ["container.host=::", "container.port=9000"],
    "https://machine.example:9000",
  ],
  ["plain HTTP", ["container.host=a", "container.security.sslEnabled=false"], "http://a:7777"],
  ["the site behind a gateway", [
    "container.host=a",
    "container.sitename=AUTH",
    "container.security.gateway.enable=true",
  ], "https://a:7777/AUTH"],
  ["no site without a gateway", ["container.sitename=AUTH"], "https://localhost:7777"],
  ["container.externalurl", ["container.externalurl=https://gw:8080/AUTH"], "https://gw:8080/AUTH"],
  [
    "container.externalurl without trailing slashes",
    ["container.externalurl=https://gw:8080/AUTH//"],
    "https://gw:8080/AUTH",
  ],
  ["container.baseurl", ["container.baseurl=https://gw:8080/AUTH/services"], "https://gw:8080/AUTH"],
  [
    "container.baseurl with a longer path",
    ["container.baseurl=https://gw:8080/AUTH/services/x"],
    "https://gw:8080/AUTH",
  ],
  [
    "container.baseurl with a trailing slash",
    ["container.baseurl=gw:8080/AUTH/services/"],
    "https://gw:8080/AUTH",
  ],
  ["container.baseurl without scheme", ["container.baseurl=gw:8080/AUTH/services"], "https://gw:8080/AUTH"],
  ["container.baseurl without services", ["container.baseurl=gw:8080/AUTH/"], "https://gw:8080/AUTH"],
  [
    "a site whose name begins with services",
    ["container.baseurl=gw:8080/servicesite/services"],
    "https://gw:8080/servicesite",
  ],
  ["container.externalurl before container.baseurl", [
    "container.baseurl=b:1/B/services",
    "container.externalurl=https://a:1/A",
  ], "https://a:1/A"],
  ["an ignored empty container.externalurl", ["container.externalurl= "], "https://localhost:7777"],
];

for (const [what, lines, url] of URLS) {
  Deno.test(`readSite() makes the external URL of ${what}`, async () => {
    const { config, errors } = await loadText(MINIMAL + lines.join("\n"));
    assert.deepEqual(errors, []);
    assert.equal(config?.site.externalUrl, url);
  });
}

Deno.test("readSite() refuses a site name that would hide the service's own paths", async () => {
  const errorsOf = async (name: string) => (await loadText(`${MINIMAL}container.sitename=${name}\n`)).errors;
  const parts = ROUTES.map(({ path }) => path.split("/")).filter(({ length }) => length > 2);
  for (const name of new Set(["REST", ...parts.map(([, first = ""]) => first)])) {
    assert.match(
      (await errorsOf(name)).join(),
      /container\.sitename.*expected another name.*would hide/,
      name,
    );
  }
  for (const name of ["resting", "auth"]) {
    assert.doesNotMatch((await errorsOf(name)).join(), /sitename/, name);
  }
});

Deno.test("externalUrlAt() inserts the port that the system chose, unless the URL is configured", () => {
  const site = { name: "A", host: "h", port: 0, externalUrl: "https://h:0/A", externalUrlGiven: false };
  assert.equal(externalUrlAt(site, 4711), "https://h:4711/A");
  assert.equal(externalUrlAt({ ...site, externalUrl: "https://h:0" }, 4711), "https://h:4711");
  assert.equal(externalUrlAt({ ...site, externalUrlGiven: true }, 4711), "https://h:0/A");
});

Deno.test("readFeatures() disables the services of a disabled feature", async () => {
  const features = async (...lines: string[]) =>
    (await loadText(MINIMAL + lines.join("\n"))).config?.features;
  assert.deepEqual(await features(), { auth: true, share: true, access: true, files: false, admin: true });
  assert.deepEqual(await features("container.feature.AuthServer.enable=NO"), {
    auth: false,
    share: true,
    access: true,
    files: false,
    admin: true,
  });
  assert.deepEqual(await features("container.feature.DataSharing.enable=false"), {
    auth: true,
    share: false,
    access: false,
    files: false,
    admin: true,
  });
  assert.deepEqual(await features("container.feature.DataSharing.share.enable=false"), {
    auth: true,
    share: false,
    access: true,
    files: false,
    admin: true,
  });
  for (const key of ["Admin.enable", "Admin.admin.enable"]) {
    assert.equal((await features(`container.feature.${key}=false`))?.admin, false);
  }
});

Deno.test("readHttps() requests client certificates if a method uses them", async () => {
  const asked = async (order: string, ...lines: string[]) => {
    const text = `${MINIMAL}\ncontainer.security.rest.authentication.order=${order}\n${lines.join("\n")}\n`;
    return (await loadText(text)).config?.https.clientCertificate;
  };
  const [none, wanted] = [
    "container.httpServer.wantClientAuthn=false",
    "container.httpServer.wantClientAuthn=true",
  ];
  const gateway = "container.security.gateway.enable=true";
  const required = "container.httpServer.requireClientAuthn=true";
  assert.equal(await asked("X509"), "requested");
  assert.equal(await asked("SSHKEY X509", wanted), "requested");
  assert.equal(await asked("X509", none), "none");
  assert.equal(await asked("SSHKEY"), "none");
  assert.equal(await asked("SSHKEY", wanted), "none");
  assert.equal(await asked("X509", gateway), "none");
  assert.equal(await asked("X509", required, none), "required");
  assert.equal(await asked("SSHKEY", required), "required");
});

Deno.test("readHttps() warns about an allowed origin that matches no request", async () => {
  const warnings = async (origins: string) =>
    (await loadText(`${MINIMAL}container.httpServer.CORS_allowedOrigins=${origins}`)).warnings
      .filter((warning) => warning.includes("CORS_allowedOrigins"));
  for (const right of ["*", "null", "https://a.example", "http://a.example:8080 https://[::1]:8443"]) {
    assert.deepEqual(await warnings(right), [], right);
  }
  for (
    const wrong of [
      "a.example",
      "https://a.example/",
      "https://a.example/path",
      "https://A.example",
      "https://a.example:443",
      "https://*.example",
    ]
  ) {
    const [warning = "", ...others] = await warnings(`https://b.example ${wrong}`);
    assert.deepEqual(others, [], wrong);
    assert.ok(warning.includes(`${wrong} matches no request; expected an origin such as https://`), warning);
  }
});

Deno.test("readHttps() reads the TLS and browser settings", async () => {
  const https = async (...lines: string[]) =>
    (await loadText(MINIMAL + lines.map((line) => `container.httpServer.${line}`).join("\n"))).config?.https;
  assert.equal((await https("disabledProtocols=TLSv1 TLSv1.1 TLSv1.2"))?.minTlsVersion, "TLSv1.3");
  assert.equal((await https("disabledProtocols=tlsv1.3"))?.maxTlsVersion, "TLSv1.2");
  assert.equal((await https())?.cors, undefined);
  assert.deepEqual(
    (await https("enableCORS=true", "CORS_allowedOrigins=https://a.example,https://b.example"))?.cors,
    {
      origins: ["https://a.example", "https://b.example"],
      methods: ["GET", "PUT", "POST", "DELETE", "HEAD"],
      requestHeaders: ["*"],
      exposedHeaders: ["Location", "Content-Type"],
    },
  );
});

Deno.test("readLogging() logs to a file, unless the console is enough", async () => {
  const file = async (...lines: string[]) =>
    (await loadText(MINIMAL + lines.join("\n"))).config?.logging.file;
  assert.equal(await file(), "/logs/authserver.log");
  assert.equal(await file("container.logging.file=other.log"), "/other.log");
  assert.equal(await file("container.logging.file=-"), undefined);
});

Deno.test("loadConfiguration() puts the audit file beside the log, unless configured otherwise", async () => {
  const audit = async (...lines: string[]) => (await loadText(MINIMAL + lines.join("\n"))).config?.audit;
  assert.deepEqual(await audit(), { to: "file", path: "/logs/audit.log", required: false });
  assert.deepEqual(await audit("container.logging.file=/var/log/x.log"), {
    to: "file",
    path: "/var/log/audit.log",
    required: false,
  });
  assert.deepEqual(await audit("container.logging.file=-"), { to: "console", required: false });
  assert.deepEqual(await audit("container.audit.file=a.log"), {
    to: "file",
    path: "/a.log",
    required: false,
  });
  assert.deepEqual(await audit("container.audit.file=-"), { to: "console", required: false });
  assert.deepEqual(await audit("container.audit.file=/dev/null\ncontainer.logging.file=/dev/null"), {
    to: "file",
    path: "/dev/null",
    required: false,
  });
  const journal = await audit("container.audit.journal=true", "\ncontainer.audit.required=true");
  assert.deepEqual(journal, { to: "journal", required: true });
  const address = "tls://logs.example:6514";
  assert.deepEqual(await audit(`container.audit.syslog=${address}`), {
    to: "syslog",
    address,
    required: false,
  });
});

Deno.test("readMetrics() is off unless there is a port", async () => {
  const metrics = async (...lines: string[]) =>
    (await loadText(MINIMAL + lines.join("\n"))).config?.metrics.listen;
  assert.equal(await metrics("container.metrics.host=::1"), undefined);
  assert.deepEqual(await metrics("container.metrics.port=9100"), { host: "127.0.0.1", port: 9100 });
});

const HSTS: [what: string, lines: string[], expected: unknown][] = [
  ["for its host, by default", [], { maxAgeSeconds: 31_536_000, includeSubDomains: false }],
  ["for as long as configured", ["container.httpServer.hstsMaxAge=300"], {
    maxAgeSeconds: 300,
    includeSubDomains: false,
  }],
  ["for subdomains if configured", ["container.httpServer.enableHsts=true"], {
    maxAgeSeconds: 31_536_000,
    includeSubDomains: true,
  }],
  ["not if disabled", ["container.httpServer.enableHsts=false"], undefined],
  ["not behind a gateway", ["container.security.gateway.enable=true"], undefined],
  ["not without TLS", ["container.security.sslEnabled=false"], undefined],
];
for (const [what, lines, expected] of HSTS) {
  Deno.test(`readHttps() makes browsers use HTTPS only ${what}`, async () => {
    const { config } = await loadText([MINIMAL, ...lines].join("\n"));
    assert.deepEqual(config?.https.hsts, expected);
  });
}
