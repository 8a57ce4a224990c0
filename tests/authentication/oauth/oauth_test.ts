import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { jwtVerify } from "jose";
import { OAuth } from "../../../src/authentication/oauth/oauth.ts";
import type { OAuthConfig } from "../../../src/authentication/oauth/oauth_config.ts";
import { createLogger, SILENT } from "../../../src/logging/logger.ts";
import type { Identity } from "../../../src/model/identity.ts";
import { InvalidFile } from "../../../src/model/diagnostic.ts";
import { RemoteUnavailable } from "../../../src/outgoing/remote_unavailable.ts";
import type { Answer } from "../../identity_provider/https_server.ts";
import {
  CLIENT,
  type OidcProvider,
  sendJson,
  startOidcProvider,
} from "../../identity_provider/oidc_provider.ts";
import { OAUTH_CONFIG } from "./oauth_config.ts";
import { testAuthenticator } from "../conformance.ts";
import { alsoClosing, assignments, httpsClient, PROVIDER_TLS } from "../remote_subject.ts";
import { rsa2048 } from "../../pki/signing_key.ts";
import { basic, bearer, NO_CREDENTIALS, sshLegacy, unsignedJwt } from "../sample_credentials.ts";
import { assertAlike } from "../../fixtures/assert_alike.ts";

const GOOD_TOKEN = "2YotnFZFEjr1zCsicMWpAA";
const ANN = { sub: "u1", email: "ann+x@site-a.example", preferred_username: "ann", groups: ["hpc", "users"] };
const NOW = Date.UTC(2027, 0, 15, 8);
/** Lead of this machine's clock over the shared clock, in milliseconds. */
const AHEAD_MS = 600_000;
const PROVED = (NOW - AHEAD_MS) / 1000;

const CONFIG: OAuthConfig = {
  ...OAUTH_CONFIG,
  assignments: assignments({ identity: `"UID="+email`, uid: "preferred_username", groups: "groups" }),
};

interface Setting {
  readonly provider: OidcProvider;
  readonly time: { now: number };
  readonly lines: string[];
  readonly subject: OAuth;
  /** Returns the result for a token, as `kind` or as reason. */
  ask(token: string, signal?: AbortSignal): Promise<string>;
  identity(token?: string): Promise<Identity>;
}

/** Runs a test with an authenticator and its provider. */
async function withProvider(
  config: Partial<OAuthConfig> & { introspect?: boolean; timeoutMs?: number },
  run: (setting: Setting) => Promise<void>,
): Promise<void> {
  const { introspect = false, timeoutMs = 10_000, ...more } = config;
  await using provider = await startOidcProvider(PROVIDER_TLS);
  provider.tokens.set(GOOD_TOKEN, ANN);
  const time = { now: NOW };
  const lines: string[] = [];
  const http = httpsClient({ timeoutMs });
  const address = introspect ? provider.introspection : provider.userinfo;
  const introspection = introspect ? CLIENT : undefined;
  const subject = new OAuth({ ...CONFIG, address, introspection, ...more }, {
    http,
    clock: () => time.now,
    sharedClock: () => time.now - AHEAD_MS,
    elapsed: () => time.now,
    log: createLogger((line) => lines.push(line), { threshold: "debug" }),
  });
  const authenticate = (token: string, signal = new AbortController().signal) =>
    subject.authenticate(bearer(token), signal);
  try {
    await run({
      provider,
      time,
      lines,
      subject,
      async ask(token, signal) {
        const result = await authenticate(token, signal);
        return result.kind === "refused" ? result.reason : result.kind;
      },
      async identity(token = GOOD_TOKEN) {
        const result = await authenticate(token);
        assert.ok(result.kind === "accepted", JSON.stringify(result));
        return result.identity;
      },
    });
  } finally {
    subject.close();
    http.close();
  }
}

Deno.test("OAuth caches no answer beyond the maximum age of the login (maxAuthAge)", async () => {
  await withProvider({ maxAuthAge: 600 }, async ({ provider, time, ask, subject }) => {
    assert.equal(subject.maxAuthAge, 600);
    provider.tokens.set("fresh", { ...ANN, auth_time: NOW / 1000 - 500 });
    assert.equal(await ask("fresh"), "accepted");
    const asked = provider.server.seen.length;
    time.now += 99_999;
    assert.equal(await ask("fresh"), "accepted");
    assert.equal(provider.server.seen.length, asked, "the answer is kept");
    time.now += 2;
    assert.match(await ask("fresh"), /the login is too long ago/);
  });
});

