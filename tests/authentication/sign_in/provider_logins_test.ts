/** Tests of browser logins that their provider renews and ends. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { ProviderSession, Renewal } from "../../../src/authentication/authenticator.ts";
import { LEASE_S, UNREACHABLE_S } from "../../../src/authentication/sign_in/provider_logins.ts";
import { SignIns } from "../../../src/authentication/sign_in/sign_ins.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { httpError, isHttpError } from "../../../src/model/http_error.ts";
import { IN_MEMORY } from "../../../src/store/sqlite_database.ts";
import { openRecordStore } from "../../../src/store/sqlite_record_store.ts";

const NOW = 1_800_000_000;
const ANN = { dn: "CN=Ann", method: "OAUTH", via: "OIDC", proved: NOW, role: "user" };
const SESSION = { sub: "ann", sid: "session 1", refreshToken: "a-secret-refresh-token" };
const { signal } = new AbortController();

/** Opens instances with one store, and a provider that answers as the test says. */
function site() {
  const state = {
    derivedSeconds: 28_800,
    now: NOW,
    asked: 0,
    tokens: [] as string[],
    revoked: [] as unknown[],
  };
  const provider = {
    answer: (_rotated: (refreshToken: string) => Promise<void>): Promise<Renewal> =>
      Promise.reject(new Error("nobody is asked")),
  };
  const pause = { during: () => {} }; // between two attempts to read the result of another instance
  const clock = () => state.now * 1000;
  const records = openRecordStore(IN_MEMORY, clock);
  const instance = () =>
    new SignIns({
      records: () => records,
      accountStatus: ({ proved = 0 }) =>
        Promise.resolve({ kind: proved + 28_800 > state.now ? "cannot tell" : "gone" }),
      derivedUntil: ({ proved = state.now }) => proved + state.derivedSeconds,
      limits: { idleSeconds: 30_000, maxSeconds: 100_000 },
      renew: (_identity, { refreshToken }, rotated) => {
        state.asked++;
        state.tokens.push(refreshToken);
        return provider.answer(rotated);
      },
      revokeBrowserTokens: (owner, browser) => Promise.resolve(void state.revoked.push([owner, browser])),
      signsIn: () => true,
      clock,
      schedule: (_ms, task) => {
        pause.during();
        void setImmediate().then(task);
        return () => {};
      },
      log: SILENT,
    });
  const vouches = (more: object = {}): typeof provider.answer => async (rotated) => {
    await rotated(`token ${state.asked}`);
    return { kind: "renewed", identity: { ...ANN, proved: state.now, ...more } };
  };
  const refuses = () => Promise.resolve<Renewal>({ kind: "refused", reason: "locked out" });
  /** Returns answers of a provider that accepts each refresh token once, and answers after `held`. */
  const rotates = (held: Promise<void>, asked: () => void): typeof provider.answer => {
    let valid = SESSION.refreshToken;
    return async (rotated) => {
      if (state.tokens.at(-1) !== valid) return refuses();
      const next = valid = `token ${state.asked}`;
      asked();
      await held;
      return await vouches({ role: "admin" })(() => rotated(next));
    };
  };
  const begin = (signIns: SignIns, session: ProviderSession = SESSION) =>
    signIns.begin({ identity: ANN, session });
  return {
    state,
    provider,
    pause,
    rotates,
    records,
    instance,
    vouches,
    refuses,
    begin,
    [Symbol.dispose]: () => records.close(),
  };
}

Deno.test("SignIns ask the provider every five minutes while a browser is used, and use its last answer", async () => {
  using at = site();
  const signIns = at.instance();
  const token = await at.begin(signIns);
  at.state.now += 299;
  assert.equal((await signIns.find(token, signal))?.identity.role, "user");
  assert.equal(at.state.asked, 0);
  at.provider.answer = at.vouches({ role: "admin", groups: ["hpc"] });
  at.state.now += 1;
  const many = await Promise.all(Array.from({ length: 8 }, () => signIns.find(token, signal)));
  assert.deepEqual(many.map((found) => found?.identity.role), Array(8).fill("admin"));
  assert.equal(at.state.asked, 1, "a refresh token may count once");
  at.state.now += 299;
  assert.deepEqual((await signIns.find(token, signal))?.identity.groups, ["hpc"]);
  assert.equal(at.state.asked, 1);
  at.state.now += 1;
  await signIns.find(token, signal);
  assert.deepEqual(at.state.tokens, [SESSION.refreshToken, "token 1"], "the token that was given last");
});

