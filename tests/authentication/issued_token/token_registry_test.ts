/** Tests of the registry of issued and revoked tokens. */
import assert from "node:assert/strict";
import { createPrivateKey, hash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { until } from "../../fixtures/deadline.ts";
import { TokenIssuer, type TokenRequest } from "../../../src/authentication/issued_token/issue.ts";
import { type TokenOwner, TokenRegistry } from "../../../src/authentication/issued_token/token_registry.ts";
import { issuedToken } from "../../../src/authentication/issued_token/verify.ts";
import { parseSignedToken } from "../../../src/authentication/signed_token.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { Sink } from "../../../src/logging/sink.ts";
import type { Caller, Identity } from "../../../src/model/identity.ts";
import type { TlsMaterial } from "../../../src/model/tls_material.ts";
import { httpError, isHttpError } from "../../../src/model/http_error.ts";
import { openRecordStore } from "../../../src/store/sqlite_record_store.ts";
import { createAuthority } from "../../pki/authority.ts";
import { bearer } from "../sample_credentials.ts";
import { canonicalDn } from "../../../src/model/distinguished_name.ts";
import { presentedToken } from "../../../src/authentication/issued_token/registered_token.ts";
import { signToken } from "../sign_token.ts";

const NOW = 1_800_000_000;
const SERVER = "CN=auth,O=Site";
const CA = createAuthority({ subject: "CN=Test CA" });
const [FIRST, SECOND, RENAMED] = [SERVER, SERVER, "CN=auth2,O=Site"].map((subject): TlsMaterial => ({
  ...CA.issue({ subject }),
  anchors: [CA.certificate],
}));
const ANN: Identity = { dn: "CN=Ann, O=Site", method: "PASSWORD_FILE", via: "PASSWORD", login: "ann" };
const BOB: Identity = { ...ANN, dn: "CN=Bob, O=Site", login: "bob" };
const PLAIN: TokenRequest = { renewable: true, limited: false };
const FROM = "192.0.2.1";

/** Opens instances of a service with one store, one certificate and one clock, which tests change. */
async function site() {
  const folder = await Deno.makeTempDir();
  const state = { now: NOW * 1000, tls: FIRST, elapsed: 0, looks: 100, staleMs: 0, full: false };
  const clock = () => state.now;
  const stores: ReturnType<typeof openRecordStore>[] = [];
  const instance = () => {
    const records = openRecordStore(`${folder}/records.sqlite`, clock);
    stores.push(records);
    const writes = { count: 0 };
    const put = records.put.bind(records);
    Object.defineProperty(records, "put", {
      value: (...args: Parameters<typeof put>) => {
        writes.count++;
        return state.full ? Promise.reject(httpError("ERR_RECORD_STORE", "away")) : put(...args);
      },
    });
    const elapsed = () => state.elapsed += state.looks;
    const registry = new TokenRegistry({
      elapsed,
      records,
      clock,
      log: SILENT,
      uses: new Sink("token-uses", SILENT),
      longest: 86_400 * 30,
      recordsUses: true,
      outage: { staleMs: () => state.staleMs, graceMs: 60_000, shortMs: 300_000 },
    });
    const tls = () => {
      assert.ok(state.tls);
      return state.tls;
    };
    const limits = { defaultLifetime: 3600, maxLifetime: 86_400, renewalPeriod: 86_400 * 30 };
    const issuer = new TokenIssuer({ tls, clock, limits, registry, derivedUntil: () => Infinity });
    const accountStatus = () => Promise.resolve({ kind: "cannot tell" as const });
    const check = issuedToken({ tls, clock, trustedIssuers: [], accountStatus, registry, log: SILENT });
    const accepts = async (token: string, clientAddress = FROM) => {
      const credentials = { ...bearer(token), clientAddress };
      const result = await check.authenticate(credentials, new AbortController().signal);
      return result.kind === "accepted" ? result.identity : undefined;
    };
    const issue = (identity: Identity, request: Partial<TokenRequest> = {}) => {
      const caller: Caller = { kind: "authenticated", identity };
      return issuer.issue(caller, { ...PLAIN, ...request }, { role: "user", clientAddress: FROM });
    };
    const renew = async (token: string, request: Partial<TokenRequest> = {}) => {
      const identity = await accepts(token);
      assert.ok(identity, "the token counts");
      return await issue(identity, request);
    };
    return { registry, records, writes, accepts, issue, renew };
  };
  return {
    state,
    folder,
    instance,
    async [Symbol.asyncDispose]() {
      for (const store of stores) store.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const idOf = (token: string) => String(parseSignedToken(token).claims.get("jti"));
const owner = ({ dn }: Identity): TokenOwner => ({ dn });

Deno.test("TokenRegistry lists a user's tokens with their restrictions, and when and from where they were used", async () => {
  await using s = await site();
  const { registry, issue, accepts } = s.instance();
  const restrictions = { paths: ["/data/run7/"], activity: "read" as const };
  const token = await issue(ANN, { name: "portal", restrictions, renewable: false, lifetime: 60 });
  await issue(BOB);
  const made = {
    digest: parseSignedToken(token).digest,
    made: NOW,
    expires: NOW + 60,
    latest: NOW + 60,
    root: idOf(token),
    line: [],
    since: NOW * 1000,
    name: "portal",
    restrictions,
    renewable: false,
    limited: true,
    by: undefined,
    servers: undefined,
    madeFrom: FROM,
    used: undefined,
    id: idOf(token),
  };
  assert.deepEqual(await registry.list({ dn: "cn=ann,o=site" }), [made]);
  s.state.now += 1000;
  assert.ok(await accepts(token, "192.0.2.7"));
  assert.ok(await accepts(token, "192.0.2.8"));
  const used = { day: "2027-01-15", address: "192.0.2.7" };
  assert.deepEqual(await registry.list(owner(ANN)), [{ ...made, used }]);
  s.state.now += 60_000;
  assert.deepEqual(await registry.list(owner(ANN)), [], "what has ended");
});

Deno.test("TokenRegistry records one use of each token per day, on all instances together", async () => {
  await using s = await site();
  const one = s.instance();
  const token = await one.issue(ANN, { lifetime: 86_400 });
  one.writes.count = 0;
  for (let i = 0; i < 20; i++) assert.ok(await one.accepts(token));
  assert.equal(one.writes.count, 1);
  const two = s.instance();
  assert.ok(await two.accepts(token));
  assert.equal(two.writes.count, 0, "another instance has today's already");
  s.state.now += 80_000_000;
  for (let i = 0; i < 20; i++) assert.ok(await one.accepts(token));
  assert.equal(one.writes.count, 2);
});

Deno.test("TokenRegistry reads revocations only when the store has changed", async () => {
  await using s = await site();
  const { records, issue, accepts, registry } = s.instance();
  const token = await issue(ANN);
  assert.ok(await accepts(token));
  await until(async () => (await registry.list(owner(ANN)))[0]?.used !== undefined);
  assert.ok(await accepts(token));
  let reads = 0;
  for (const name of ["get", "list"] as const) {
    const real = records[name].bind(records);
    Object.defineProperty(records, name, {
      value: (kind: string, key: string) => (reads++, real(kind, key)),
    });
  }
  for (let i = 0; i < 20; i++) assert.ok(await accepts(token));
  assert.equal(reads, 0);
  await issue(BOB);
  reads = 0;
  for (let i = 0; i < 20; i++) assert.ok(await accepts(token));
  assert.equal(reads, 2);
});

Deno.test("TokenRegistry asks the store at most ten times a second, but applies its own revocations at once", async () => {
  await using s = await site();
  const [one, two] = [s.instance(), s.instance()];
  const [first, second] = [await one.issue(ANN), await one.issue(ANN)];
  for (const token of [first, second]) assert.ok(await two.accepts(token));
  await two.issue(BOB); // the first uses of both tokens have been recorded by then
  for (const token of [first, second]) assert.ok(await two.accepts(token));
  s.state.looks = 0;
  assert.ok(await one.registry.revoke(owner(ANN), idOf(first)));
  assert.equal(await one.accepts(first), undefined);
  s.state.elapsed += 99;
  assert.ok(await two.accepts(first));
  s.state.elapsed += 1;
  assert.equal(await two.accepts(first), undefined);
  assert.equal(await two.registry.revokeAll(owner(ANN)), 1);
  assert.equal(await two.accepts(second), undefined);
});

Deno.test("every instance refuses a revoked token and all tokens that descend from it", async () => {
  await using s = await site();
  const [one, two] = [s.instance(), s.instance()];
  const parent = await one.issue(ANN);
  const child = await one.renew(parent);
  const grandchild = await two.renew(child);
  await two.renew(child); // a token that nobody uses
  const other = await one.issue(ANN);
  for (const token of [parent, child, grandchild, other]) assert.ok(await two.accepts(token));
  assert.equal(await one.registry.revoke(owner(BOB), idOf(child)), false, "somebody else's");
  assert.equal(await one.registry.revoke(owner(ANN), "no such id"), false);
  assert.equal(await one.registry.revoke(owner(ANN), idOf(child)), true);
  assert.equal(await two.registry.revoke(owner(ANN), idOf(child)), false, "it is not there any more");
  assert.deepEqual(
    (await two.registry.list(owner(ANN))).map(({ id }) => id).sort(),
    [parent, other].map(idOf).sort(),
  );
  for (const each of [one, two, s.instance()]) {
    assert.ok(await each.accepts(parent));
    assert.ok(await each.accepts(other));
    assert.equal(await each.accepts(child), undefined);
    assert.equal(await each.accepts(grandchild), undefined);
  }
  s.state.now += 3_700_000; // the grandchild outlives the token that it was renewed from
  assert.equal(await two.accepts(grandchild), undefined);
});

Deno.test("TokenRegistry.revokeAll() also revokes unlisted tokens, but none that are issued afterwards", async () => {
  await using s = await site();
  const { registry, records, issue, accepts, renew } = s.instance();
  const tokens = [await issue(ANN), await issue(ANN)];
  tokens.push(await renew(tokens[0] ?? ""));
  const unlisted = await issue(ANN);
  await records.remove("token", idOf(unlisted));
  const bobs = await issue(BOB);
  assert.equal(await registry.revokeAll(owner(ANN)), 3);
  s.state.now += 1; // a millisecond
  const after = await issue(ANN);
  for (const token of [...tokens, unlisted]) assert.equal(await accepts(token), undefined);
  assert.ok(await accepts(bobs));
  assert.ok(await accepts(after));
  assert.ok(await accepts(await renew(after)));
  assert.equal((await registry.list(owner(ANN))).length, 2);
});

Deno.test("TokenRegistry.revokeAll() also revokes tokens of an instance whose clock is ahead", async () => {
  await using s = await site();
  const { registry, issue, accepts } = s.instance();
  s.state.now += 30_000;
  const token = await issue(ANN);
  s.state.now -= 30_000;
  await registry.revokeAll(owner(ANN));
  assert.equal(await accepts(token), undefined);
});

Deno.test("old tokens without an id are identified by their digest, listed when used, and can be revoked", async () => {
  await using s = await site();
  const { registry, accepts, renew } = s.instance();
  const old = (sub: string, more: object = {}) =>
    signToken({
      header: { alg: "ES256" },
      claims: { sub, iss: SERVER, iat: NOW - 10, exp: NOW + 3000, etd: "true", via: "PASSWORD", ...more },
      key: createPrivateKey(FIRST?.key ?? ""),
    });
  const [one, two] = [old(ANN.dn, { renewable: "true", renewableUntil: NOW + 3000 }), old(ANN.dn)];
  assert.ok(await accepts(one));
  const child = await renew(one, { lifetime: 100 });
  const [listed] = await registry.list(owner(ANN));
  assert.match(listed?.id ?? "", /^sha256-[\w-]{43}$/);
  assert.ok(await registry.revoke(owner(ANN), listed?.id ?? ""));
  assert.equal(await accepts(one), undefined);
  assert.equal(await accepts(child), undefined);
  assert.ok(await accepts(two));
  await registry.revokeAll(owner(ANN));
  assert.equal(await accepts(two), undefined);
  assert.equal(await accepts(old(ANN.dn, { name: "never seen" })), undefined);
});

Deno.test("a revocation reaches all descendants, even if the line is longer than a token can name", async () => {
  await using s = await site();
  const { registry, issue, accepts, renew } = s.instance();
  const line = [await issue(ANN, { lifetime: 86_000 })];
  for (let i = 0; i < 40; i++) line.push(await renew(line.at(-1) ?? "", { lifetime: 50_000 + i }));
  const other = await issue(ANN);
  const last = line.at(-1) ?? "";
  assert.ok(last.length < 4000, String(last.length));
  assert.ok(await accepts(last));
  await registry.revoke(owner(ANN), idOf(line[3] ?? ""));
  for (const [i, token] of line.entries()) {
    const identity = await accepts(token);
    if (i < 3) assert.ok(identity);
    else assert.equal(identity, undefined, `number ${i}`);
  }
  assert.ok(await accepts(other));
});

Deno.test("short-lived tokens in between do not hide a revoked ancestor", async () => {
  await using s = await site();
  const { registry, issue, accepts, renew } = s.instance();
  const stolen = await renew(await issue(ANN), { lifetime: 20_000 });
  let token = stolen;
  for (let i = 0; i < 40; i++) {
    token = await renew(token, { lifetime: 61 });
    s.state.now += 100;
  }
  token = await renew(token, { lifetime: 20_000 });
  s.state.now += 100_000;
  token = await renew(token, { lifetime: 10_000 });
  assert.ok(await accepts(token));
  await registry.revoke(owner(ANN), idOf(stolen));
  assert.equal(await accepts(token), undefined);
});

Deno.test("tokens that a user revokes one after another all stay revoked", async () => {
  await using s = await site();
  const { registry, records, issue, accepts } = s.instance();
  const first = await issue(ANN);
  await registry.revoke(owner(ANN), idOf(first));
  using database = new DatabaseSync(`${s.folder}/records.sqlite`);
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
    INSERT INTO record SELECT 'revoked-token', 'r' || i, 'cn=ann,o=site', ${NOW}, ${
    NOW + 90_000
  }, '{}' FROM n`);
  const [second, third] = [await issue(ANN), await issue(ANN)];
  await registry.revoke(owner(ANN), idOf(second));
  for (const token of [first, second, third]) assert.equal(await accepts(token), undefined);
  s.state.now += 62_000; // more than the allowed clock skew
  await registry.revokeAll(owner(ANN));
  assert.equal((await records.list("revoked-token", "cn=ann,o=site")).length, 0);
});

Deno.test("TokenRegistry lists the 1,000 tokens of a user that expire last; the others stay valid until revoked", async () => {
  await using s = await site();
  const { registry, records, issue, accepts } = s.instance();
  const first = await issue(ANN, { lifetime: 100 });
  const content = JSON.stringify((await records.get("token", idOf(first)))?.content);
  {
    using database = new DatabaseSync(`${s.folder}/records.sqlite`);
    database.prepare(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
      INSERT INTO record SELECT 'token', 't' || i, 'cn=ann,o=site', ${NOW}, ${NOW + 90_000}, ? FROM n`)
      .run(content);
  }
  assert.equal((await registry.list(owner(ANN))).length, 1000);
  const last = await issue(ANN, { lifetime: 200 });
  const ids = (await registry.list(owner(ANN))).map(({ id }) => id);
  assert.deepEqual([ids.length, ids.includes(idOf(first)), ids.includes(idOf(last))], [1000, false, true]);
  assert.ok(await accepts(first), "what is not listed counts");
  assert.equal(await registry.revoke(owner(ANN), idOf(first)), true, "it was used, and is listed again");
  assert.equal(await accepts(first), undefined);
  await registry.revokeAll(owner(ANN));
  assert.equal(await accepts(last), undefined);
});

Deno.test("a user with accounts on only some servers lists and revokes only tokens for these servers", async () => {
  await using s = await site();
  const { registry, issue, accepts } = s.instance();
  const here = await issue({ ...ANN, uid: "ann", uidServers: ["HPC"] });
  const there = await issue({ ...ANN, uid: "ann", uidServers: ["TWO"] });
  const caller = { ...owner(ANN), servers: ["HPC", "THREE"] };
  assert.deepEqual((await registry.list(caller)).map(({ id }) => id), [idOf(here)]);
  assert.equal(await registry.revoke(caller, idOf(there)), false);
  assert.equal(await registry.revokeAll(caller), 1);
  assert.equal(await accepts(here), undefined);
  assert.ok(await accepts(there));
});

Deno.test("TokenRegistry.revokeAll() revokes a token that a namesake's tokens for other servers pushed out of the list", async () => {
  await using s = await site();
  const { registry, records, issue, accepts } = s.instance();
  const here = await issue({ ...ANN, uid: "ann", uidServers: ["HPC"] }, { lifetime: 100 });
  const there = await issue({ ...ANN, uid: "ann", uidServers: ["TWO"] });
  const content = JSON.stringify((await records.get("token", idOf(there)))?.content);
  {
    using database = new DatabaseSync(`${s.folder}/records.sqlite`);
    database.prepare(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
      INSERT INTO record SELECT 'token', 't' || i, 'cn=ann,o=site', ${NOW}, ${NOW + 90_000}, ? FROM n`)
      .run(content);
  }
  await issue({ ...ANN, uid: "ann", uidServers: ["TWO"] });
  const caller = { ...owner(ANN), servers: ["HPC", "THREE"] };
  assert.deepEqual(await registry.list(caller), []);
  const [one] = await registry.list({ ...owner(ANN), servers: ["TWO"] });
  assert.ok(one && await registry.revoke({ ...owner(ANN), servers: ["TWO"] }, one.id)); // no longer full
  assert.equal(await registry.revokeAll(caller), 0);
  for (const each of [accepts, s.instance().accepts]) {
    assert.equal(await each(here), undefined);
    assert.ok(await each(there));
  }
  s.state.now += 1; // a millisecond
  assert.ok(await accepts(await issue({ ...ANN, uid: "ann", uidServers: ["HPC"] })));
});

Deno.test("a listed token stays valid after its certificate is replaced, but no unlisted token of that key does", async () => {
  await using s = await site();
  const one = s.instance();
  const [listed, limited] = [await one.issue(ANN), await one.issue(ANN, { limited: true })];
  const key = createPrivateKey(FIRST?.key ?? "");
  const claims = { ...Object.fromEntries(parseSignedToken(listed).claims), name: "forged" };
  const forged = signToken({ header: { alg: "ES256" }, claims, key });
  assert.ok(await one.accepts(forged), "before the certificate is replaced, the signature alone says it");
  s.state.tls = SECOND;
  const two = s.instance();
  for (const each of [one, two]) {
    assert.equal((await each.accepts(listed))?.dn, ANN.dn);
    assert.ok(await each.accepts(limited));
    assert.equal(await each.accepts(forged), undefined);
  }
  await one.registry.revoke(owner(ANN), idOf(listed));
  assert.equal(await two.accepts(listed), undefined);
  s.state.tls = RENAMED;
  assert.equal(await two.accepts(limited), undefined, "nobody vouches for a certificate of another name");
  s.state.tls = SECOND;
  assert.ok(await two.accepts(limited));
  s.state.now += 3_700_000;
  assert.equal(await two.accepts(limited), undefined, "it has ended");
});

Deno.test("a row in the table of tokens makes no forgery valid, whatever its algorithm and its signer", async () => {
  await using s = await site();
  const { records, accepts, issue } = s.instance();
  const genuine = parseSignedToken(await issue(ANN));
  const claims = { ...Object.fromEntries(genuine.claims), jti: "forged", role: "admin" };
  const stranger = createAuthority({ subject: "CN=Another CA" }).issue({ subject: SERVER });
  const user = CA.issue({ subject: "CN=Ann,O=Site" });
  const keyOf = ({ key }: { readonly key: string }) => createPrivateKey(key);
  const unsigned = [{ alg: "none" }, claims].map((part) =>
    new TextEncoder().encode(JSON.stringify(part)).toBase64({ alphabet: "base64url", omitPadding: true })
  );
  const forged = [
    `${unsigned.join(".")}.AAAA`,
    signToken({ header: { alg: "ES256" }, claims, key: keyOf(stranger) }),
    signToken({ header: { alg: "ES256" }, claims, key: keyOf(user) }),
    signToken({ header: { alg: "ES256" }, claims: { ...claims, iss: "CN=Ann,O=Site" }, key: keyOf(user) }),
  ];
  const [row] = await records.list("token");
  assert.ok(row !== undefined && typeof row.content === "object");
  const certificates = [stranger, user].flatMap(({ certificate }) => [certificate]);
  for (const name of [SERVER, "CN=Ann,O=Site"].map(canonicalDn)) {
    for (const [i, pem] of certificates.entries()) {
      const issuer = { key: `${name}${i}`, owner: name, made: NOW, ends: NOW + 9000, content: { pem } };
      await records.put("token-issuer", issuer, 99);
    }
  }
  for (const [i, text] of forged.entries()) {
    const content = { ...row.content, digest: hash("sha256", text, "base64") };
    await records.put("token", { ...row, key: "forged", content }, 99);
    assert.equal(await accepts(text), undefined, `forgery ${i}`);
  }
});

Deno.test("listed tokens become invalid when the authority revokes their replaced certificate", async () => {
  await using s = await site();
  const { accepts, issue } = s.instance();
  const token = await issue(ANN);
  s.state.tls = SECOND;
  assert.ok(await accepts(token));
  const list = CA.revoke([FIRST?.certificate ?? ""]).replaceAll(/-----.*-----|\s/g, "");
  assert.ok(SECOND);
  s.state.tls = { ...SECOND, revocation: { mode: "IF_VALID", lists: [list] } };
  assert.equal(await accepts(token), undefined);
});

Deno.test("TokenRegistry.revokeAll() preserves what other instances issue and revoke meanwhile", async () => {
  await using at = await site();
  const [one, two] = [at.instance(), at.instance()];
  const old = await one.issue(ANN);
  const raise = one.records.raise.bind(one.records);
  const made: string[] = [];
  Object.defineProperty(one.records, "raise", {
    value: async (...args: Parameters<typeof raise>) => {
      const kept = await raise(...args);
      at.state.now += 5;
      made.push(await two.issue(ANN), await two.issue(ANN));
      const [, revoked] = await two.registry.list(owner(ANN));
      assert.ok(revoked);
      assert.equal(await two.registry.revoke(owner(ANN), revoked.id), true);
      return kept;
    },
  });
  await one.registry.revokeAll(owner(ANN));
  at.state.now += 1000;
  for (const { accepts, registry } of [one, two]) {
    assert.equal(await accepts(old), undefined);
    const valid = await Promise.all(made.map(async (token) => await accepts(token) !== undefined));
    assert.deepEqual(valid.toSorted(), [false, true]);
    assert.equal((await registry.list(owner(ANN))).length, 1, "the other one is still listed");
  }
});

Deno.test("TokenRegistry.revokeAll() never restores what an earlier call revoked, even if the clock went back", async () => {
  await using s = await site();
  const [one, two] = [s.instance(), s.instance()];
  s.state.now += 4000;
  const unlisted = await one.issue(ANN);
  await one.registry.revokeAll(owner(ANN));
  assert.equal(await two.accepts(unlisted), undefined);
  s.state.now -= 4000;
  for (const { registry } of [one, two, one]) await registry.revokeAll(owner(ANN));
  for (const { accepts } of [one, two]) assert.equal(await accepts(unlisted), undefined);
});

Deno.test("TokenRegistry.noteUse() that writes late does not put a revoked token back into the list", async () => {
  for (const revoke of ["revoke", "revokeAll"] as const) {
    await using s = await site();
    const { registry, records, issue } = s.instance();
    const shown = presentedToken(parseSignedToken(await issue(ANN)));
    const get = records.get.bind(records);
    const written = Promise.withResolvers<void>();
    let isFirst = true;
    Object.defineProperty(records, "get", {
      // Revokes the token after its record was read and before the use is written.
      value: async (...args: Parameters<typeof get>) => {
        const found = await get(...args);
        if (args[0] !== "token" || !isFirst) return found;
        isFirst = false;
        if (revoke === "revoke") await registry.revoke(owner(ANN), shown.family.id);
        else await registry.revokeAll(owner(ANN));
        setTimeout(written.resolve);
        return found;
      },
    });
    registry.recordUse(shown, FROM);
    await written.promise;
    assert.deepEqual(await registry.list(owner(ANN)), [], revoke);
  }
});

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("login" as const), user: fc.nat({ max: 1 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("renew" as const),
      which: fc.nat(),
      lifetime: fc.integer({ min: 100, max: 5000 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("revoke" as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("revoke all" as const), user: fc.nat({ max: 1 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), seconds: fc.nat({ max: 2000 }) }) },
);

Deno.test("for any sequence of renewals and revocations, exactly the revoked tokens and their descendants end", async () => {
  const seen = { login: 0, renew: 0, revoke: 0, "revoke all": 0, wait: 0, ended: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 14 }), async (actions) => {
      await using s = await site();
      const instances = [s.instance(), s.instance()];
      const all: { token: string; user: number; parent?: number; ended: boolean }[] = [];
      const end = (i: number): void => {
        const entry = all[i];
        if (entry === undefined) return;
        entry.ended = true;
        for (const [j, { parent }] of all.entries()) if (parent === i) end(j);
      };
      for (const [n, each] of actions.entries()) {
        const { registry, issue, accepts } = instances[n % 2] ?? s.instance();
        s.state.now++;
        if (each.kind === "wait") s.state.now += each.seconds * 1000;
        else if (each.kind === "login") {
          const token = await issue(each.user === 0 ? ANN : BOB, { lifetime: 3000 });
          all.push({ token, user: each.user, ended: false });
        } else if (each.kind === "revoke all") {
          await registry.revokeAll(owner(each.user === 0 ? ANN : BOB));
          for (const [i, { user }] of all.entries()) if (user === each.user) end(i);
        } else {
          const i = each.which % Math.max(1, all.length);
          const chosen = all[i];
          const identity = chosen && await accepts(chosen.token);
          if (chosen === undefined || identity === undefined) continue;
          if (each.kind === "renew") {
            const token = await issue(identity, { lifetime: each.lifetime });
            all.push({ token, user: chosen.user, parent: i, ended: false });
          } else if (await registry.revoke({ dn: identity.dn }, idOf(chosen.token))) end(i);
        }
        seen[each.kind]++;
      }
      for (const { token, ended } of all) {
        const over = s.state.now / 1000 >= parseSignedToken(token).expires + 60;
        for (const { accepts } of instances) {
          assert.equal(await accepts(token) !== undefined, !ended && !over);
        }
        seen.ended += ended ? 1 : 0;
      }
    }),
    { numRuns: 25 },
  );
  for (const [what, times] of Object.entries(seen)) assert.ok(times > 0, `never: ${what}`);
});

Deno.test("while revocations cannot be read, tokens stay valid for a minute, then only short-lived ones", async () => {
  await using service = await site();
  const { state } = service;
  const one = service.instance();
  const [long, short, revoked] = [
    await one.issue(ANN),
    await one.issue(ANN, { lifetime: 300 }),
    await one.issue(ANN, { lifetime: 300 }),
  ];
  const id = String(parseSignedToken(revoked).claims.get("jti"));
  assert.ok(await one.registry.revoke({ dn: ANN.dn }, id));
  state.staleMs = 60_000;
  assert.ok(await one.accepts(long));
  state.staleMs = 60_001;
  await assert.rejects(one.accepts(long), (error) => isHttpError(error, "ERR_RECORD_STORE"));
  assert.ok(await one.accepts(short));
  assert.equal(await one.accepts(revoked), undefined, "as was known last");
  state.now += 200_000;
  const renewed = await one.renew(short, { lifetime: 200 });
  await assert.rejects(one.accepts(renewed), (error) => isHttpError(error, "ERR_RECORD_STORE"));
  state.staleMs = 0;
  assert.ok(await one.accepts(renewed));
});

Deno.test("a token that is issued while the database is unavailable is valid, but not listed", async () => {
  await using service = await site();
  const { state } = service;
  const one = service.instance();
  state.full = true;
  await assert.rejects(one.issue(ANN), (error) => isHttpError(error, "ERR_RECORD_STORE"), "a full disk");
  state.staleMs = Infinity;
  const unknown = (error: unknown) => isHttpError(error, "ERR_RECORD_STORE");
  await assert.rejects(one.issue(ANN), unknown, "nobody would take it");
  state.staleMs = 1000;
  const token = await one.issue(ANN);
  assert.ok(await one.accepts(token));
  assert.equal(one.writes.count, 3, "nor is its use written down");
  state.full = false;
  assert.deepEqual(await one.registry.list({ dn: ANN.dn }), []);
  state.staleMs = 0;
  state.now += 1000;
  await one.registry.revokeAll({ dn: ANN.dn });
  assert.equal(await one.accepts(token), undefined);
});
