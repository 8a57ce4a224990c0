import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import {
  readTokenRequest,
  TokenIssuer,
  type TokenLimits,
} from "../../../src/authentication/issued_token/issue.ts";
import { issuedToken } from "../../../src/authentication/issued_token/verify.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { ANONYMOUS_DN, type Caller, type Identity } from "../../../src/model/identity.ts";
import { HttpError } from "../../../src/model/http_error.ts";
import type { TlsMaterial } from "../../../src/model/tls_material.ts";
import { createAuthority } from "../../pki/authority.ts";
import { bearer } from "../sample_credentials.ts";
import { assertAlike } from "../../fixtures/assert_alike.ts";

const NOW = 1_800_000_000;
const SERVER = "CN=auth.site-a.example,O=Site-A,C=DE";
const AUTHORITY = createAuthority({ subject: "CN=Test CA" });
const ANN: Identity = {
  dn: "CN=ann, OU=ssh-local-users",
  method: "SSHKEY",
  via: "SSHKEY",
  login: "ann",
  uid: "ann",
  role: "user",
};
const PLAIN = { renewable: false, limited: false };
const LIMITS: TokenLimits = { defaultLifetime: 300, maxLifetime: 86_400, renewalPeriod: 200_000 };

function material(options: Partial<Parameters<typeof AUTHORITY.issue>[0]> = {}): TlsMaterial {
  return { ...AUTHORITY.issue({ subject: SERVER, ...options }), anchors: [] };
}

const TLS = material();

/** Makes an issuer and a check of tokens with a common certificate and a clock that the test moves. */
function service(tls: TlsMaterial = TLS, limits = LIMITS) {
  const state = { now: NOW, tls };
  const parts = { tls: () => state.tls, clock: () => state.now * 1000 };
  const issuer = new TokenIssuer({ ...parts, limits, derivedUntil: () => Infinity });
  const check = issuedToken({
    ...parts,
    trustedIssuers: [],
    accountStatus: () => Promise.resolve({ kind: "cannot tell" }),
    log: SILENT,
  });
  return {
    state,
    issue: (
      identity: Identity,
      request: Partial<Parameters<typeof issuer.issue>[1]> = {},
      preferences?: string,
    ) =>
      issuer.issue({ kind: "authenticated", identity }, { ...PLAIN, ...request }, {
        role: "user",
        preferences,
        clientAddress: "192.0.2.1",
      }),
    issueFor: (lifetime?: number, subject = ANN.dn) =>
      issuer.issueFor(subject, { dn: "CN=Boss", method: "PASSWORD_FILE", via: "PASSWORD" }, {
        lifetime,
        renewable: false,
      }),
    issueTo: (caller: Caller) =>
      issuer.issue(caller, PLAIN, { role: "anonymous", clientAddress: "192.0.2.1" }),
    async accept(token: string): Promise<Identity> {
      const result = await check.authenticate(bearer(token), new AbortController().signal);
      assert.equal(result.kind, "accepted", result.kind === "refused" ? result.reason : "");
      if (result.kind !== "accepted") throw new TypeError("unreachable");
      return result.identity;
    },
  };
}

function contents(token: string): { header: unknown; claims: Record<string, unknown> } {
  const [header, claims] = token.split(".").map((part) => Buffer.from(part, "base64url").toString());
  return { header: JSON.parse(header ?? ""), claims: JSON.parse(claims ?? "") };
}

async function assertHttpError(promise: Promise<unknown>, status: number, code: string): Promise<HttpError> {
  const error = await promise.then(() => assert.fail("a token was issued"), (error: unknown) => error);
  assert.ok(error instanceof HttpError, String(error));
  assert.deepEqual([error.status, error.code], [status, code]);
  return error;
}