for (const introspect of [false, true]) {
  const make = (broken: boolean) => async () => {
    const provider = await startOidcProvider(PROVIDER_TLS);
    provider.tokens.set(GOOD_TOKEN, ANN);
    if (broken) provider.fault = (_request, response) => response.writeHead(503).end();
    const http = httpsClient();
    const address = introspect ? provider.introspection : provider.userinfo;
    const subject = new OAuth({ ...CONFIG, address, introspection: introspect ? CLIENT : undefined }, {
      http,
      clock: () => NOW,
      log: SILENT,
    });
    return alsoClosing(subject, () => {
      http.close();
      void provider[Symbol.asyncDispose]();
    });
  };
  testAuthenticator({
    name: introspect ? "OAuth with introspection" : "OAuth",
    create: make(false),
    method: "OAUTH",
    good: bearer(GOOD_TOKEN),
    bad: {
      "an unknown token": bearer("unknown"),
      "an empty token": bearer(""),
      "a token with a line end": bearer("abc\r\nX-Evil: 1"),
      "a token with a blank": bearer("abc def"),
      "a token that is too long": bearer("a".repeat(32_769)),
      "an unknown JWT": bearer(unsignedJwt({ sub: "ann", iss: "https://idp.example" })),
    },
    foreign: {
      "name and password": basic("ann", "sesame"),
      "a legacy SSH header": sshLegacy("ann"),
      "an SSH token": bearer(unsignedJwt({ sub: "ann", iss: "ann" })),
      "a token of ours": bearer(unsignedJwt({ sub: "CN=ann", iss: "CN=auth", etd: "true" })),
    },
    broken: make(true),
  });
}

Deno.test("OAuth makes an identity from the userinfo reply", () =>
  withProvider({}, async ({ identity, provider }) => {
    assertAlike(await identity(), {
      dn: String.raw`UID=ann\+x@site-a.example`,
      method: "OAUTH",
      via: "SUBJECT",
      uid: "ann",
      displayName: "ann",
      groups: ["hpc", "users"],
      proved: PROVED,
    });
    const [seen] = provider.server.seen;
    assert.equal(seen?.method, "GET");
    assert.equal(seen?.headers.accept, "application/json");
    assert.equal(seen?.headers.authorization, `Bearer ${GOOD_TOKEN}`);
  }));

Deno.test("OAuth introspects with client id, secret and token in this order", () =>
  withProvider({ introspect: true }, async ({ identity, provider }) => {
    assert.equal((await identity()).uid, "ann");
    const [seen] = provider.server.seen;
    assert.equal(seen?.method, "POST");
    assert.equal(seen?.headers["content-type"], "application/x-www-form-urlencoded; charset=UTF-8");
    assert.equal(seen?.headers.authorization, undefined);
    assert.equal(seen?.body, `client_id=uftp&client_secret=s%26cret+%2B%25&token=${GOOD_TOKEN}`);
  }));

Deno.test("OAuth introspects with client id and secret in the header, encoded as RFC 6749 requires", () =>
  withProvider(
    { introspect: true, introspection: { ...CLIENT, clientId: "uf tp:ä", inHeader: true } },
    async ({ ask, provider }) => {
      provider.fault = (_request, response) =>
        sendJson(response, { active: true, token_type: "Bearer", ...ANN });
      assert.equal(await ask(GOOD_TOKEN), "accepted");
      const [seen] = provider.server.seen;
      assert.equal(seen?.headers.authorization, `Basic ${btoa("uf+tp%3A%C3%A4:s%26cret+%2B%25")}`);
      assert.equal(seen?.body, `token=${GOOD_TOKEN}`);
    },
  ));

