import assert from "node:assert/strict";
import { OAuth } from "../../../src/authentication/oauth/oauth.ts";
import type { OAuthConfig } from "../../../src/authentication/oauth/oauth_config.ts";
import { createLogger, SILENT } from "../../../src/logging/logger.ts";
import { Provider } from "../../../src/authentication/oauth/provider.ts";
import { RemoteUnavailable } from "../../../src/outgoing/remote_unavailable.ts";
import { type OidcProvider, startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { createSigner, type TokenSigner } from "../../identity_provider/token_issuer.ts";
import { inTime } from "../../fixtures/deadline.ts";
import { VirtualTime } from "../../fixtures/virtual_time.ts";
import { httpsClient, PROVIDER_TLS } from "../remote_subject.ts";
import { bearer } from "../sample_credentials.ts";
import { OAUTH_CONFIG } from "./oauth_config.ts";

const [OLD, NEW] = [createSigner("ES256", "old"), createSigner("ES256", "new")];
const [MINUTE, HOUR] = [60_000, 3_600_000];

interface Setting {
  readonly provider: OidcProvider;
  readonly subject: OAuth;
  readonly time: VirtualTime;
  readonly lines: string[];
  /** Returns how often the keys were fetched. */
  fetches(): number;
  /** Advances the clock and waits for the tasks that fall due. */
  pass(ms: number): Promise<void>;
  /** Shows a new token that ends a day later. Returns `accepted`, or the reason of a refusal or an outage. */
  ask(signer: TokenSigner): Promise<string>;
  /** Does the same with a given token. */
  show(token: string): Promise<string>;
  token(signer: TokenSigner): string;
}

async function withKeys(
  config: Partial<OAuthConfig>,
  run: (setting: Setting) => Promise<void>,
): Promise<void> {
  await using provider = await startOidcProvider(PROVIDER_TLS);
  provider.keys.push(OLD.jwk);
  const http = httpsClient();
  const time = new VirtualTime();
  const lines: string[] = [];
  const subject = new OAuth({
    ...OAUTH_CONFIG,
    issuer: provider.issuer,
    address: undefined,
    opaqueTokens: false,
    identityTemplate: "CN=%sub%",
    acceptAnyAudience: true,
    ...config,
  }, {
    http,
    clock: time.clock,
    elapsed: time.clock,
    schedule: time.schedule,
    log: createLogger((line) => lines.push(line), { threshold: "debug" }),
  });
  let made = 0;
  const token = (signer: TokenSigner) => {
    const exp = Math.floor(time.now / 1000) + 86_400;
    return signer.sign({ iss: provider.issuer, sub: "ann", scope: "x", jti: String(made++), exp });
  };
  const show = async (token: string) => {
    try {
      const result = await subject.authenticate(bearer(token), new AbortController().signal);
      return "reason" in result ? result.reason ?? "" : result.kind;
    } catch (error) {
      assert.ok(error instanceof RemoteUnavailable, String(error));
      return `out of order: ${error.reason}`;
    }
  };
  try {
    await run({
      provider,
      subject,
      time,
      lines,
      fetches: () => provider.server.seen.filter(({ path }) => path === "/keys").length,
      pass: (ms) => time.advance(ms, () => subject.warmUp()),
      token,
      show,
      ask: (signer) => show(token(signer)),
    });
  } finally {
    subject.close();
    http.close();
  }
}

const UNKNOWN = "signed by a key that the issuer does not have";

Deno.test("KeySet fetches its keys before the first token, and not again for later ones", async () => {
  await withKeys({}, async ({ subject, ask, provider }) => {
    await subject.warmUp();
    assert.equal(provider.server.seen.length, 2);
    for (let i = 0; i < 100; i++) assert.equal(await ask(OLD), "accepted");
    assert.equal(provider.server.seen.length, 2);
  });
});

Deno.test("KeySet fetches a new key of the issuer as soon as a token names it, several times in a row", async () => {
  await withKeys({}, async ({ subject, provider, ask, fetches }) => {
    await subject.warmUp();
    for (const name of ["first", "second", "third"]) {
      const next = createSigner("ES256", name);
      provider.keys.splice(0, 1, next.jwk);
      assert.equal(await ask(next), "accepted");
    }
    assert.equal(fetches(), 4);
  });
});

Deno.test("KeySet fetches for unknown keys three times, then after 1, 2, 4 and at most 30 seconds", async () => {
  await withKeys({}, async ({ subject, ask, fetches, time }) => {
    await subject.warmUp();
    const begun = time.now;
    const at: number[] = [];
    for (let made = 0; time.now < begun + 120_000; time.now += 500) {
      const before = fetches();
      const said = await ask(createSigner("EdDSA", `stranger ${made++}`));
      if (fetches() > before) at.push((time.now - begun) / 1000);
      assert.match(said, fetches() > before ? /^signed by a key/ : /^out of order: .*unknown keys/);
    }
    assert.deepEqual(at, [0, 0.5, 1, 2, 4, 8, 16, 32, 62, 92]);
  });
});

Deno.test("KeySet fetches at most twice for many simultaneous tokens with unknown keys", async () => {
  await withKeys({}, async ({ subject, ask, fetches }) => {
    await subject.warmUp();
    const strangers = Array.from({ length: 20 }, (_, i) => createSigner("EdDSA", `stranger ${i}`));
    assert.deepEqual(new Set(await Promise.all(strangers.map(ask))), new Set([UNKNOWN]));
    assert.ok(fetches() <= 3, String(fetches()));
  });
});

Deno.test("KeySet does not refuse a token whose key it may not fetch yet, but says when to try again", async () => {
  await withKeys({}, async ({ subject, provider, ask, time, fetches }) => {
    await subject.warmUp();
    for (let i = 0; i < 3; i++) await ask(createSigner("EdDSA", `stranger ${i}`));
    provider.keys.splice(0, 1, NEW.jwk);
    const { signal } = new AbortController();
    const exp = Math.floor(time.now / 1000) + 600;
    const token = bearer(NEW.sign({ iss: provider.issuer, sub: "ann", scope: "x", exp }));
    await assert.rejects(subject.authenticate(token, signal), { headers: { "Retry-After": "1" } });
    time.now += 1000;
    assert.equal(await ask(NEW), "accepted");
    assert.equal(fetches(), 5);
  });
});

Deno.test("KeySet looks again for a key that was missing", async () => {
  await withKeys({}, async ({ subject, provider, ask, time }) => {
    await subject.warmUp();
    for (let i = 0; i < 3; i++) assert.equal(await ask(NEW), UNKNOWN);
    provider.keys.push(NEW.jwk);
    assert.equal(await ask(NEW), UNKNOWN, "it was not there a moment ago");
    time.now += 1000;
    assert.equal(await ask(NEW), "accepted");
  });
});

Deno.test("KeySet drops a withdrawn key within ten minutes, and then refuses tokens that it accepted before", async () => {
  await withKeys({ cacheSeconds: 86_400 }, async ({ subject, provider, ask, show, token, fetches, pass }) => {
    await subject.warmUp();
    const shown = token(OLD);
    assert.equal(await show(shown), "accepted");
    provider.keys.splice(0, 1, NEW.jwk);
    await pass(10 * MINUTE);
    assert.equal(fetches(), 2);
    assert.equal(await show(shown), UNKNOWN);
    assert.equal(await ask(OLD), UNKNOWN);
    assert.equal(await ask(NEW), "accepted");
  });
});

Deno.test("KeySet schedules and logs nothing when it is closed during a fetch", async () => {
  await withKeys({}, async ({ subject, provider, time, lines }) => {
    await subject.warmUp();
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    provider.fault = (_request, { socket }) => {
      socket?.on("close", () => ended.resolve());
      begun.resolve();
    };
    await time.advance(10 * MINUTE, () => begun.promise);
    subject.close();
    await inTime(ended.promise, "the fetch to end");
    assert.equal(time.pending, 0);
    assert.doesNotMatch(lines.join(""), /not renewed/);
  });
});

Deno.test("KeySet keeps keys through an outage of a day, and no longer", async () => {
  await withKeys({}, async ({ subject, provider, ask, pass, lines, time }) => {
    await subject.warmUp();
    provider.fault = (_request, response) => response.writeHead(503).end();
    await pass(10 * MINUTE);
    time.now += 22 * HOUR; // as on a host that was suspended: due tasks run once
    await pass(50 * MINUTE);
    assert.equal(await ask(OLD), "accepted");
    assert.match(await ask(NEW), /^out of order/);
    assert.match(lines.join(""), /not renewed, the previous ones stay in use for a day/);
    await pass(HOUR + MINUTE);
    assert.match(await ask(OLD), /^out of order/);
    provider.fault = undefined;
    await pass(10 * MINUTE);
    assert.equal(await ask(OLD), "accepted");
  });
});

Deno.test("KeySet survives broken connections to the issuer, at the start and later", async () => {
  await withKeys({}, async ({ subject, provider, ask, pass, lines }) => {
    provider.fault = () => provider.server.cut();
    await subject.warmUp();
    assert.match(lines.join(""), /not yet available/);
    assert.match(await ask(OLD), /^out of order/);
    provider.fault = undefined;
    await pass(2 * MINUTE);
    assert.equal(await ask(OLD), "accepted");
    provider.fault = () => provider.server.cut();
    await pass(20 * MINUTE);
    assert.equal(await ask(OLD), "accepted");
  });
});

const USELESS: readonly [what: string, keys: readonly unknown[], reason: RegExp][] = [
  ["no keys", [], /no key at all/],
  ["only private keys", [{ ...NEW.jwk, d: "AAAA" }], /a secret key/],
  ["only shared secrets", [{ kty: "oct", k: "AAAA" }], /a secret key/],
  [
    "only weak keys",
    [createSigner("RS256", "w", { bits: 1024 }).jwk],
    /RSA of other than 2048 to 4096 bits/,
  ],
  ["an empty modulus", [{ kty: "RSA", n: "", e: "AQAB" }], /RSA of other than/],
  ["a long exponent", [{ ...createSigner("RS256", "w").jwk, e: "B".repeat(400) }], /a long exponent/],
  ["only keys for encryption", [{ ...NEW.jwk, use: "enc" }], /not for signatures/],
  ["a key with a number as kid", [{ ...NEW.jwk, kid: 1 }], /a kid that is no text/],
  ["an unknown curve", [{ kty: "EC", crv: "secp256k1", x: "A", y: "A" }], /another curve/],
  ["values that are no keys", [null, "key", []], /no JSON object/],
  ["too many keys", Array.from({ length: 101 }, () => NEW.jwk), /more than 100 keys/],
];
for (const [what, keys, reason] of USELESS) {
  Deno.test(`KeySet keeps its keys if the issuer publishes ${what}`, async () => {
    await withKeys({}, async ({ subject, provider, ask, pass, lines }) => {
      await subject.warmUp();
      provider.keys.splice(0, 1, ...keys);
      await pass(10 * MINUTE);
      assert.equal(await ask(OLD), "accepted");
      assert.match(lines.join(""), reason);
    });
  });
}

const DOCUMENTS: readonly [what: string, metadata: Readonly<Record<string, unknown>>, reason: RegExp][] = [
  [
    "of another issuer",
    { issuer: "https://evil.example" },
    /the discovery document is of https:\/\/evil.example, expected https/,
  ],
  ["of an issuer with a trailing slash", { issuer: "https://localhost/" }, /the discovery document is of/],
  ["with a number as issuer", { issuer: 1 }, /is of no issuer/],
  ["without jwks_uri", { jwks_uri: undefined }, /names no jwks_uri, expected .*SUBJECT\.jwksUri/],
  [
    "with keys on another host",
    { jwks_uri: "https://keys.example/jwks" },
    /jwks_uri https:\/\/keys\.example\/jwks is on another host or port .*SUBJECT\.jwksUri=https:\/\/keys\.example\/jwks/,
  ],
  ["with keys on another port", { jwks_uri: "https://localhost:1/jwks" }, /on another host or port/],
  ["with keys without TLS", { jwks_uri: "http://localhost/jwks" }, /on another host or port/],
  [
    "with keys in a file",
    { jwks_uri: "file:///etc/passwd" },
    /jwks_uri of the discovery document is no web address/,
  ],
  ["with a list as jwks_uri", { jwks_uri: ["https://localhost/"] }, /is no web address/],
  ["with a password in jwks_uri", { jwks_uri: "https://a:b@localhost/" }, /has a user name, a password/],
];
for (const [what, metadata, reason] of DOCUMENTS) {
  Deno.test(`Provider rejects a discovery document ${what}`, async () => {
    await withKeys({}, async ({ subject, provider, ask, lines }) => {
      provider.metadata = metadata;
      await subject.warmUp();
      assert.match(lines.join(""), reason);
      assert.match(await ask(OLD), /^out of order/);
    });
  });
}

Deno.test("Provider reads the metadata of RFC 8414 if there is no OpenID Connect discovery document", async () => {
  await withKeys({}, async ({ subject, provider, ask }) => {
    provider.fault = (request, response) => {
      provider.fault = undefined;
      assert.equal(request.path, "/.well-known/openid-configuration");
      response.writeHead(404).end();
    };
    provider.metadataPath = "/.well-known/oauth-authorization-server";
    await subject.warmUp();
    assert.equal(await ask(OLD), "accepted");
  });
});

Deno.test("Provider reads no discovery document if jwksUri is all it needs", async () => {
  await withKeys({}, async ({ provider }) => {
    await withKeys({ jwksUri: `${provider.issuer}/keys` }, async ({ subject, provider: silent }) => {
      await subject.warmUp();
      assert.equal(silent.server.seen.length, 0);
    });
    assert.deepEqual(provider.server.seen.map(({ path }) => path), ["/keys"]);
  });
});

Deno.test("Provider rejects a discovery document or keys with a status other than 200", async () => {
  for (const path of ["/.well-known/openid-configuration", "/keys"]) {
    await withKeys({}, async ({ subject, provider, ask, lines }) => {
      provider.fault = (request, response) => {
        const { issuer, keys } = provider;
        response.writeHead(request.path === path ? 203 : 200, { "Content-Type": "application/json" });
        response.end(JSON.stringify(
          request.path === "/keys" ? { keys } : { issuer, jwks_uri: `${issuer}/keys` },
        ));
      };
      await subject.warmUp();
      assert.match(lines.join(""), new RegExp(`status 203 for the .*${path}`));
      assert.match(await ask(OLD), /^out of order/);
    });
  }
});

Deno.test("Provider sends no browser to an authorization endpoint without TLS", async () => {
  await using provider = await startOidcProvider(PROVIDER_TLS);
  const http = httpsClient();
  const caller = {
    queueKey: "",
    known: true,
    credential: "",
    address: "",
    signal: new AbortController().signal,
  };
  const parts = { http, clock: () => 0, log: SILENT };
  const endpoint = async (authorization_endpoint: string) => {
    provider.metadata = { authorization_endpoint };
    return await new Provider({ ...OAUTH_CONFIG, issuer: provider.issuer }, parts).authorizationEndpoint(
      caller,
    );
  };
  assert.equal(await endpoint("https://login.example/"), "https://login.example/");
  await assert.rejects(endpoint("http://login.example/"), /has another scheme than the issuer/);
  http.close();
});