Deno.test("TokenIssuer issues the documented claims, as clients expect them", async () => {
  const { issue } = service();
  const token = await issue(ANN, { lifetime: 3600, renewable: true, limited: true }, "group:proj2");
  const { header, claims: { jti, ...claims } } = contents(token);
  assert.match(String(jti), /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
  assert.deepEqual({ header, claims }, {
    header: { alg: "ES256" },
    claims: {
      sub: "CN=ann, OU=ssh-local-users",
      iss: SERVER,
      iat: NOW,
      exp: NOW + 3600,
      etd: "true",
      via: "SSHKEY",
      login: "ann",
      uid: "ann",
      role: "user",
      highestRole: "user",
      preferences: "group:proj2",
      renewable: "true",
      renewableUntil: NOW + 200_000,
      aud: SERVER,
      since: NOW * 1000,
    },
  });
});

Deno.test("TokenIssuer omits claims without a value, and uses the default lifetime", async () => {
  const { claims } = contents(
    await service().issue({ dn: "CN=Bob", method: "PASSWORD_FILE", via: "PASSWORD" }, {}, ""),
  );
  const decided = { via: "PASSWORD", highestRole: "user", jti: claims["jti"], since: NOW * 1000 };
  assert.deepEqual(claims, { sub: "CN=Bob", iss: SERVER, iat: NOW, exp: NOW + 300, etd: "true", ...decided });
});

Deno.test("TokenIssuer issues under an alternative name if its certificate has no subject", async () => {
  const { issue, accept } = service(material({ subject: "", names: ["auth.example.org", "127.0.0.1"] }));
  const token = await issue(ANN);
  assert.equal(contents(token).claims.iss, "CN=auth.example.org");
  assert.equal((await accept(token)).dn, ANN.dn);
});

for (const [keyType, alg] of [["ec-p256", "ES256"], ["rsa-2048", "RS256"], ["ed25519", "EdDSA"]] as const) {
  Deno.test(`TokenIssuer signs with ${alg} for a key of type ${keyType}, and the token is accepted`, async () => {
    const { issue, accept } = service(material({ keyType }));
    const token = await issue(ANN);
    assert.deepEqual(contents(token).header, { alg });
    const { jti } = contents(token).claims;
    assertAlike(await accept(token), {
      dn: ANN.dn,
      method: "ETD",
      via: "ETD",
      login: "ann",
      uid: "ann",
      role: "user",
      issuedToken: {
        issuer: SERVER,
        identifiedBy: "SSHKEY",
        highestRole: "user",
        renewable: false,
        limitedTo: undefined,
        preferences: undefined,
        renewableUntil: NOW + 300,
        family: { id: jti, expires: NOW + 300, since: NOW * 1000, root: jti, line: [] },
      },
    });
  });
}

Deno.test("TokenIssuer keeps the decisions about a user through every renewal, and adds nothing", async () => {
  const { issue, accept } = service();
  const guest: Identity = {
    dn: "CN=Guest",
    method: "OAUTH",
    via: "OIDC",
    uid: "pool1",
    role: "guest",
    groups: ["visitors:games", "users"],
  };
  let identity = await accept(await issue(guest, { renewable: true }));
  for (let i = 0; i < 3; i++) {
    const { uid, role, groups, via, issuedToken } = identity;
    assert.deepEqual({ uid, role, groups }, {
      uid: "pool1",
      role: "guest",
      groups: ["visitors:games", "users"],
    });
    assert.deepEqual([via, issuedToken?.identifiedBy], ["ETD", "OIDC"]);
    identity = await accept(await issue(identity, { renewable: true }));
  }
  const plain = await accept(await issue({ dn: "CN=Plain", method: "OAUTH", via: "OIDC", uid: "pool2" }));
  assert.equal(plain.role, "user", "whoever has an account is a user, and that was decided then");
});

Deno.test("TokenIssuer issues no token to anonymous callers, nor to a user with the server's name", async () => {
  const { issue, issueFor, issueTo } = service();
  await assertHttpError(issueTo({ kind: "anonymous" }), 401, "ERR_TOKEN_NEEDS_IDENTITY");
  for (const dn of [ANONYMOUS_DN, "cn=auth.site-a.example, o=Site-A, c=DE", "", "ann"]) {
    await assertHttpError(issue({ ...ANN, dn }), 401, "ERR_TOKEN_NEEDS_IDENTITY");
    await assertHttpError(issueFor(300, dn), 400, "ERR_TOKEN_SUBJECT");
  }
});

Deno.test("TokenIssuer keeps the lifetime within the maximum and the certificate's validity, in seconds", async () => {
  const { issue, state } = service();
  assert.equal(contents(await issue(ANN, { lifetime: 86_400 })).claims.exp, NOW + 86_400);
  const error = await assertHttpError(issue(ANN, { lifetime: 86_401 }), 400, "ERR_TOKEN_LIFETIME");
  assert.equal(error.publicMessage, "The token lifetime must not exceed 86400 seconds");
  state.tls = material({ notAfter: new Date((NOW + 100) * 1000) });
  assert.equal(contents(await issue(ANN)).claims.exp, NOW + 100, "the default gives way");
  assert.equal(contents(await issue(ANN, { lifetime: 100 })).claims.exp, NOW + 100);
  await assertHttpError(issue(ANN, { lifetime: 101 }), 400, "ERR_TOKEN_LIFETIME");
  state.now = NOW + 100;
  await assertHttpError(issue(ANN), 503, "ERR_TOKENS_UNAVAILABLE");
  state.now = NOW + 5000;
  await assertHttpError(issue(ANN), 503, "ERR_TOKENS_UNAVAILABLE");
});

Deno.test("TokenIssuer renews only tokens that were requested as renewable", async () => {
  const { issue, accept } = service();
  const plain = await accept(await issue(ANN));
  await assertHttpError(issue(plain, { renewable: true }), 403, "ERR_TOKEN_NOT_RENEWABLE");
  const renewable = await accept(await issue(ANN, { renewable: true }));
  const renewed = await accept(await issue(renewable));
  assert.equal(renewed.dn, ANN.dn);
  await assertHttpError(issue(renewed), 403, "ERR_TOKEN_NOT_RENEWABLE");
});

Deno.test("TokenIssuer keeps a limited token limited through every renewal", async () => {
  const { issue, accept } = service();
  const servers = { ...ANN, uidServers: ["HPC"] };
  let identity = await accept(
    await issue(servers, { renewable: true, limited: true }, "uid:ann,group:proj2"),
  );
  for (let i = 0; i < 3; i++) {
    const { claims } = contents(await issue(identity, { renewable: true }, "group:other"));
    assert.equal(claims.aud, SERVER);
    assert.equal(claims.preferences, "uid:ann,group:proj2");
    assert.equal(claims.uid, "ann");
    assert.deepEqual(claims.uidServers, ["HPC"]);
    identity = await accept(await issue(identity, { renewable: true }));
    assert.deepEqual(identity.uidServers, ["HPC"]);
  }
});

Deno.test("TokenIssuer renews up to an absolute end, which no renewal moves", async () => {
  const { issue, accept, state } = service();
  let token = await issue(ANN, { renewable: true, lifetime: 86_400 });
  state.now = NOW + 80_000;
  token = await issue(await accept(token), { renewable: true, lifetime: 86_400 });
  state.now = NOW + 150_000;
  const identity = await accept(token);
  await assertHttpError(issue(identity, { renewable: true, lifetime: 50_001 }), 400, "ERR_TOKEN_LIFETIME");
  token = await issue(identity, { renewable: true, lifetime: 50_000 });
  assert.equal(contents(token).claims.renewableUntil, NOW + 200_000);
  state.now = NOW + 199_900;
  token = await issue(await accept(token), { renewable: true });
  assert.equal(contents(token).claims.exp, NOW + 200_000);
  state.now = NOW + 200_010;
  await assertHttpError(issue(await accept(token), { renewable: true }), 403, "ERR_TOKEN_NOT_RENEWABLE");
});

Deno.test("TokenIssuer issues a token that is not renewable for longer than the renewal period", async () => {
  const { issue } = service(TLS, { ...LIMITS, renewalPeriod: 60 });
  assert.equal(contents(await issue(ANN, { lifetime: 86_400 })).claims.exp, NOW + 86_400);
});

Deno.test("TokenIssuer signs with a new certificate's key at once, and tokens of the old key become invalid", async () => {
  const { issue, accept, state } = service();
  const old = await issue(ANN);
  state.tls = material();
  await accept(await issue(ANN));
  await assert.rejects(accept(old), /not signed by an issuer that is trusted/);
});

Deno.test("TokenIssuer answers 503 if its key cannot be used", async () => {
  await assertHttpError(service({ ...TLS, key: "no key" }).issue(ANN), 503, "ERR_TOKENS_UNAVAILABLE");
});

Deno.test("readTokenRequest() reads lifetime, renewable and limited, and ignores the rest", () => {
  const read = (query: string) => readTokenRequest(new URLSearchParams(query));
  assert.deepEqual(read(""), { lifetime: undefined, renewable: false, limited: false });
  assert.deepEqual(read("lifetime=3600&renewable=true&limited=TRUE"), {
    lifetime: 3600,
    renewable: true,
    limited: true,
  });
  assert.deepEqual(read("renewable=false&limited=1&other=x"), {
    lifetime: undefined,
    renewable: false,
    limited: false,
  });
});

Deno.test("readTokenRequest() answers 400 for a lifetime that is not a positive whole number", async () => {
  const bad = [
    "",
    "0",
    "-1",
    "+1",
    "1.5",
    "1e3",
    "abc",
    "0x10",
    "010",
    " 1",
    "1 ",
    "NaN",
    "Infinity",
    "99999999999",
    "１",
  ];
  for (const lifetime of bad) {
    const read = () => Promise.resolve(readTokenRequest(new URLSearchParams({ lifetime })));
    await assertHttpError(Promise.resolve().then(read), 400, "ERR_INVALID_TOKEN_REQUEST");
  }
  const twice = () => readTokenRequest(new URLSearchParams("lifetime=1&lifetime=2"));
  await assertHttpError(Promise.resolve().then(twice), 400, "ERR_INVALID_TOKEN_REQUEST");
});

Deno.test("TokenIssuer never exceeds the limits of the first token, whatever sequence of requests follows", async () => {
  const step = fc.record({
    lifetime: fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: undefined }),
    renewable: fc.boolean(),
    limited: fc.boolean(),
    pause: fc.integer({ min: 0, max: 90_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const { issue, accept, state } = service();
      let token = await issue({ ...ANN, uidServers: ["HPC"] }, { renewable: true, limited: true }, "group:a");
      for (const { pause, ...request } of steps) {
        state.now += pause;
        try {
          token = await issue(await accept(token), request, "group:b");
        } catch {
          return; // expired, not renewable or too long
        }
        const { claims } = contents(token);
        assert.equal(claims.aud, SERVER);
        assert.deepEqual(claims.uidServers, ["HPC"]);
        assert.equal(claims.preferences, "group:a");
        assert.ok(Number(claims.exp) <= NOW + 200_000 && Number(claims.exp) <= state.now + 86_400);
      }
    }),
    { numRuns: 100 },
  );
});