const KEYS = {
  RS256: rsa2048(),
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ES384: generateKeyPairSync("ec", { namedCurve: "P-384" }),
  EdDSA: generateKeyPairSync("ed25519"),
};
for (const [alg, { privateKey, publicKey }] of Object.entries(KEYS)) {
  Deno.test(`OAuth introspects with a new client assertion each time, signed with ${alg}`, () => {
    const key = String(privateKey.export({ type: "pkcs8", format: "pem" }));
    const login = { clientId: "uftp", key, keyId: "k1" };
    return withProvider({ introspect: true, introspection: login }, async ({ ask, provider }) => {
      provider.fault = (_request, response) =>
        sendJson(response, { active: true, token_type: "Bearer", ...ANN });
      assert.equal(await ask(GOOD_TOKEN), "accepted");
      assert.equal(await ask("other"), "accepted");
      const ids = await Promise.all(provider.server.seen.map(async ({ body, headers }) => {
        assert.equal(headers.authorization, undefined);
        const form = new URLSearchParams(body);
        assert.equal(form.get("client_id"), "uftp");
        assert.equal(
          form.get("client_assertion_type"),
          "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        );
        assert.equal(form.has("client_secret"), false);
        const { payload, protectedHeader } = await jwtVerify(form.get("client_assertion") ?? "", publicKey, {
          issuer: "uftp",
          subject: "uftp",
          audience: provider.introspection,
          currentDate: new Date(NOW),
          requiredClaims: ["jti", "exp", "iat"],
        });
        assert.deepEqual([protectedHeader.alg, protectedHeader.kid], [alg, "k1"]);
        assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 60);
        return payload.jti;
      }));
      assert.equal(new Set(ids).size, 2);
    });
  });
}

Deno.test("OAuth never sends the provider credentials of other kinds", () =>
  withProvider({}, async ({ subject, provider, ask }) => {
    const never = new AbortController().signal;
    await subject.authenticate(NO_CREDENTIALS, never);
    await subject.authenticate(basic("ann", "sesame"), never);
    for (const token of [unsignedJwt({ sub: "a", iss: "a" }), unsignedJwt({ etd: true }), "a b", "", "ä"]) {
      await ask(token);
    }
    assert.equal(provider.server.seen.length, 0);
  }));

Deno.test("OAuth uses numbers and booleans, and keeps all digits of long numbers", () =>
  withProvider({
    assignments: assignments({ identity: `"UID="+id`, uid: `verified == true ? "u"+id : null` }),
  }, async (
    { provider, identity },
  ) => {
    provider.fault = (_request, response) => response.end('{"id":12345678901234567891,"verified":true}');
    const { dn, uid } = await identity();
    assert.deepEqual({ dn, uid }, { dn: "UID=12345678901234567891", uid: "u12345678901234567891" });
  }));

Deno.test("OAuth drops account, role and groups if one of their expressions fails, and logs it", () =>
  withProvider({
    assignments: assignments({
      identity: `"UID="+email`,
      uid: "missing",
      groups: "groups",
      role: "preferred_username",
    }),
  }, async ({ identity, lines }) => {
    const { uid, groups, role } = await identity();
    assert.deepEqual({ uid, groups, role }, { uid: undefined, groups: undefined, role: "anonymous" });
    assert.match(lines.join("\n"), /warn .*assignment failed.*property=uidAssign.*no value is named missing/);
  }));

Deno.test("OAuth gives no default role to a user whose role expression fails", () =>
  withProvider({
    assignments: assignments({ identity: "'CN=x'", uid: "'ann'", role: "banned ? 'banned' : 'user'" }),
  }, async (
    { identity },
  ) => assert.equal((await identity()).role, "anonymous")));

const UNUSABLE: [string, Partial<Parameters<typeof assignments>[0]>, Partial<Identity>][] = [
  ["an invalid account name", { uid: "email" }, { uid: undefined }],
  ["the account root", { uid: "'root'" }, { uid: undefined }],
  ["an account with a line break", { uid: String.raw`'ann\nfile=/'` }, { uid: undefined }],
  ["an empty account", { uid: "''" }, { uid: undefined }],
  ["an invalid role", { role: "'us er'" }, { role: "anonymous" }],
  ["an empty role", { role: "''" }, { role: undefined }],
  ["invalid groups beside valid ones", { groups: "['/hpc', 'lab2', 'a:b', 'lab2', 'root', '']" }, {
    groups: ["lab2", "a:b"],
  }],
  ["groups whose names a user of the provider wrote like a list", {
    groups: "['lab' + groups[0], 'x:' + groups[0]]",
  }, {
    groups: ["labhpc"],
  }],
  ["a list of only invalid groups", { groups: "['/hpc']" }, { groups: undefined }],
];
for (const [what, texts, expected] of UNUSABLE) {
  Deno.test(`OAuth does not use ${what}`, () =>
    withProvider({ assignments: assignments({ identity: "'CN=x'", ...texts }) }, async ({ identity }) => {
      const found = await identity();
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(Reflect.get(found, key), value);
    }));
}

