import assert from "node:assert/strict";
import { Unity, type UnityParts } from "../../../src/authentication/unity/unity.ts";
import type { UnityConfig } from "../../../src/authentication/unity/keys.ts";
import { createLogger } from "../../../src/logging/logger.ts";
import type { Credentials } from "../../../src/model/credentials.ts";
import type { Identity } from "../../../src/model/identity.ts";
import { RemoteUnavailable } from "../../../src/outgoing/remote_unavailable.ts";
import type { OutgoingHttp } from "../../../src/outgoing/outgoing.ts";
import type { Answer } from "../../identity_provider/https_server.ts";
import {
  basicHeader,
  startUnityProvider,
  type UnityProvider,
} from "../../identity_provider/unity_provider.ts";
import { samlMessage, SHA1_OF_UNITY, signElement } from "../../identity_provider/saml_message.ts";
import { testAuthenticator } from "../conformance.ts";
import { alsoClosing, assignments, AUTHORITY, httpsClient, PROVIDER_TLS } from "../remote_subject.ts";
import { basic, bearer, sshLegacy, unsignedJwt } from "../sample_credentials.ts";
import { assertAlike } from "../../fixtures/assert_alike.ts";

const NOW = Date.UTC(2027, 0, 15, 8);
const SITE = "https://auth.site-a.example:9000";
const SIGNER = AUTHORITY.issue({ subject: "CN=unity", keyType: "rsa-2048" });
const TOKEN = "2YotnFZFEjr1zCsicMWpAA";
const ANN = basic("ann", "sesame: Grüße");

interface Setting {
  readonly provider: UnityProvider;
  readonly time: { now: number };
  readonly lines: string[];
  readonly subject: Unity;
  /** Returns the result as `kind` or as reason. */
  ask(credentials: Credentials): Promise<string>;
  identity(credentials: Credentials): Promise<Identity>;
  close(): Promise<void>;
}

async function start(
  config: Partial<UnityConfig> = {},
  parts: Partial<UnityParts> = {},
  timeoutMs = 10_000,
): Promise<Setting> {
  const time = { now: NOW };
  const provider = await startUnityProvider({
    tls: PROVIDER_TLS,
    signer: SIGNER,
    url: SITE,
    now: () => time.now,
  });
  provider.known.add(basicHeader("ann", "sesame: Grüße")).add(`Bearer ${TOKEN}`);
  const lines: string[] = [];
  const http = httpsClient({ timeoutMs });
  const kind = config.kind ?? "UnitySAMLAuthenticator";
  const subject = new Unity({
    kind,
    name: "SUBJECT",
    address: provider.address,
    validate: true,
    nameIdFormat: "X509SubjectName",
    identityTemplate: undefined,
    assignments: assignments({ uid: "preferredUsername", groups: "memberOf" }),
    showCertificate: false,
    derivedLifetime: 28_800,
    ...config,
  }, {
    http,
    clock: () => time.now,
    sharedClock: () => time.now - 600_000,
    elapsed: () => time.now,
    log: createLogger((line) => lines.push(line), { threshold: "debug" }),
    url: SITE,
    additionalIdentifiers: [],
    serverDn: "CN=auth.site-a.example,O=Site-A,C=DE",
    issuers: () => [SIGNER.certificate],
    anchors: () => [AUTHORITY.certificate],
    ...parts,
  });
  const result = (credentials: Credentials) =>
    subject.authenticate(credentials, new AbortController().signal);
  return {
    provider,
    time,
    lines,
    subject,
    async ask(credentials) {
      const answer = await result(credentials);
      return answer.kind === "refused" ? answer.reason : answer.kind;
    },
    async identity(credentials) {
      const answer = await result(credentials);
      assert.ok(answer.kind === "accepted", JSON.stringify(answer));
      return answer.identity;
    },
    async close() {
      subject.close();
      http.close();
      await provider[Symbol.asyncDispose]();
    },
  };
}

Deno.test("Unity sends no user name in a spelling that login throttling would count as another user", async () => {
  await within(start(), async ({ ask, provider }) => {
    for (const user of ["ann ", "\uFF21nn", "an\u200bn"]) {
      assert.match(await ask(basic(user, "sesame: Grüße")), /^the user name has /);
    }
    assert.equal(provider.server.seen.length, 0);
  });
});

async function within(setting: Promise<Setting>, run: (setting: Setting) => Promise<void>): Promise<void> {
  const started = await setting;
  try {
    await run(started);
  } finally {
    await started.close();
  }
}