Deno.test("TokenIssuer issues restricted tokens for this server only, since other servers may ignore restrictions", async () => {
  const { issue, accept, state } = service();
  for (
    const restrictions of [
      { paths: ["/data/"] },
      { activity: "all" as const },
      { servers: ["HPC"] },
      { address: "192.0.2.0/24" },
    ]
  ) {
    const narrow = await issue(ANN, { restrictions, renewable: true });
    assert.equal(contents(narrow).claims["aud"], SERVER);
    const identity = await accept(narrow);
    assert.equal(contents(await issue(identity)).claims["aud"], SERVER, "renewed without bounds of its own");
  }
  const narrow = await issue(ANN, { restrictions: { servers: ["HPC"] } });
  const other = issuedToken({
    tls: () => material({ subject: "CN=other" }),
    clock: () => state.now * 1000,
    trustedIssuers: [TLS.certificate],
    accountStatus: () => Promise.resolve({ kind: "cannot tell" }),
    log: SILENT,
  });
  const signal = new AbortController().signal;
  assert.equal((await other.authenticate(bearer(await issue(ANN)), signal)).kind, "accepted");
  assert.equal((await other.authenticate(bearer(narrow), signal)).kind, "refused");
});

Deno.test("TokenIssuer issues no token while its certificate is not yet or no longer valid", async () => {
  const { issue, issueFor, state } = service();
  const day = 86_400;
  for (const shift of [1, -2]) {
    const [from, to] = [NOW + shift * day, NOW + (shift + 1) * day].map((seconds) =>
      new Date(seconds * 1000)
    );
    state.tls = material({ notBefore: from, notAfter: to });
    for (const made of [issue(ANN), issueFor()]) await assertHttpError(made, 503, "ERR_TOKENS_UNAVAILABLE");
  }
});