const NAMELESS: [string, string, RegExp][] = [
  ["fails", "missing", /identityAssign fails: line 1, column 1/],
  ["is null", "null", /identityAssign gives nothing/],
  ["is blank", "' '", /identityAssign gives nothing/],
  ["is an empty list", "[]", /identityAssign gives nothing/],
  ["is no distinguished name", "preferred_username", /no distinguished name/],
  ["has an empty value", "'CN=a,UID='+empty", /empty value/],
  ["has a blank value", `"UID="+" "`, /blanks around/],
  ["has a line break", String.raw`'CN=a\nb'`, /control character|no distinguished name/],
];
for (const [what, identity, reason] of NAMELESS) {
  Deno.test(`OAuth refuses a user whose identity ${what}`, () =>
    withProvider({ assignments: assignments({ identity }) }, async ({ ask, provider }) => {
      provider.tokens.set(GOOD_TOKEN, { ...ANN, empty: "" });
      assert.match(await ask(GOOD_TOKEN), reason);
    }));
}

Deno.test("OAuth names users by dnTemplate only if there is no identityAssign", async () => {
  const noExpressions = assignments({});
  const dnTemplate = "CN=%email, OU=%preferred_username%x, O=%em";
  await withProvider({ assignments: noExpressions, dnTemplate }, async ({ identity, provider }) => {
    provider.tokens.set(GOOD_TOKEN, { ...ANN, em: ["x,O=Admins", "y"], p: "no" });
    assert.equal((await identity()).dn, String.raw`CN=ann\+x@site-a.example, OU=ann%x, O=x\,O\=Admins`);
  });
  await withProvider({ dnTemplate }, async ({ identity }) => assert.match((await identity()).dn, /^UID=ann/));
  await withProvider({ assignments: noExpressions, dnTemplate: "CN=%x" }, async ({ ask }) => {
    assert.match(await ask(GOOD_TOKEN), /has no value for CN=%x, expected identityAssign/);
  });
});

const made = { aud: ["uftp", "other"], azp: "portal", scope: "openid uftp-transfer" };
const REQUIREMENTS: [string, Partial<OAuthConfig>, Record<string, unknown>, boolean][] = [
  ["a list of audiences that contains ours", { requiredAudience: ["uftp"] }, made, true],
  ["our audience", { requiredAudience: ["uftp"] }, { aud: "uftp" }, true],
  ["another audience", { requiredAudience: ["uftp"] }, { aud: "uftpx" }, false],
  ["no audience", { requiredAudience: ["uftp"] }, {}, false],
  ["an audience that is an object", { requiredAudience: ["uftp"] }, { aud: { uftp: "uftp" } }, false],
  ["our client", { requiredClient: ["portal"] }, made, true],
  ["our client as client_id", { requiredClient: ["portal"] }, { client_id: "portal" }, true],
  ["another client", { requiredClient: ["portal"] }, { azp: "evil" }, false],
  ["two clients", { requiredClient: ["portal"] }, { azp: "portal", client_id: "evil" }, false],
  ["no client", { requiredClient: ["portal"] }, {}, false],
  ["our scope", { requiredScope: ["uftp-transfer"] }, made, true],
  ["a scope with the same beginning", { requiredScope: ["uftp"] }, made, false],
  ["no scope", { requiredScope: ["uftp"] }, {}, false],
  [
    "all required claims",
    { requiredAudience: ["other"], requiredClient: ["portal"], requiredScope: ["openid"] },
    made,
    true,
  ],
  [
    "all required claims but one",
    { requiredAudience: ["other"], requiredClient: ["portal"], requiredScope: ["x"] },
    made,
    false,
  ],
];
for (const [what, config, claims, accepted] of REQUIREMENTS) {
  Deno.test(`OAuth ${accepted ? "accepts" : "refuses"} a token with ${what}`, async () => {
    const check = async ({ ask, provider }: Setting) => {
      // The claims are in the reply; in the token; and in the token while the reply contradicts them.
      provider.tokens.set("opaque", { ...ANN, ...claims });
      assert.equal(await ask("opaque") === "accepted", accepted);
      const jwt = unsignedJwt({ iss: "https://idp.example", ...claims });
      provider.tokens.set(jwt, ANN);
      assert.equal(await ask(jwt) === "accepted", accepted);
      const contradicted = unsignedJwt({ ...claims, jti: "1" });
      provider.tokens.set(contradicted, { ...ANN, aud: "x", azp: "x", scope: "x" });
      assert.notEqual(await ask(contradicted), "accepted");
    };
    await withProvider(config, check);
    await withProvider({ introspect: true, ...config }, check);
  });
}