const KINDS = {
  UnitySAMLAuthenticator: {
    good: ANN,
    bad: {
      "a wrong password": basic("ann", "open"),
      "an unknown user": basic("bob", "sesame: Grüße"),
      "an empty password": basic("ann", ""),
      "an empty user name": basic("", "sesame"),
    },
    foreign: { "a token": bearer(TOKEN), "a legacy SSH header": sshLegacy("ann") },
  },
  UnityOAuthAuthenticator: {
    good: bearer(TOKEN),
    bad: {
      "an unknown token": bearer("unknown"),
      "an empty token": bearer(""),
      "a token with a line end": bearer("a\r\nX-Evil: 1"),
      "a token that is too long": bearer("a".repeat(32_769)),
    },
    foreign: {
      "name and password": ANN,
      "a legacy SSH header": sshLegacy("ann"),
      "an SSH token": bearer(unsignedJwt({ sub: "ann", iss: "ann" })),
      "a token of ours": bearer(unsignedJwt({ sub: "CN=ann", iss: "CN=auth", etd: true })),
    },
  },
} as const;

for (const kind of ["UnitySAMLAuthenticator", "UnityOAuthAuthenticator"] as const) {
  const create = async () => {
    const { subject, close } = await start({ kind });
    return alsoClosing(subject, () => void close());
  };
  testAuthenticator({
    name: kind,
    method: "UNITY-SAML",
    create,
    ...KINDS[kind],
    async broken() {
      const { subject, provider, close } = await start({ kind });
      provider.fault = (_request, response) => response.writeHead(503).end();
      return alsoClosing(subject, () => void close());
    },
  });

  Deno.test(`${kind} makes an identity from the assertion`, () =>
    within(start({ kind }), async ({ identity }) => {
      assertAlike(await identity(KINDS[kind].good), {
        dn: "CN=Ann Example,O=Site-A,C=DE",
        method: "UNITY-SAML",
        via: "SUBJECT",
        uid: "ann",
        groups: ["hpc", "lab2"],
        proved: Math.floor(NOW / 1000) - 600,
      });
    }));
}

Deno.test("Unity sends the request as Unity expects it", () =>
  within(start({}, { url: "https://auth.example/A?b=1&c" }), async ({ ask, provider }) => {
    provider.lie = { url: "https://auth.example/A?b=1&#38;c" };
    assert.equal(await ask(ANN), "accepted");
    const [seen] = provider.server.seen;
    assert.equal(seen?.method, "POST");
    assert.equal(seen?.headers["content-type"], "text/xml; charset=UTF-8");
    assert.equal(seen?.headers.soapaction, '"http://www.oasis-open.org/committees/security"');
    assert.equal(seen?.headers.authorization, basicHeader("ann", "sesame: Grüße"));
    const id = /ID="(_[0-9a-f]{40})"/.exec(seen?.body ?? "")?.[1];
    assert.notEqual(id, undefined);
    assert.equal(
      seen?.body,
      '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>' +
        `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${id}" Version="2.0"` +
        ' IssueInstant="2027-01-15T08:00:00Z" AssertionConsumerServiceURL="https://auth.example/A?b=1&#38;c">' +
        '<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"' +
        ' Format="urn:oasis:names:tc:SAML:2.0:nameid-format:entity">https://auth.example/A?b=1&#38;c</saml:Issuer>' +
        '<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:1.1:nameid-format:X509SubjectName" AllowCreate="true"/>' +
        "</samlp:AuthnRequest></soap:Body></soap:Envelope>",
    );
  }));

Deno.test("Unity requests names in the configured format, and makes distinguished names from them", () =>
  within(
    start({ nameIdFormat: "unspecified", identityTemplate: "CN=%NameID%,O=%Issuer%" }),
    async ({ identity, provider }) => {
      provider.lie = {
        nameId: "ann",
        edit: (xml) => xml.replace("nameid-format:X509SubjectName", "nameid-format:unspecified"),
      };
      assert.equal((await identity(ANN)).dn, "CN=ann,O=https://unity.site-a.example:2443/idp");
      assert.match(
        provider.server.seen[0]?.body ?? "",
        /<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"/,
      );
    },
  ));