Deno.test("TokenIssuer gives every token an expiry, never after that of the certificate", async () => {
  const { issue, issueFor, state } = service();
  for (const token of [await issue(ANN), await issueFor(), await issueFor(60)]) {
    const { claims: { iat, exp } } = contents(token);
    assert.ok(typeof exp === "number" && typeof iat === "number" && exp > iat);
  }
  assert.equal(contents(await issueFor(60)).claims.exp, NOW + 60);
  state.tls = material({ notAfter: new Date((NOW + 100) * 1000) });
  assert.equal(contents(await issueFor()).claims.exp, NOW + 100);
});

Deno.test("TokenIssuer issues no token beyond the derived lifetime of its login, not even by renewal", async () => {
  const state = { now: NOW, until: NOW + 1000.5 };
  const tls = material();
  const issuer = new TokenIssuer({
    tls: () => tls,
    clock: () => state.now * 1000,
    limits: { defaultLifetime: 3600, maxLifetime: 86_400, renewalPeriod: 30 * 86_400 },
    derivedUntil: () => state.until,
  });
  const issue = async (identity: Identity, lifetime?: number) => {
    const request = { ...PLAIN, renewable: true, lifetime };
    const maker = { role: "user", clientAddress: "192.0.2.1" };
    return contents(await issuer.issue({ kind: "authenticated", identity }, request, maker)).claims;
  };
  for (const lifetime of [undefined, 86_400, 2000]) {
    const { exp, renewableUntil } = await issue(ANN, lifetime);
    assert.deepEqual([exp, renewableUntil], [NOW + 1000, NOW + 1000], String(lifetime));
  }
  assert.equal((await issue(ANN, 500)).exp, NOW + 500);
  const issuedToken = { issuer: "CN=auth", renewable: true, renewableUntil: NOW + 9000 };
  state.now += 999;
  assert.equal((await issue({ ...ANN, issuedToken })).exp, NOW + 1000);
  state.now += 1;
  for (const identity of [ANN, { ...ANN, issuedToken }]) {
    await assertHttpError(issue(identity), 403, "ERR_LOGIN_NOT_DERIVABLE");
  }
});