Deno.test("SignIns last as long as the provider renews them, up to their maximum", async () => {
  using at = site();
  const signIns = at.instance();
  const token = await at.begin(signIns);
  at.provider.answer = at.vouches();
  for (let hours = 5; hours < 26; hours += 5) {
    at.state.now = NOW + hours * 3600;
    assert.ok(await signIns.find(token, signal), `${hours} hours`);
  }
  at.state.now = NOW + 100_000;
  assert.equal(await signIns.find(token, signal), undefined);
});

Deno.test("SignIns end, and their tokens are revoked, when the provider refuses or names another user", async () => {
  for (const what of ["refused", "another"] as const) {
    using at = site();
    const signIns = at.instance();
    const token = await at.begin(signIns);
    const { id } = (await signIns.find(token, signal))?.identity.browser ?? {};
    at.provider.answer = what === "refused" ? at.refuses : at.vouches({ dn: "CN=Bob" });
    at.state.now += 300;
    assert.equal(await signIns.find(token, signal), undefined, what);
    assert.deepEqual(at.state.revoked, [["cn=ann", id]]);
    at.provider.answer = at.vouches();
    assert.equal(await signIns.find(token, signal), undefined, "it stays so");
    assert.deepEqual(await at.records.list("sign-in-renewal"), []);
  }
});

Deno.test("SignIns keep a browser for 15 minutes after the last answer of an unreachable provider, then fail until it answers", async () => {
  using at = site();
  const signIns = at.instance();
  const token = await at.begin(signIns);
  at.provider.answer = () =>
    Promise.reject(httpError("ERR_REMOTE_UNAVAILABLE", { seconds: 1, reason: "away" }));
  at.state.now += UNREACHABLE_S - 1;
  assert.ok(await signIns.find(token, signal));
  at.state.now += 1;
  await assert.rejects(
    signIns.find(token, signal),
    (error) => isHttpError(error, "ERR_AUTHENTICATION_UNAVAILABLE"),
  );
  at.provider.answer = at.vouches();
  assert.ok(await signIns.find(token, signal), "nothing is lost");
});

Deno.test("SignIns store a new refresh token even if the provider then fails to confirm the user", async () => {
  using at = site();
  const token = await at.begin(at.instance());
  at.state.now += 300;
  at.provider.answer = async (rotated) => {
    await rotated("new token");
    throw httpError("ERR_REMOTE_UNAVAILABLE", { seconds: 1, reason: "no answer about the user" });
  };
  assert.ok(await at.instance().find(token, signal));
  at.provider.answer = at.vouches({ role: "admin" });
  assert.equal((await at.instance().find(token, signal))?.identity.role, "user", "not at each request");
  at.state.now += LEASE_S;
  assert.equal((await at.instance().find(token, signal))?.identity.role, "admin", "it is asked again");
  assert.deepEqual(at.state.tokens, [SESSION.refreshToken, "new token"]);
});

Deno.test("SignIns use a renewed login that they could not store, and store the next one", async () => {
  using at = site();
  const signIns = at.instance();
  const token = await at.begin(signIns);
  const { raise } = at.records;
  at.records.raise = () => Promise.reject(httpError("ERR_RECORD_STORE", "disk is full"));
  at.provider.answer = at.vouches({ role: "admin" });
  at.state.now += 300;
  for (let requests = 0; requests < 2; requests++) {
    assert.equal((await signIns.find(token, signal))?.identity.role, "admin");
  }
  at.records.raise = raise;
  at.state.now += 300;
  assert.ok(await signIns.find(token, signal));
  at.state.now += 300;
  assert.ok(await at.instance().find(token, signal));
  assert.deepEqual(at.state.tokens, [SESSION.refreshToken, "token 1", "token 2"]);
});