/** Claims of a provider's answer or a token that give no access (RFC 8725, 3.12; RFC 7800). */
const NO_ACCESS: readonly [claims: Readonly<Record<string, unknown>>, reason: RegExp][] = [
  ...[
    "refresh_token",
    "Refresh",
    "urn:ietf:params:oauth:token-type:refresh_token",
    "Offline",
    "ID",
    "id_token",
    "logout+jwt",
  ]
    .flatMap((word): [Readonly<Record<string, unknown>>, RegExp][] =>
      ["typ", "token_type", "token_use"].map((name) => [{ [name]: word }, /is not that of an access token/])
    ),
  [{ cnf: { jkt: "A".repeat(43) } }, /bound to a key, and no proof/],
  [{ cnf: { "x5t#S256": "A".repeat(43) } }, /bound to a certificate, and the client showed none/],
  [{ cnf: { jwk: { kty: "OKP" } } }, /bound in a way that is not verified here/],
  [{ cnf: { kid: "k1" } }, /bound in a way that is not verified here/],
  [{ cnf: "x" }, /cnf cannot be read/],
];
for (const introspect of [true, false]) {
  Deno.test(`OAuth refuses tokens of other types, and bound tokens without proof, even if the ${introspect ? "introspection" : "userinfo"} endpoint accepts them`, () =>
    withProvider({ introspect }, async ({ ask, provider }) => {
      for (const type of ["Bearer", "access_token", "at+jwt"]) {
        provider.tokens.set(type, { ...ANN, token_type: type });
        assert.equal(await ask(type), "accepted", type);
      }
      for (const [i, [claims, reason]] of NO_ACCESS.entries()) {
        provider.tokens.set(`opaque-${i}`, { ...ANN, ...claims });
        assert.match(await ask(`opaque-${i}`), reason, JSON.stringify(claims));
        const jwt = unsignedJwt({ iss: "https://idp.example", jti: String(i), ...claims });
        provider.tokens.set(jwt, ANN);
        assert.match(await ask(jwt), reason, `in the token: ${JSON.stringify(claims)}`);
      }
    }));
}

Deno.test("OAuth refuses an opaque token if the introspection reply does not mark it as an access token", async () => {
  const unmarked = { ...ANN, token_type: undefined, client_id: "portal", scope: "openid offline_access" };
  await withProvider({ introspect: true }, async ({ ask, provider }) => {
    provider.tokens.set("refresh", unmarked);
    assert.match(await ask("refresh"), /does not say that it is an access token/);
    const jwt = unsignedJwt({ iss: "https://idp.example", jti: "1", typ: "Bearer" });
    provider.tokens.set(jwt, unmarked);
    assert.equal(await ask(jwt), "accepted", "the token says it");
    for (const [name, word] of [["typ", "Bearer"], ["token_use", "access"], ["token_type", "DPoP"]]) {
      provider.tokens.set(`${name}`, { ...unmarked, [`${name}`]: word });
      assert.equal(await ask(`${name}`), "accepted", name);
    }
  });
  await withProvider({ introspect: true, requiredAudience: ["uftp"] }, async ({ ask, provider }) => {
    provider.tokens.set("refresh", unmarked);
    assert.match(await ask("refresh"), /^the token lacks a claim/);
    provider.tokens.set("access", { ...unmarked, aud: "uftp" });
    assert.equal(await ask("access"), "accepted");
  });
});

Deno.test("OAuth gives the reason when it refuses an opaque token of unknown audience or client", async () => {
  for (const [key, claim] of [["requiredAudience", "aud"], ["requiredClient", "client_id, azp"]] as const) {
    await withProvider({ [key]: ["uftp"] }, async ({ ask, provider }) => {
      provider.tokens.set("opaque", ANN);
      const reason = await ask("opaque");
      assert(
        reason.startsWith(`the token lacks a claim for ${key} (${claim})`),
        reason,
      );
    });
  }
});