Deno.test("Unity sends each request with a new ID", () =>
  within(start(), async ({ ask, provider, time }) => {
    await ask(ANN);
    time.now += 600_000;
    await ask(ANN);
    const ids = provider.server.seen.map(({ body }) => /ID="([^"]*)"/.exec(body)?.[1]);
    assert.equal(new Set(ids).size, 2);
  }));

Deno.test("Unity sends no empty user name or password", () =>
  within(start(), async ({ ask, provider }) => {
    await ask(basic("ann", ""));
    await ask(basic("", "x"));
    assert.equal(provider.server.seen.length, 0);
  }));

Deno.test("Unity refuses a response to an earlier request", () =>
  within(start(), async ({ ask, provider, lines }) => {
    provider.lie = { requestId: "_earlier" };
    assert.match(await ask(ANN), /to another request/);
    assert.match(lines.join("\n"), /warn .*identity provider rejected/);
  }));

Deno.test("Unity accepts SHA-1, with which its servers sign, only over TLS or on this machine, and warns once", async () => {
  const requestOf = (body = "") => /<samlp:AuthnRequest [^>]*\bID="([^"]+)"/.exec(body)?.[1] ?? "";
  const sign = (xml: string) => signElement(xml, { signer: SIGNER, ...SHA1_OF_UNITY });
  const http: OutgoingHttp = {
    send: async ({ body }) => {
      const said = { requestId: requestOf(body), url: SITE, now: NOW, sign };
      return { status: 200, headers: {}, body: await samlMessage(said, SIGNER) };
    },
  };
  const refused = "SHA-1 is accepted over TLS only: expected an https:// address";
  for (
    const [address, outcome, warnings] of [
      ["https://unity.example/soap", "accepted", 1],
      ["HTTPS://unity.example/soap", "accepted", 1],
      ["http://127.0.0.1:2080/soap", "accepted", 1],
      ["http://unity.example/soap", refused, 0],
    ] as const
  ) {
    await within(start({ address }, { http }), async ({ ask, lines }) => {
      assert.equal(await ask(ANN), outcome, address);
      assert.equal(await ask(basic("bob", "another")), outcome, address);
      assert.equal(lines.filter((line) => /warn .*signs with SHA-1/.test(line)).length, warnings, address);
    });
  }
});

Deno.test("Unity verifies assertions against the current trusted issuers", () => {
  const issuers = { now: [SIGNER.certificate] };
  return within(start({}, { issuers: () => issuers.now }), async ({ ask, time }) => {
    assert.equal(await ask(ANN), "accepted");
    issuers.now = [];
    time.now += 600_000;
    assert.match(await ask(ANN), /not among the trusted/);
  });
});

Deno.test("Unity without trusted issuers refuses all users, and warns at the start", () =>
  within(start({}, { issuers: () => [] }), async ({ ask, lines }) => {
    assert.match(lines.join("\n"), /no trusted issuers/);
    assert.match(await ask(ANN), /not among the trusted/);
  }));

Deno.test("Unity with validate=false accepts an unsigned assertion, and warns at the start", () =>
  within(start({ validate: false }), async ({ ask, provider, lines }) => {
    provider.lie = { sign: (xml) => Promise.resolve(xml) };
    assert.match(lines.join("\n"), /SIGNATURES OF ASSERTIONS ARE NOT REQUIRED/);
    assert.equal(await ask(ANN), "accepted");
  }));