for (
  const [idle, derivedSeconds, role] of [[300, 28_800, "user"], [UNREACHABLE_S, 28_800, "admin"], [
    700,
    600,
    "admin",
  ]] as const
) {
  Deno.test(`two instances that a browser uses at once after ${idle} s send the refresh token once, if logins last ${derivedSeconds} s`, async () => {
    using at = site();
    at.state.derivedSeconds = derivedSeconds;
    const [one, two] = [at.instance(), at.instance()];
    const token = await at.begin(one);
    at.state.now += idle;
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    at.provider.answer = at.rotates(held.promise, asked.resolve);
    const both = [one, two].map((each) => each.find(token, signal));
    await asked.promise;
    let looks = 0;
    at.pause.during = () => void (++looks === 3 && held.resolve());
    const first = await Promise.race(both);
    assert.equal(first?.identity.role, role, "the identity before, unless it is too old");
    held.resolve();
    const roles = (await Promise.all(both)).map((found) => found?.identity.role);
    assert.deepEqual(roles.sort(), ["admin", role]);
    assert.deepEqual([at.state.tokens, at.state.revoked], [[SESSION.refreshToken], []]);
    for (const each of [one, two]) assert.equal((await each.find(token, signal))?.identity.role, "admin");
  });
}

Deno.test("an instance asks the provider if another one gets no answer in time, and the other one then uses that answer", async () => {
  using at = site();
  const [one, two] = [at.instance(), at.instance()];
  const token = await at.begin(one);
  at.state.now += 300;
  const asked = Promise.withResolvers<void>();
  const late = Promise.withResolvers<Renewal>();
  at.provider.answer = () => {
    asked.resolve();
    return late.promise;
  };
  const slow = one.find(token, signal);
  await asked.promise;
  at.provider.answer = at.vouches({ role: "admin" });
  at.state.now += LEASE_S - 1;
  assert.equal((await two.find(token, signal))?.identity.role, "user");
  at.state.now += 1;
  assert.equal((await two.find(token, signal))?.identity.role, "admin");
  late.resolve(await at.refuses());
  assert.equal((await slow)?.identity.role, "admin");
  assert.deepEqual(at.state.revoked, []);
});