Deno.test("OAuth asks again after five minutes, or when the token expires before", async () => {
  const ends = NOW / 1000 + 120;
  const tokens: [string, Record<string, unknown>, number][] = [
    ["opaque", {}, 300_000],
    ["reply", { exp: ends }, 120_000],
    [unsignedJwt({ exp: ends }), {}, 120_000],
    [unsignedJwt({ exp: ends + 9999 }), {}, 300_000],
    [unsignedJwt({ exp: ends }), { exp: ends - 60 }, 60_000],
    [unsignedJwt({ exp: "soon" }), {}, 0],
    ["ended", { exp: ends - 1000 }, 0],
  ];
  for (const [token, claims, lifetime] of tokens) {
    await withProvider({ introspect: true }, async ({ ask, provider, time }) => {
      provider.tokens.set(token, { ...ANN, ...claims });
      assert.equal(await ask(token), "accepted");
      const calls = () => provider.server.seen.length;
      if (lifetime > 0) {
        time.now += lifetime - 1;
        assert.equal(await ask(token), "accepted");
        assert.equal(calls(), 1);
        time.now += 1;
      }
      provider.tokens.delete(token);
      assert.equal(await ask(token), "the token is not active");
      assert.equal(calls(), 2);
    });
  }
});

Deno.test("OAuth remembers a refusal for five seconds", () =>
  withProvider({}, async ({ ask, provider, time }) => {
    assert.match(await ask("late"), /status 401/);
    provider.tokens.set("late", ANN);
    time.now += 4_999;
    assert.match(await ask("late"), /status 401/);
    time.now += 1;
    assert.equal(await ask("late"), "accepted");
    assert.equal(provider.server.seen.length, 2);
  }));

Deno.test("OAuth asks once for many simultaneous callers, and answers the others if one leaves", () =>
  withProvider({}, async ({ ask, provider }) => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    provider.fault = async (_request, response) => {
      asked.resolve();
      await answer.promise;
      sendJson(response, ANN);
    };
    const leaving = new AbortController();
    const first = ask(GOOD_TOKEN, leaving.signal);
    const others = Array.from({ length: 20 }, () => ask(GOOD_TOKEN));
    await asked.promise;
    leaving.abort(new Error("gone"));
    await assert.rejects(first, /gone/);
    answer.resolve();
    assert.deepEqual(new Set(await Promise.all(others)), new Set(["accepted"]));
    assert.equal(provider.server.seen.length, 1);
  }));

const OUTAGES: [string, Answer][] = [
  ["status 500", (_request, response) => response.writeHead(500).end()],
  [
    "a redirect",
    (_request, response) => response.writeHead(302, { Location: "https://evil.example/" }).end(),
  ],
  ["status 404", (_request, response) => response.writeHead(404).end()],
  ["status 429", (_request, response) => response.writeHead(429).end()],
  ["a cut connection", (_request, response) => void response.destroy()],
  ["silence", () => {}],
  [
    "half an answer",
    (_request, response) => void response.writeHead(200, { "Content-Length": 99 }).write("{"),
  ],
  ["an endless body", (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(65536)));
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  }],
  ["no JSON", (_request, response) => response.end("<html>")],
  ["a JSON list", (_request, response) => response.end("[]")],
  ["a JSON string", (_request, response) => response.end('"ann"')],
  ["deep JSON", (_request, response) => response.end('{"a":'.repeat(50_000) + "1" + "}".repeat(50_000))],
  [
    "deep JSON lists",
    (_request, response) => response.end(`{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`),
  ],
  [
    "a signed reply",
    (_request, response) => response.writeHead(200, { "Content-Type": "application/jwt" }).end("a.b.c"),
  ],
];
for (const [what, fault] of OUTAGES) {
  Deno.test(`OAuth is out of order if the provider answers with ${what}`, () =>
    withProvider({ timeoutMs: 300 }, async ({ ask, provider, time }) => {
      provider.fault = fault;
      await assert.rejects(ask(GOOD_TOKEN), (error) => {
        assert.ok(error instanceof RemoteUnavailable);
        assert.ok(!`${error.message} ${error.publicMessage}`.includes(GOOD_TOKEN));
        return true;
      });
      provider.fault = undefined;
      // A busy machine may itself be too slow for the short timeout.
      const again = () => ask(GOOD_TOKEN).catch((error) => assert.ok(error instanceof RemoteUnavailable));
      for (let result, tries = 0; result !== "accepted" && tries < 100; tries++) {
        time.now += 60_000;
        result = await again();
      }
      assert.equal(await ask(GOOD_TOKEN), "accepted");
    }));
}