Deno.test("Unity asks again after five minutes, or when the assertion expires before", async () => {
  const lifetimes: [Parameters<typeof start>[0], string | undefined, number][] = [
    [{}, undefined, 300_000],
    [{}, "2027-01-15T08:02:00Z", 120_000],
  ];
  for (const [config, end, lifetime] of lifetimes) {
    await within(start(config), async ({ ask, provider, time }) => {
      if (end !== undefined) {
        provider.lie = { edit: (xml) => xml.replace(/(NotBefore="[^"]*" NotOnOrAfter=")[^"]*/, `$1${end}`) };
      }
      assert.equal(await ask(ANN), "accepted");
      time.now += lifetime - 1;
      assert.equal(await ask(ANN), "accepted");
      assert.equal(provider.server.seen.length, 1);
      time.now += 1;
      await ask(ANN);
      assert.equal(provider.server.seen.length, 2);
    });
  }
});

Deno.test("Unity does not cache an assertion with OneTimeUse", () =>
  within(start(), async ({ ask, provider }) => {
    provider.lie = {
      edit: (xml) => xml.replace("</saml:Conditions>", "<saml:OneTimeUse/></saml:Conditions>"),
    };
    assert.equal(await ask(ANN), "accepted");
    assert.equal(await ask(ANN), "accepted");
    assert.equal(provider.server.seen.length, 2);
  }));

Deno.test("Unity distinguishes users whose user name and password concatenate to the same text", () =>
  within(start(), async ({ ask, provider }) => {
    provider.known.add(basicHeader("a", "bc"));
    assert.equal(await ask(basic("a", "bc")), "accepted");
    assert.match(await ask(basic("ab", "c")), /status 401/);
  }));

Deno.test("Unity treats a SOAP fault as a refusal, not as an outage", () =>
  within(start(), async ({ ask, provider, subject }) => {
    provider.fault = (_request, response) =>
      response.writeHead(500).end(
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault>' +
          "<faultcode>soap:Server</faultcode></soap:Fault></soap:Body></soap:Envelope>",
      );
    assert.equal(await ask(ANN), "the provider answered with a SOAP fault");
    assert.equal(subject.status().up, true);
  }));

Deno.test("Unity treats status 400, Keycloak's answer about unknown users, as a refusal of this caller only", () =>
  within(start(), async ({ ask, provider, subject }) => {
    provider.fault = (_request, response) => response.writeHead(400).end("<html>We are sorry</html>");
    for (let i = 0; i < 5; i++) {
      assert.equal(
        await ask(basic(`nobody${i}`, "x", `192.0.2.${i}`)),
        "the provider answered with status 400",
      );
    }
    assert.equal(subject.status().up, true);
    provider.fault = undefined;
    assert.equal(await ask(ANN), "accepted");
  }));

const OUTAGES: [string, Answer][] = [
  ["status 500 without fault", (_request, response) => response.writeHead(500).end("<html>")],
  [
    "status 502 and a whole message",
    (_request, response) =>
      response.writeHead(502)
        .end('<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body/></s:Envelope>'),
  ],
  ["status 404", (_request, response) => response.writeHead(404).end()],
  [
    "a redirect",
    (_request, response) => response.writeHead(307, { Location: "https://evil.example/" }).end(),
  ],
  ["a web page", (_request, response) => response.end("<html><body>Back soon</body></html>")],
  [
    "half a message",
    (_request, response) =>
      response.end('<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Bod'),
  ],
  ["nothing", (_request, response) => response.end()],
  ["silence", () => {}],
  ["a cut connection", (_request, response) => response.destroy()],
  ["a huge body", (_request, response) => response.end("x".repeat(1024 * 1024 + 1))],
];
for (const [what, fault] of OUTAGES) {
  Deno.test(`Unity is out of order if the provider answers with ${what}`, () =>
    within(start({}, {}, what === "silence" ? 300 : 5_000), async ({ ask, provider, time }) => {
      provider.fault = fault;
      await assert.rejects(ask(ANN), RemoteUnavailable);
      provider.fault = undefined;
      // A busy machine may itself be too slow for the short timeout.
      const again = () => ask(ANN).catch((error) => assert.ok(error instanceof RemoteUnavailable));
      for (let result, tries = 0; result !== "accepted" && tries < 100; tries++) {
        time.now += 60_000;
        result = await again();
      }
      assert.equal(await ask(ANN), "accepted");
    }));
}

Deno.test("Unity answers right and wrong passwords alike after the provider left a guess unanswered", () =>
  within(start(), async ({ ask, provider }) => {
    await ask(ANN);
    provider.fault = (_request, response) => response.destroy();
    assert.equal(await ask(ANN), "accepted");
    for (const credentials of [basic("ann", "guess"), ANN]) {
      await assert.rejects(ask(credentials), RemoteUnavailable);
    }
  }));

Deno.test("Unity logs no password", () =>
  within(start(), async ({ ask, provider, lines }) => {
    await ask(ANN);
    await ask(basic("ann", "wrong-password"));
    provider.fault = (_request, response) => response.destroy();
    await assert.rejects(ask(basic("ann", "third-password")));
    assert.doesNotMatch(lines.join("\n"), /sesame|wrong-password|third-password|Basic /);
  }));

Deno.test("Unity with tokens says what is wrong with a malformed token, and does not send it to the provider", () =>
  within(start({ kind: "UnityOAuthAuthenticator" }), async ({ ask, provider }) => {
    provider.known.add("Bearer abc.e30.AAAA");
    assert.equal(await ask(bearer("abc.e30.AAAA")), "the head of the token is no JSON object");
  }));