Deno.test("a renewal stays valid, even if another instance is refused meanwhile with the old refresh token", async () => {
  using at = site();
  const [one, two] = [at.instance(), at.instance()];
  const token = await at.begin(one);
  at.state.now += 300;
  const [asked, askedToo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [held, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<Renewal>()];
  at.provider.answer = at.rotates(held.promise, asked.resolve);
  const slow = one.find(token, signal);
  await asked.promise;
  at.state.now += LEASE_S;
  at.provider.answer = () => {
    askedToo.resolve();
    return refused.promise;
  };
  const other = two.find(token, signal);
  await askedToo.promise;
  held.resolve();
  assert.equal((await slow)?.identity.role, "admin");
  refused.resolve(await at.refuses());
  assert.equal((await other)?.identity.role, "admin");
  assert.deepEqual(at.state.revoked, []);
});

Deno.test("an instance that cannot record its own renewal does not end a login that another one renews", async () => {
  using at = site();
  const [one, two] = [at.instance(), at.instance()];
  const token = await at.begin(one);
  const [before] = await at.records.list("sign-in-renewal");
  at.state.now += 300;
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  at.provider.answer = at.rotates(held.promise, asked.resolve);
  const renewing = one.find(token, signal);
  await asked.promise;
  const { get, raise } = at.records;
  at.records.get = (kind, key) => {
    if (kind !== "sign-in-renewal") return get.call(at.records, kind, key);
    at.records.get = get;
    return Promise.resolve(before); // the record before the other instance asked
  };
  at.records.raise = () => Promise.reject(httpError("ERR_RECORD_STORE", "no connection"));
  assert.equal((await two.find(token, signal))?.identity.role, "user");
  assert.equal(at.state.asked, 2);
  at.records.raise = raise;
  held.resolve();
  assert.equal((await renewing)?.identity.role, "admin");
  assert.equal((await two.find(token, signal))?.identity.role, "admin");
  assert.deepEqual(at.state.revoked, []);
});

Deno.test("a browser that signs out during another of its requests keeps its tokens", async () => {
  using at = site();
  const signIns = at.instance();
  const token = await at.begin(signIns);
  const { get } = at.records;
  at.records.get = async (kind, key) => {
    if (kind === "sign-in-renewal") await signIns.end(token);
    return await get.call(at.records, kind, key);
  };
  assert.equal(await signIns.find(token, signal), undefined);
  assert.deepEqual(at.state.revoked, []);
});

Deno.test("refresh tokens in the store are sealed, each for its own browser", async () => {
  using at = site();
  const signIns = at.instance();
  const [token, other] = [await at.begin(signIns), await at.begin(signIns)];
  const kept = await at.records.list("sign-in-renewal");
  assert.doesNotMatch(JSON.stringify(kept), /secret-refresh/);
  const { id } = (await signIns.find(token, signal))?.identity.browser ?? {};
  const own = kept.find(({ key }) => key === id);
  const others = kept.find(({ key }) => key !== id);
  assert.ok(own && others);
  await at.records.put("sign-in-renewal", { ...own, content: others.content }, 9);
  at.provider.answer = at.vouches();
  at.state.now += 300;
  assert.equal(await signIns.find(token, signal), undefined, "sealed for another browser");
  assert.ok(await signIns.find(other, signal));
});

Deno.test("SignIns.endLogins() ends one session, or all sessions of a subject, of that provider only", async () => {
  using at = site();
  const signIns = at.instance();
  const begin = (session: ProviderSession, via = "OIDC") =>
    signIns.begin({ identity: { ...ANN, via }, session });
  const all = [
    await begin(SESSION),
    await begin({ ...SESSION, sid: "session 2" }),
    await begin({ sub: "ann" }),
    await begin({ sub: "bob", sid: "session 3" }),
    await begin(SESSION, "OTHER"),
    await begin({ sub: "session 1" }),
  ];
  const left = async () => {
    const found = await Promise.all(all.map((token) => signIns.find(token, signal)));
    return found.map((one) => one === undefined ? "-" : "x").join("");
  };
  assert.equal(await signIns.endLogins("OIDC", { sub: "ann", sid: "session 1" }), 1);
  assert.equal(await left(), "-xxxxx");
  await signIns.endLogins("OIDC", { sub: undefined, sid: "session 3" });
  assert.equal(await left(), "-xx-xx");
  await signIns.endLogins("OIDC", { sub: "ann", sid: undefined });
  assert.equal(await left(), "----xx");
  assert.equal(at.state.revoked.length >= 4, true);
});

Deno.test("SignIns.endLogins() of another instance ends a login at any step of its storage, and no later one", async () => {
  using at = site();
  const [one, other] = [at.instance(), at.instance()];
  const { put } = at.records;
  for (const ended of [{ sub: "ann", sid: undefined }, { sub: undefined, sid: "session 1" }]) {
    for (let step = 0;; step++) {
      let steps = 0;
      at.records.put = async (...record) => {
        if (steps++ === step) await other.endLogins("OIDC", ended);
        await put.apply(at.records, record);
      };
      const begun = at.begin(one);
      if (step === 5) {
        assert.ok(await one.find(await begun, signal), "ended by nobody");
        break;
      }
      await assert.rejects(begun, (error) => isHttpError(error, "ERR_LOGIN_NOT_DERIVABLE"), `step ${step}`);
      assert.deepEqual(await at.records.list("sign-in"), []);
      at.state.now++; // later than the logout
    }
    await other.endLogins("OIDC", ended);
    assert.deepEqual(await at.records.list("sign-in"), []);
    at.state.now++;
  }
});

Deno.test("SignIns.endLogins() ends a signed-in browser even after many others signed in and out", async () => {
  using at = site();
  const signIns = at.instance();
  const begin = () => at.begin(signIns, { sub: "ann", sid: "session 1" });
  const first = await begin();
  const { id } = (await signIns.find(first, signal))?.identity.browser ?? {};
  for (let others = 0; others < 120; others++) {
    at.state.now++;
    await signIns.end(await begin());
    if (others === 50) assert.ok(await signIns.find(first, signal));
  }
  await signIns.endLogins("OIDC", { sub: "ann", sid: undefined });
  assert.equal(await signIns.find(first, signal), undefined);
  assert.ok(JSON.stringify(at.state.revoked).includes(String(id)), "its tokens are revoked");
});