const MALFORMED = [unsignedJwt({ sub: "u1" }, null), unsignedJwt({ sub: "u1" }, { alg: "none" }), "a.b.c"];
for (const introspect of [false, true]) {
  Deno.test(`OAuth ${introspect ? "with introspection " : ""}refuses a malformed JWT and does not send it to the provider`, () =>
    withProvider({ introspect }, async ({ ask, provider }) => {
      for (const token of [...MALFORMED, ...MALFORMED]) assert.match(await ask(token), /of the token/);
      assert.equal(provider.server.seen.length, 0);
      assert.equal(await ask(GOOD_TOKEN), "accepted");
    }));
}

Deno.test("OAuth sends no opaque token to a provider that issues none (opaqueTokens)", () =>
  withProvider({ opaqueTokens: false }, async ({ ask, provider }) => {
    const jwt = unsignedJwt({ sub: "u1" });
    provider.tokens.set(jwt, ANN);
    assert.equal(await ask(GOOD_TOKEN), "the token is no signed JWT, and opaqueTokens is false");
    assert.equal(provider.server.seen.length, 0);
    assert.equal(await ask(jwt), "accepted");
  }));

Deno.test("OAuth is out of order if the provider rejects its client credentials", () =>
  withProvider({ introspect: true }, async ({ ask, provider, subject }) => {
    provider.fault = (_request, response) => response.writeHead(401).end();
    await assert.rejects(ask(GOOD_TOKEN), /unexpected status 401/);
    assert.equal(subject.status().up, true);
  }));

for (const error of ["invalid_request", "invalid_token", "invalid_grant"]) {
  Deno.test(`OAuth refuses a token if the introspection endpoint answers with 400 and ${error}`, () =>
    withProvider({ introspect: true }, async ({ ask, provider, subject }) => {
      const body = JSON.stringify({ error, error_description: `what is ${GOOD_TOKEN}?` });
      provider.fault = (_request, response) => response.writeHead(400).end(body);
      assert.equal(
        await ask(GOOD_TOKEN),
        `the provider answered with status 400, ${error}: what is ***?`,
      );
      assert.equal(subject.status().up, true);
    }));
}

for (const error of ["invalid_client", "unauthorized_client", undefined]) {
  Deno.test(`OAuth is out of order if the introspection endpoint answers with 400 and ${error}, and the reason says so`, () =>
    withProvider({ introspect: true }, async ({ ask, provider }) => {
      const body = JSON.stringify({ error, error_description: `who is ${CLIENT.clientSecret}?` });
      provider.fault = (_request, response) => response.writeHead(400).end(body);
      const why = error === undefined
        ? /unexpected status 400, who is \*\*\*\?$/
        : new RegExp(`400, ${error}: who is \\*\\*\\*`);
      await assert.rejects(ask(GOOD_TOKEN), why);
    }));
}

Deno.test("OAuth refuses a token with the reason that the userinfo endpoint gives", () =>
  withProvider({}, async ({ ask, provider }) => {
    const challenge = 'Bearer error="invalid_token", error_description="Token expired"';
    provider.fault = (_request, response) => response.writeHead(401, { "WWW-Authenticate": challenge }).end();
    assert.equal(await ask("late"), "the provider answered with status 401, invalid_token: Token expired");
  }));

Deno.test("OAuth sends nothing until the provider's Retry-After has passed, and accepts cached tokens", () =>
  withProvider({}, async ({ ask, provider, time }) => {
    assert.equal(await ask(GOOD_TOKEN), "accepted");
    provider.tokens.set("other", ANN);
    provider.fault = (_request, response) => response.writeHead(429, { "Retry-After": "90" }).end();
    await assert.rejects(ask("other"), { headers: { "Retry-After": "90" } });
    provider.fault = undefined;
    time.now += 30_000;
    await assert.rejects(ask("other"), { headers: { "Retry-After": "60" } });
    assert.equal(await ask(GOOD_TOKEN), "accepted");
    assert.equal(provider.server.seen.length, 2);
    time.now += 60_000;
    assert.equal(await ask("other"), "accepted");
  }));

for (
  const [what, reply] of [["false", { active: false }], ["text", { active: "no" }], ["a list", {
    active: ["true"],
  }]] as const
) {
  Deno.test(`OAuth refuses a userinfo reply in which active is ${what}`, () =>
    withProvider({}, async ({ ask, provider }) => {
      provider.tokens.set(GOOD_TOKEN, { ...ANN, ...reply });
      assert.equal(await ask(GOOD_TOKEN), "the token is not active");
    }));
}

Deno.test("OAuth refuses an introspection reply without active", () =>
  withProvider({ introspect: true }, async ({ ask, provider }) => {
    provider.fault = (_request, response) => sendJson(response, ANN);
    assert.equal(await ask(GOOD_TOKEN), "the token is not active");
  }));

Deno.test("OAuth reads hostile member names as plain data", () =>
  withProvider(
    { assignments: assignments({ identity: `"UID="+sub`, uid: "constructor" }) },
    async ({ provider, identity }) => {
      provider.fault = (_request, response) =>
        response.end('{"sub":"a","__proto__":{"uid":"root"},"toString":"x"}');
      assertAlike(await identity(), { dn: "UID=a", method: "OAUTH", via: "SUBJECT", proved: PROVED });
    },
  ));

Deno.test("OAuth reports all errors in its expressions at once, with their positions", () => {
  const broken = assignments({ identity: `"UID=" + `, uid: "a b", role: "'user'", groups: "new X()" });
  const parts = { http: httpsClient(), clock: () => NOW, log: SILENT };
  assert.throws(() => new OAuth({ ...CONFIG, assignments: broken }, parts), (error) => {
    assert.ok(error instanceof InvalidFile);
    assert.deepEqual(error.diagnostics.map(({ file, line, key }) => [file, line, key]), [
      ["container.properties", 7, "P.identityAssign"],
      ["container.properties", 7, "P.uidAssign"],
      ["container.properties", 7, "P.groupsAssign"],
    ]);
    assert.match(error.message, /line 1, column 10: expected a value, found the end/);
    return true;
  });
  parts.http.close();
});

Deno.test("OAuth logs no token", () =>
  withProvider({ timeoutMs: 200 }, async ({ ask, provider, lines }) => {
    await ask(GOOD_TOKEN);
    await ask("another-token");
    provider.fault = () => {};
    await assert.rejects(ask("third-token"));
    for (const token of [GOOD_TOKEN, "another-token", "third-token"]) {
      assert.ok(!lines.join("\n").includes(token));
    }
  }));

Deno.test("OAuth refuses an e-mail address that the provider did not verify, if emailVerified is required", () =>
  withProvider({ emailVerified: true }, async ({ ask, provider }) => {
    provider.tokens.set("verified", { ...ANN, email_verified: true });
    assert.equal(await ask("verified"), "accepted");
    for (const email_verified of [false, undefined, "yes"]) {
      provider.tokens.set(`token-${email_verified}`, { ...ANN, email_verified });
      assert.equal(
        await ask(`token-${email_verified}`),
        "the e-mail address is not verified (email_verified)",
      );
    }
  }));

Deno.test("OAuth refuses a user who is in none of the required groups", async () => {
  for (
    const [group, expected] of [["hpc", "accepted"], ["bio", "the user is in none of the required groups"]]
  ) {
    await withProvider({ groupsClaim: ["groups"], requiredGroups: [`${group}`] }, async ({ ask }) => {
      assert.equal(await ask(GOOD_TOKEN), expected);
    });
  }
});

Deno.test("OAuth refuses an access token that came with the ID token of another user", () =>
  withProvider({}, async ({ subject }) => {
    const { authorization, ...rest } = bearer(GOOD_TOKEN);
    assert.ok(authorization.kind === "bearer");
    for (const [sub, expected] of [["u1", undefined], ["u2", "the ID token is of another user"]]) {
      const shown = { ...rest, authorization: { ...authorization, login: { sub: `${sub}` } } };
      const result = await subject.authenticate(shown, new AbortController().signal);
      assert.equal(result.kind === "refused" ? result.reason : undefined, expected);
    }
  }));
