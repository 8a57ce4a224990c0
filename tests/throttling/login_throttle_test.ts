import assert from "node:assert/strict";
import fc from "fast-check";
import { passwordLogin } from "../../src/authentication/parse_credentials.ts";
import type { Identity } from "../../src/model/identity.ts";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import type { Credentials } from "../../src/model/credentials.ts";
import { HttpError, httpError, isHttpError } from "../../src/model/http_error.ts";
import { type Attempt, LoginThrottle, throttleLogin } from "../../src/throttling/login_throttle.ts";
import type { ThrottlingUpdate } from "../../src/throttling/memory.ts";
import {
  basic,
  bearer,
  MALFORMED,
  NO_CREDENTIALS,
  sshLegacy,
  unsignedJwt,
} from "../authentication/sample_credentials.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";
import { LONG } from "../long/results.ts";

const CONFIG = {
  enabled: true,
  maxFailures: 5,
  windowSeconds: 3600,
  baseDelaySeconds: 1,
  maxDelaySeconds: 900,
};
const HERE = "192.0.2.17";

function create(
  config: Partial<typeof CONFIG> = {},
  log = SILENT,
  { maxWaitMs = 60_000, issuers = new Set<string>() } = {},
) {
  const clock = { now: 1_700_000_000_000 };
  const throttle = new LoginThrottle({
    config: { ...CONFIG, ...config },
    log,
    formatName: (name) => name === "ann" ? name : "unknown",
    steady: () => clock.now,
    maxWaitMs,
    issuers,
  });
  /** Returns an attempt that does not wait for others. */
  const admit = (credentials: Credentials): Attempt => {
    const attempt = throttle.admit(credentials);
    assert(!(attempt instanceof Promise), "others are in the way");
    return attempt;
  };
  return {
    throttle,
    admit,
    clock,
    /** Returns the wait in milliseconds, 0 if the credentials may be checked. */
    wait(credentials: Credentials): number {
      try {
        admit(credentials).undecided();
        return 0;
      } catch (error) {
        assert.ok(isHttpError(error, "ERR_TOO_MANY_FAILURES"));
        return waitOf(error);
      }
    },
    /** Fails `times` times. */
    fail(credentials: Credentials, times = 1) {
      for (let i = 0; i < times; i++) admit(credentials).failed();
    },
    /** Fails once with each of `times` tokens at an address. */
    failTokens(times: number, address = HERE) {
      for (let i = 0; i < times; i++) admit(bearer(`stolen-${i}`, address)).failed();
    },
    succeed(credentials: Credentials) {
      admit(credentials).succeeded();
    },
  };
}

Deno.test("LoginThrottle counts spellings that an identity provider may treat as one user as one user", () => {
  const spellings = ["ann", "ANN", "Ann ", "\uFF21nn", "aNN\t"];
  const { wait, fail, throttle, clock } = create();
  for (const user of spellings) fail(basic(user, "x"));
  fail(basic("ann", "x"));
  for (const user of spellings) assert.equal(wait(basic(user, "x")), 1000, user);
  assert.equal(throttle.memory.lift({ user: "Ann" }), 2);
  assert.equal(wait(basic("ann", "x")), 0);
  throttle.memory.ban({ user: "Ann" }, clock.now + 5000);
  for (const user of spellings) assert.equal(wait(basic(user, "x")), 5000, user);
});

Deno.test("LoginThrottle makes a user at an address wait after the free failures, longer each time", () => {
  const { wait, fail, clock } = create();
  const ann = basic("ann", "x");
  fail(ann, 5);
  assert.equal(wait(ann), 0);
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    fail(ann);
    waits.push(wait(ann));
    clock.now += wait(ann);
  }
  const seconds = waits.map((wait) => wait / 1000);
  assert.deepEqual(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

Deno.test("LoginThrottle answers 429 with the seconds to wait, the same for users who do not exist", () => {
  const { throttle, fail } = create();
  fail(basic("ann", "x"), 6);
  assert.throws(() => throttle.admit(basic("ann", "right")), (error: unknown) => {
    assert.ok(isHttpError(error, "ERR_TOO_MANY_FAILURES"));
    const { status, code, headers, publicMessage } = error;
    assert.deepEqual({ status, code, headers, publicMessage }, {
      status: 429,
      code: "ERR_TOO_MANY_FAILURES",
      headers: { "Retry-After": "1" },
      publicMessage: "Too many failed attempts, or a ban by an administrator. Please try again later",
    });
    return true;
  });
});

Deno.test("LoginThrottle clears the failures of a user at an address after a right password, and counts anew", () => {
  const { wait, fail, succeed } = create();
  const ann = basic("ann", "x");
  fail(ann, 5);
  succeed(ann);
  fail(ann, 5);
  assert.equal(wait(ann), 0);
  fail(ann);
  assert.equal(wait(ann), 1000);
});

Deno.test("LoginThrottle remembers a user after a success that clears no failures, here and at other instances", () => {
  const passed: [string, boolean][] = [];
  const news: ThrottlingUpdate[] = [];
  const throttle = new LoginThrottle({
    config: CONFIG,
    log: SILENT,
    steady: () => 1_700_000_000_000,
    onUpdate: (update) => news.push(update),
    others: { count: () => undefined, passed: (...login) => passed.push(login) },
  });
  const pair = `${HERE}\0ann`;
  throttle.memory.tables.pairs.fail(pair, { user: "ann", address: HERE });
  const succeed = (clears?: boolean) => {
    const attempt = throttle.admit(basic("ann", "right"));
    assert(!(attempt instanceof Promise));
    attempt.succeeded(clears);
  };
  succeed(false);
  const { known, tables: { pairs } } = throttle.memory;
  assert.deepEqual([known.has(pair), pairs.failuresOf(pair), passed], [true, 1, [[pair, false]]]);
  assertAlike(news.map(({ cleared, known }) => ({ cleared, known: known?.length })), [{ known: 1 }]);
  succeed();
  assert.deepEqual([pairs.failuresOf(pair), passed.at(-1), news[1]?.cleared], [0, [pair, true], [pair]]);
});

Deno.test("LoginThrottle does not clear the failures of an address after a right password of one of its users", () => {
  const { wait, fail, succeed, clock } = create();
  for (let i = 0; i < 20; i++) fail(basic(`victim${i}`, "x"));
  succeed(basic("mallory", "right"));
  fail(basic("victim20", "x")); // a free failure, since one user is known here
  assert.equal(wait(basic("victim21", "x")), 0);
  fail(basic("victim21", "x"));
  assert.equal(wait(basic("victim22", "x")), 1000);
  assert.equal(wait(basic("ann", "x", "192.0.2.18")), 0);
  for (let i = 0; i < 5; i++) succeed(basic("mallory", "right"));
  assert.equal(wait(basic("victim22", "x")), 1000);
  clock.now += 1000;
  assert.equal(wait(basic("victim22", "x")), 0);
});

Deno.test("LoginThrottle counts a name once for an address, even if it fails there repeatedly", () => {
  const { wait, fail, clock } = create();
  for (let i = 0; i < 10; i++) {
    fail(basic("ann", "x"), 1);
    clock.now += wait(basic("ann", "x"));
  }
  for (let i = 0; i < 19; i++) fail(basic(`user${i}`, "x"));
  assert.equal(wait(basic("bob", "x")), 0);
  fail(basic("bob", "x"));
  assert.equal(wait(basic("carl", "x")), 1000);
});

Deno.test("LoginThrottle never delays a user who is known at an address for the failures of others there", () => {
  const { wait, fail, succeed } = create();
  succeed(basic("ann", "right"));
  for (let i = 0; i < 24; i++) fail(basic(`user${i}`, "x"), i < 22 ? 1 : 0);
  assert.ok(wait(basic("bob", "right")) > 0);
  assert.equal(wait(basic("ann", "right")), 0);
  fail(basic("ann", "x"), 5);
  assert.equal(wait(basic("ann", "right")), 0);
  fail(basic("ann", "x"));
  assert.equal(wait(basic("ann", "right")), 1000);
});

Deno.test("LoginThrottle does not count failures of users against an address where they are known", () => {
  const { wait, fail, succeed } = create();
  for (let i = 0; i < 10; i++) succeed(basic(`user${i}`, "right"));
  for (let i = 0; i < 10; i++) fail(basic(`user${i}`, "x"), 5);
  for (let i = 0; i < 30; i++) fail(basic(`stranger${i}`, "x"));
  assert.equal(wait(basic("bob", "right")), 0);
  fail(basic("stranger30", "x"));
  assert.equal(wait(basic("bob", "right")), 1000);
});

Deno.test("LoginThrottle grants an address no further free failures for right link passwords, and counts wrong ones", async () => {
  const { throttle, wait, fail } = create();
  const guess = async (link: string, end: "succeeded" | "failed") =>
    (await throttle.admitLink(link, HERE))[end]();
  for (let i = 0; i < 10; i++) await guess(`s ${i}`, "succeeded");
  assert.notEqual((await throttle.admitLink("s 1", HERE)).knownAs, undefined);
  for (let i = 0; i < 19; i++) fail(basic(`victim${i}`, "x"));
  await guess("s other", "failed");
  assert.equal(wait(basic("bob", "x")), 0);
  fail(basic("victim19", "x"));
  assert.equal(wait(basic("bob", "x")), 1000);
  for (let i = 0; i < 5; i++) await guess("s 2", "failed");
  await guess("s 2", "succeeded");
  for (let i = 0; i < 6; i++) await guess("s 2", "failed");
  assert.throws(() => throttle.admitLink("s 2", HERE), { code: "ERR_TOO_MANY_FAILURES" });
});

Deno.test("LoginThrottle delays no guess at a link for failures of a user whose name looks like the link", async () => {
  const { throttle, fail } = create();
  for (let i = 0; i < 21; i++) fail(basic("link HPC 4fZq", "x", `198.51.100.${i}`));
  (await throttle.admitLink("HPC 4fZq", HERE)).undecided();
  assert.equal(passwordLogin("link:HPC 4fZq", "x").kind, "malformed", "no user has the name of a link");
});

Deno.test("LoginThrottle never delays a user whose tokens are known at an address for the failures of others there", () => {
  const jwt = (claims: object, address?: string) => bearer(unsignedJwt(claims), address);
  const ann = { sub: "ann", iss: "ann" };
  const una = { sub: "una", iss: "https://idp.example" };
  const { wait, fail, failTokens, succeed, clock } = create();
  for (const claims of [ann, una]) succeed(jwt(claims));
  succeed(sshLegacy("carl"));
  failTokens(101);
  assert.equal(wait(jwt({ sub: "bob", iss: "bob" })), 1000);
  assert.equal(wait(sshLegacy("dora")), 1000);
  assert.equal(wait(jwt({ ...ann, exp: 1 })), 0);
  assert.equal(wait(jwt({ ...una, exp: 1 })), 0);
  assert.equal(wait(sshLegacy("carl")), 0);
  // Tokens verified here cost little; a provider must not get endless requests in somebody's name.
  fail(jwt(ann), 200);
  assert.equal(wait(jwt(ann)), 0);
  fail(jwt(una), 101);
  assert.equal(wait(jwt(una)), 1000);
  assert.equal(wait(jwt(una, "192.0.2.18")), 0);
  clock.now += 24 * 3_600_000;
  failTokens(101);
  assert.ok(wait(jwt(ann)) > 0, "known for a day");
});

Deno.test("LoginThrottle never delays a user who passed with a token verified here, whatever others forge in their name", () => {
  const [una, eve] = [{ sub: "una", iss: "https://idp.example" }, { sub: "eve", iss: "https://idp.example" }];
  const jwt = (claims: object) => bearer(unsignedJwt(claims));
  const { wait, fail, succeed } = create({}, SILENT, { issuers: new Set(["https://idp.example"]) });
  succeed(jwt(una));
  fail(jwt({ ...una, exp: 1 }), 300);
  assert.equal(wait(jwt(una)), 0);
  fail(jwt(eve), 101);
  assert.equal(wait(jwt(eve)), 1000, "who never passed waits");
  assert.equal(wait(jwt(una)), 0);
});

/** Hours of logins: everybody has logged in after the first two; a long test adds six. */
const HOURS = LONG ? 8 : 2;

for (const seed of LONG ? [1, 2, 3] : [1]) {
  Deno.test(`LoginThrottle admits 99.9 % of right passwords of 1,000 users behind one address at once while 20 mistype all the time (${seed})`, () => {
    const { throttle, clock } = create({ windowSeconds: 600, baseDelaySeconds: 5 });
    let state = seed;
    const random = () => (state = Math.imul(state, 48271) >>> 0) / 2 ** 32; // a seeded generator
    /** Reports whether an attempt was admitted at once. */
    const attempt = (user: number, right: boolean): boolean => {
      try {
        const admitted = throttle.admit(basic(`user${user}`, "x"));
        assert.ok(!(admitted instanceof Promise));
        if (right) admitted.succeeded();
        else admitted.failed();
        return true;
      } catch (error) {
        assert.ok(isHttpError(error, "ERR_TOO_MANY_FAILURES"));
        return false;
      }
    };
    let logins = 0;
    let passed = 0;
    // 20 clients try a wrong password each second; the others log in about every 40 minutes. One login in 30
    // is mistyped, at most one of each user.
    const mistyped = new Set<number>();
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // a trace for each refusal would take half of the time
    try {
      for (let second = 0; second < HOURS * 3600; second++) {
        clock.now += 1000;
        for (let user = 0; user < 20; user++) attempt(user, false);
        if (random() > 0.4) continue;
        const user = 20 + Math.floor(random() * 980);
        if (random() < 1 / 30 && !mistyped.has(user)) {
          mistyped.add(user);
          attempt(user, false);
          continue;
        }
        logins++;
        if (attempt(user, true)) passed++;
      }
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    assert.ok(logins > HOURS * 1250);
    assert.ok(passed / logins >= 0.999, `${passed} of ${logins}`);
  });
}

Deno.test("LoginThrottle removes a caller that leaves from the queue", async () => {
  const { throttle } = create();
  const ann = basic("ann", "x");
  const { inFlight, semaphore } = crowd(throttle, ann, 1);
  const caller = new AbortController();
  const left = throttle.admit(ann, caller.signal);
  caller.abort(new Error("gone"));
  await assert.rejects(Promise.resolve(left), /gone/);
  await assert.rejects(Promise.resolve(throttle.admit(ann, caller.signal)), /gone/);
  inFlight.forEach((attempt) => attempt.undecided());
  for (const turn of semaphore) (await turn).undecided();
});

Deno.test("LoginThrottle limits the waiters for one user at an address", async () => {
  const { throttle } = create();
  const { inFlight, semaphore } = crowd(throttle, basic("ann", "x"), 1000);
  await assert.rejects(Promise.resolve(throttle.admit(basic("ann", "x"))), {
    code: "ERR_TOO_MANY_AT_ONCE",
  });
  inFlight.forEach((attempt) => attempt.undecided());
  for (const turn of semaphore) (await turn).undecided();
});

Deno.test("LoginThrottle treats a /64 as one address", () => {
  const { wait, fail } = create();
  for (let i = 0; i < 21; i++) fail(basic(`user${i}`, "x", `2001:db8::${i + 1}`));
  assert.equal(wait(basic("ann", "x", "2001:db8::ffff")), 1000);
  assert.equal(wait(basic("ann", "x", "2001:db8:0:1::1")), 0);
});

Deno.test("LoginThrottle delays a user whose password is guessed from many addresses, by a minute at most", () => {
  const { wait, fail, clock } = create();
  for (let i = 0; i < 20; i++) fail(basic("ann", "x", `198.51.100.${i}`));
  assert.equal(wait(basic("ann", "x", HERE)), 0);
  for (let i = 0; i < 20; i++) {
    fail(basic("ann", "x", `203.0.113.${i}`));
    clock.now += wait(basic("ann", "x", HERE)) - 1;
    assert.equal(wait(basic("ann", "x", HERE)), 1);
    clock.now += 1;
  }
  fail(basic("ann", "x", "203.0.113.99"));
  assert.equal(wait(basic("ann", "x", HERE)), 60_000);
});

Deno.test("LoginThrottle admits a user for a day at an address where he is known, in spite of guesses elsewhere", () => {
  const { wait, fail, succeed, clock } = create({ windowSeconds: 100_000 });
  succeed(basic("ann", "right"));
  for (let i = 0; i < 21; i++) fail(basic("ann", "x", `198.51.100.${i}`));
  assert.equal(wait(basic("ann", "right")), 0);
  assert.equal(wait(basic("ann", "right", "192.0.2.18")), 1000);
  clock.now += 24 * 3600_000;
  fail(basic("ann", "x", "198.51.100.99"));
  assert.equal(wait(basic("ann", "right")), 2000);
});

Deno.test("LoginThrottle never delays a key or token for password guesses", () => {
  const { wait, fail, clock } = create();
  for (let i = 0; i < 20; i++) fail(basic(`user${i}`, "x"));
  for (let i = 0; i < 31; i++) {
    clock.now += wait(basic("ann", "x"));
    fail(basic("ann", "x"));
  }
  assert.ok(wait(basic("ann", "x")) > 0);
  assert.equal(wait(bearer("token")), 0);
  assert.equal(wait(sshLegacy("ann")), 0);
});

Deno.test("LoginThrottle delays tokens of an address after 100 failed ones, and no passwords", () => {
  const { wait, fail, failTokens, clock } = create();
  failTokens(60);
  for (let i = 0; i < 40; i++) fail(sshLegacy(`user${i}`));
  assert.equal(wait(bearer("x")), 0);
  for (let i = 0; i < 10; i++) {
    fail(bearer(`other-${i}`));
    clock.now += wait(bearer("x"));
  }
  fail(bearer("x"));
  assert.equal(wait(bearer("y")), 60_000);
  assert.equal(wait(sshLegacy("ann")), 60_000);
  assert.equal(wait(basic("ann", "x")), 0);
  assert.equal(wait(bearer("x", "192.0.2.18")), 0);
});

/** Scopes that the message about too many failures names. */
const SCOPES: readonly (readonly [scope: string, failing: readonly Credentials[], refused: Credentials])[] = [
  ["user at address", [basic("ann", "x")], basic("ann", "y")],
  ["address", Array.from({ length: 21 }, (_, i) => basic(`stranger${i}`, "x")), basic("ann", "y")],
  ["user", Array.from({ length: 21 }, (_, i) => basic("ann", "x", `198.51.100.${i}`)), basic("ann", "y")],
  ["tokens from address", Array.from({ length: 101 }, (_, i) => bearer(`x${i}`)), bearer("y")],
];
for (const [scope, failing, refused] of SCOPES) {
  Deno.test(`LoginThrottle reports too many failures of: ${scope}`, () => {
    const lines: string[] = [];
    const { admit } = create({}, createLogger((line) => lines.push(line)));
    for (let i = 0; lines.length === 0; i++) admit(failing[i % failing.length] ?? refused).failed();
    assert.match(lines.join(), new RegExp(`too many failed attempts scope=(?:${scope}|"${scope}") `));
    assert.throws(() => admit(refused), new RegExp(`Too many failed attempts \\(${scope}\\)`));
  });
}

Deno.test("LoginThrottle delays nobody else at an address for a client that keeps sending its expired token", async () => {
  const { throttle, wait, fail, failTokens, clock } = create({ windowSeconds: 1_000_000 });
  const endless = (credentials: Credentials) => {
    for (let i = 0; i < 1000; i++) {
      clock.now += wait(credentials);
      fail(credentials);
    }
    assert.equal(wait(credentials), 60_000);
  };
  const key = async (kind = "sign-ins") => (await throttle.admitKey(kind, HERE)).undecided();
  for (const dead of [bearer("dead"), sshLegacy("ann")]) endless(dead);
  assert.deepEqual([wait(bearer("new")), wait(sshLegacy("bob"))], [0, 0]);
  await key();
  failTokens(98);
  assert.equal(wait(bearer("new")), 0);
  fail(bearer("one too many"));
  assert.equal(wait(bearer("new")), 1000);
  await key();
  for (let i = 0; i < 101; i++) (await throttle.admitKey("certificates", HERE)).failed();
  assert.throws(() => throttle.admitKey("certificates", HERE), /\(keys from address\)/);
  await key();
});

Deno.test("LoginThrottle reports too many failures of: tokens of user at address, and clears them after a valid one", () => {
  const una = bearer(unsignedJwt({ sub: "una", iss: "https://idp.example" }));
  const { fail, succeed, admit, wait } = create();
  succeed(una);
  for (let i = 0; i < 2; i++) {
    fail(una, 100);
    assert.equal(wait(una), 0);
    succeed(una); // clears earlier failures
  }
  fail(una, 101);
  assert.throws(() => admit(una), /\(tokens of user at address\)/);
});

for (const [what, credentials] of [["no", NO_CREDENTIALS], ["malformed", MALFORMED]] as const) {
  Deno.test(`LoginThrottle does not count ${what} credentials`, () => {
    const { throttle, wait, fail } = create();
    fail(credentials, 1000);
    assert.equal(wait(credentials), 0);
    assert.deepEqual(throttle.memory.bans(), []);
  });
}

Deno.test("LoginThrottle does not count undecided attempts", () => {
  const { admit, wait } = create();
  for (let i = 0; i < 100; i++) admit(basic("ann", "x")).undecided();
  assert.equal(wait(basic("ann", "x")), 0);
});

/** Returns as many attempts under way as permitted, and promises of further ones. */
function crowd(throttle: LoginThrottle, credentials: Credentials, waiting: number) {
  const inFlight: Attempt[] = [];
  for (;;) {
    const attempt = throttle.admit(credentials);
    if (!(attempt instanceof Promise)) {
      inFlight.push(attempt);
      continue;
    }
    const semaphore = [attempt];
    for (let i = 1; i < waiting; i++) semaphore.push(Promise.resolve(throttle.admit(credentials)));
    return { inFlight, semaphore };
  }
}

Deno.test("LoginThrottle limits the guesses that can be made before the first is counted", async () => {
  const { throttle, wait } = create();
  const ann = basic("ann", "x");
  const { inFlight, semaphore } = crowd(throttle, ann, 5);
  assert.equal(inFlight.length, 32);
  inFlight.forEach((attempt) => attempt.failed());
  for (const turn of semaphore) await assert.rejects(turn, { code: "ERR_TOO_MANY_FAILURES" });
  assert.equal(wait(ann), 900_000);
});

Deno.test("LoginThrottle admits any number of simultaneous attempts with the right password, each in turn", async () => {
  const { throttle, wait } = create();
  const ann = basic("ann", "right");
  const { inFlight, semaphore } = crowd(throttle, ann, 500);
  inFlight.forEach((attempt) => attempt.succeeded());
  for (const turn of semaphore) (await turn).succeeded();
  assert.equal(wait(ann), 0);
});

Deno.test("LoginThrottle does not delay other users while one user's attempts wait", async () => {
  const { throttle, admit } = create();
  const { inFlight, semaphore } = crowd(throttle, basic("ann", "x"), 3);
  admit(basic("bob", "x")).succeeded();
  inFlight.forEach((attempt) => attempt.undecided());
  for (const turn of semaphore) (await turn).undecided();
});

Deno.test("LoginThrottle admits many users of one address, each in turn", async () => {
  const { throttle } = create();
  const attempts = Array.from({ length: 400 }, (_, i) => throttle.admit(basic(`user${i}`, "right")));
  const waiting = attempts.filter((attempt) => attempt instanceof Promise);
  assert.equal(waiting.length, 400 - 128);
  for (const attempt of attempts) (await attempt).succeeded();
});

Deno.test("LoginThrottle refuses attempts that wait too long for a turn", async () => {
  const { throttle } = create({}, SILENT, { maxWaitMs: 1 });
  const { inFlight, semaphore } = crowd(throttle, basic("ann", "x"), 2);
  for (const turn of semaphore) {
    await assert.rejects(turn, {
      code: "ERR_TOO_MANY_AT_ONCE",
      status: 429,
      headers: { "Retry-After": "1" },
    });
  }
  inFlight.forEach((attempt) => attempt.undecided());
});

Deno.test("LoginThrottle refuses a waiting attempt that is throttled meanwhile", async () => {
  const { throttle, clock } = create();
  const { inFlight, semaphore } = crowd(throttle, basic("ann", "x"), 3);
  inFlight.slice(0, 6).forEach((attempt) => attempt.failed());
  for (const turn of semaphore) await assert.rejects(turn, { code: "ERR_TOO_MANY_FAILURES" });
  clock.now += 1000;
  const last = throttle.admit(basic("ann", "x"));
  assert(last instanceof Promise, "one at a time after the free failures");
  inFlight.forEach((attempt) => attempt.undecided());
  (await last).succeeded();
});

Deno.test("LoginThrottle counts an attempt once, even if it ends several times", () => {
  const { admit, wait } = create({ maxFailures: 1 });
  const attempt = admit(basic("ann", "x"));
  attempt.failed();
  attempt.failed();
  attempt.undecided();
  assert.equal(wait(basic("ann", "x")), 0);
});

Deno.test("LoginThrottle that is switched off counts nothing, but keeps operator bans", () => {
  const { throttle, wait, fail, clock } = create({ enabled: false });
  fail(basic("ann", "x"), 1000);
  fail(bearer("x"), 1000);
  assert.equal(wait(basic("ann", "x")), 0);
  throttle.memory.ban({ user: "ann" }, clock.now + 1000);
  assert.equal(wait(basic("ann", "x")), 1000);
});

const BANS: [string, { user?: string; address?: string }, [Credentials, boolean][]][] = [
  ["a user", { user: "ann" }, [
    [basic("ann", "right"), true],
    [basic("ann", "right", "192.0.2.18"), true],
    [sshLegacy("ann"), true],
    [basic("bob", "right"), false],
    [bearer("x"), false],
  ]],
  ["an address", { address: HERE }, [
    [basic("ann", "right"), true],
    [sshLegacy("ann"), true],
    [basic("ann", "right", "192.0.2.18"), false],
  ]],
  ["an IPv6 address, and so its /64", { address: "2001:db8::1" }, [
    [basic("ann", "right", "2001:db8::2"), true],
    [basic("ann", "right", "2001:db8:0:1::2"), false],
  ]],
  ["a user at an address", { user: "ann", address: HERE }, [
    [basic("ann", "right"), true],
    [basic("ann", "right", "192.0.2.18"), false],
    [basic("bob", "right"), false],
    [bearer("x"), false],
  ]],
];

for (const [what, subject, attempts] of BANS) {
  Deno.test(`LoginThrottle bans ${what} for the operator, until the given time or until the ban is lifted`, () => {
    const { throttle, wait, clock } = create();
    throttle.memory.ban(subject, clock.now + 5000);
    for (const [credentials, banned] of attempts) assert.equal(wait(credentials), banned ? 5000 : 0);
    assert.equal(throttle.memory.bans().length, 1);
    clock.now += 5000;
    for (const [credentials] of attempts) assert.equal(wait(credentials), 0);
    assert.deepEqual(throttle.memory.bans(), []);

    throttle.memory.ban(subject, clock.now + 5000);
    throttle.memory.ban(subject, clock.now + 7000);
    assert.equal(throttle.memory.bans().length, 1);
    assert.equal(throttle.memory.lift(subject), 1);
    for (const [credentials] of attempts) assert.equal(wait(credentials), 0);
  });
}

Deno.test("LoginThrottle refuses a banned address before any other check", () => {
  const { throttle, clock } = create();
  throttle.memory.ban({ address: "2001:db8::1" }, clock.now + 5000);
  throttle.memory.ban({ user: "ann", address: HERE }, clock.now + 5000);
  assert.throws(() => throttle.admitAddress("2001:db8::2"), { code: "ERR_TOO_MANY_FAILURES" });
  for (const address of ["2001:db8:0:1::2", HERE]) throttle.admitAddress(address);
});

Deno.test("LoginThrottle refuses a banned user by login, account or distinguished name", () => {
  const { throttle, clock } = create();
  const caller = (parts: Partial<Identity>): Identity => ({ dn: "CN=X", method: "M", via: "M", ...parts });
  throttle.memory.ban({ user: "Ann", names: ["cn=ann,o=site"] }, clock.now + 5000);
  const state = throttle.memory.state();
  const successor = create().throttle;
  successor.memory.adopt(state);
  for (const each of [throttle, successor]) {
    const isOut = (parts: Partial<Identity>) => {
      try {
        each.admitCaller(caller(parts), HERE);
        return false;
      } catch (error) {
        assert(isHttpError(error, "ERR_TOO_MANY_FAILURES"));
        return true;
      }
    };
    assert(isOut({ login: "ann" }));
    assert(isOut({ uid: "ann" }));
    assert(isOut({ dn: "CN=Ann, O=Site" }));
    assert(!isOut({ dn: "O=Site, CN=Ann" }), "another name");
    assert(!isOut({ dn: "CN=ann", login: "bob", uid: "bob" }));
  }
});

Deno.test("LoginThrottle refuses a banned account, and ends its work, wherever the account came from", () => {
  const { throttle, clock } = create();
  const identity: Identity = { dn: "CN=X", method: "M", via: "M" };
  const caller = { kind: "authenticated", identity } as const;
  const ended: string[] = [];
  for (const accounts of [["games"], ["pat", "GAMES"], ["pat"], []]) {
    throttle.watch({ caller, clientAddress: HERE, accounts }, () => ended.push(accounts.join()));
  }
  throttle.memory.ban({ user: "games" }, clock.now + 5000);
  assert.deepEqual(ended, ["games", "pat,GAMES"]);
  assert.throws(() => throttle.admitCaller(identity, HERE, ["pat", "Games"]), {
    code: "ERR_TOO_MANY_FAILURES",
  });
  throttle.admitCaller(identity, HERE, ["pat"]);
});

Deno.test("LoginThrottle refuses tokens that a banned administrator issued to others, by login or account", () => {
  const { throttle, clock } = create();
  throttle.memory.ban({ user: "boss" }, clock.now + 5000);
  const facts = { issuer: "CN=auth", renewable: false, by: "CN=B. Oss" };
  const admit = (more: Partial<typeof facts & { byLogin: string; byUid: string }>) =>
    throttle.admitCaller(
      { dn: "CN=Ann", method: "ETD", via: "ETD", issuedToken: { ...facts, ...more } },
      HERE,
    );
  admit({ byLogin: "chief", byUid: "b0001" });
  assert.throws(() => admit({ byLogin: "Boss" }), { code: "ERR_TOO_MANY_FAILURES" });
  assert.throws(() => admit({ byUid: "boss" }), { code: "ERR_TOO_MANY_FAILURES" });
});

Deno.test("LoginThrottle refuses a ban without user and address", () => {
  const { throttle } = create();
  assert.throws(() => throttle.memory.ban({}, 1), TypeError);
});

Deno.test("LoginThrottle lists all waits, and lifts them by user or address", () => {
  const { throttle, wait, fail, failTokens, clock } = create();
  fail(basic("ann", "x"), 6);
  failTokens(101, "198.51.100.1");
  const until = clock.now + 1000;
  assert.deepEqual(throttle.memory.bans(), [
    { user: "ann", address: HERE, reason: "passwords", failures: 6, until },
    { address: "198.51.100.1", reason: "tokens", failures: 101, until },
  ]);
  assert.equal(throttle.memory.lift({ user: "bob" }), 0);
  assert.equal(throttle.memory.lift({ user: "ann" }), 2); // at the address, and at all addresses
  assert.equal(wait(basic("ann", "x")), 0);
  assert.equal(throttle.memory.lift({ address: "198.51.100.1" }), 102); // each token, and the address itself
  assert.deepEqual(throttle.memory.bans(), []);
});

Deno.test("LoginThrottle lists waits of users, of addresses, of both together and of tokens, the operator's bans first", () => {
  const { throttle, fail, failTokens, clock } = create();
  for (let i = 0; i < 21; i++) fail(basic("ann", "x", `198.51.100.${i}`));
  for (let i = 0; i < 21; i++) fail(basic(`user${i}`, "x", "203.0.113.1"));
  fail(basic("bob", "x"), 6);
  failTokens(101);
  throttle.memory.ban({ user: "carl", address: HERE }, clock.now + 5000);
  const until = clock.now + 1000;
  assertAlike(throttle.memory.bans(), [
    {
      user: "carl",
      address: HERE,
      reason: "operator",
      failures: 0,
      until: clock.now + 5000,
    },
    { user: "bob", address: HERE, reason: "passwords", failures: 6, until },
    { address: "203.0.113.1", reason: "passwords", failures: 21, until },
    { user: "ann", reason: "passwords", failures: 21, until },
    { address: HERE, reason: "tokens", failures: 101, until },
  ]);
});

Deno.test("LoginThrottle counts waits without a list, and lists a given number of them", () => {
  const { throttle, fail, failTokens, clock } = create();
  for (let i = 0; i < 5; i++) fail(basic(`user${i}`, "x"), 6);
  failTokens(101);
  for (const user of ["carl", "dora"]) throttle.memory.ban({ user }, clock.now + 5000);
  const all = throttle.memory.bans();
  const count = (reason: string) => all.filter((ban) => ban.reason === reason).length;
  const numbers = { passwords: count("passwords"), tokens: count("tokens"), operator: count("operator") };
  assert.deepEqual(throttle.memory.banCounts(), numbers);
  assert.deepEqual(numbers, { passwords: 5, tokens: 1, operator: 2 });
  for (let most = 0; most <= all.length; most++) {
    assert.deepEqual(throttle.memory.bans(most), all.slice(0, most));
  }
  clock.now += 10_000;
  assert.deepEqual(throttle.memory.banCounts(), { passwords: 0, tokens: 0, operator: 0 });
});

Deno.test("LoginThrottle logs each wait, without passwords, even if somebody typed one as the user name", () => {
  const lines: string[] = [];
  const { fail } = create({}, createLogger((line) => lines.push(line.slice(25)), { clock: () => 0 }));
  for (const name of ["ann", "hunter2"]) fail(basic(name, "hunter2"), 6);
  for (let i = 0; i < 15; i++) fail(basic("hunter2", "x", `198.51.100.${i}`));
  const wait = (scope: string, facts: string) =>
    `warn  too many failed attempts scope=${scope} ${facts} waitMs=1000`;
  assert.deepEqual(lines.slice(0, 3), [
    wait('"user at address"', "user=ann address=192.0.2.17 failures=6"),
    wait('"user at address"', "user=unknown address=192.0.2.17 failures=6"),
    wait("user", "user=unknown failures=21"),
  ]);
});

Deno.test("LoginThrottle treats existing and unknown users alike, whatever happened before", () => {
  // The login throttle only learns failures of a user who does not exist. A user who exists, but never logged
  // in from the same address, must get the same answers.
  const move = fc.record({
    user: fc.constantFrom("ann", "nobody"),
    from: fc.integer({ min: 1, max: 4 }),
    pass: fc.nat({ max: 3000 }),
  });
  fc.assert(fc.property(fc.array(move, { maxLength: 80 }), (moves) => {
    const swapped = { ann: "nobody", nobody: "ann" } as const;
    const one = create();
    const two = create();
    for (const { user, from, pass } of moves) {
      const address = `198.51.100.${from}`;
      const name = user === "ann" ? "ann" : "nobody";
      const [a, b] = [basic(name, "x", address), basic(swapped[name], "x", address)];
      one.clock.now += pass;
      two.clock.now += pass;
      assert.equal(one.wait(a), two.wait(b));
      if (one.wait(a) === 0) {
        one.fail(a);
        two.fail(b);
      }
    }
  }));
});

/** Returns the wait in milliseconds that the error names for the log. */
function waitOf({ message }: HttpError): number {
  return Number(/, ([\d.]+) ms to wait$/.exec(message)?.[1]);
}

const WRONG = httpError("ERR_UNAUTHENTICATED", { challenge: "Basic", accepted: "x" });
const BROKEN = httpError("ERR_TOO_MUCH_WORK");

const OUTCOMES: [string, () => Promise<string>, boolean][] = [
  ["an error for a wrong credential as a failure", () => Promise.reject(WRONG), true],
  ["a 503 not as a failure", () => Promise.reject(BROKEN), false],
  ["another error not as a failure", () => Promise.reject(new Error("gone")), false],
  ["a result as a success", () => Promise.resolve("ann"), false],
];

for (const [what, check, counts] of OUTCOMES) {
  Deno.test(`throttleLogin() counts ${what}`, async () => {
    const { throttle, wait } = create({ maxFailures: 1 });
    const ann = basic("ann", "x");
    for (let i = 0; i < 2; i++) await throttleLogin(throttle.admit(ann), check).catch(() => {});
    assert.equal(wait(ann) > 0, counts);
  });
}

Deno.test("throttleLogin() passes knownAs to the check of a password after an earlier success", async () => {
  const { throttle } = create();
  const told: (string | undefined)[] = [];
  const check = (knownAs: string | undefined) => Promise.resolve(told.push(knownAs));
  for (let i = 0; i < 2; i++) await throttleLogin(throttle.admit(basic("ann", "right")), check);
  assert.equal(told[0], undefined);
  assert.match(told[1] ?? "", /ann$/);
});

Deno.test("throttleLogin() passes on results and errors", async () => {
  const { throttle } = create({ maxFailures: 1 });
  const ann = basic("ann", "x");
  assert.equal(await throttleLogin(throttle.admit(ann), () => Promise.resolve("ann")), "ann");
  for (let i = 0; i < 2; i++) {
    await assert.rejects(throttleLogin(throttle.admit(ann), () => Promise.reject(WRONG)), WRONG);
  }
  assert.throws(() => throttle.admit(ann), { code: "ERR_TOO_MANY_FAILURES" });
});

for (const [end, counts] of [["refused", true], ["undecided", false], ["skipped", false]] as const) {
  Deno.test(`throttleLogin() counts ${counts ? "a" : "no"} failure for a result that is ${end}`, async () => {
    const { throttle, wait } = create({ maxFailures: 1 });
    const ann = basic("ann", "x");
    for (let i = 0; i < 2; i++) {
      await throttleLogin(throttle.admit(ann), () => Promise.resolve("result"), () => end);
    }
    assert.equal(wait(ann) > 0, counts);
  });
}

Deno.test("LoginThrottle hands its state over to a successor, as data that can be posted", () => {
  const before = create();
  before.fail(basic("ann", "x"), 6);
  before.fail(basic("bob", "x"), 3);
  before.failTokens(101, "198.51.100.1");
  before.succeed(basic("carl", "right"));
  before.throttle.memory.ban({ user: "dora" }, before.clock.now + 60_000);
  const state = structuredClone(before.throttle.memory.state());

  const after = create();
  after.throttle.memory.adopt(state);
  for (const credentials of [basic("ann", "x"), bearer("t", "198.51.100.1"), basic("dora", "x")]) {
    assert.ok(before.wait(credentials) > 0);
    assert.equal(after.wait(credentials), before.wait(credentials));
  }
  // Three failures were handed over: the sixth causes a wait.
  assert.equal(after.wait(basic("bob", "x")), 0);
  after.fail(basic("bob", "x"), 2);
  assert.equal(after.wait(basic("bob", "x")), 0);
  after.fail(basic("bob", "x"));
  assert.ok(after.wait(basic("bob", "x")) > 0);
  // Carl is known at this address, so guesses from elsewhere do not delay him.
  for (let i = 0; i < 60; i++) {
    try {
      after.fail(basic("carl", "x", `203.0.113.${i}`));
    } catch (error) {
      assert.ok(isHttpError(error, "ERR_TOO_MANY_FAILURES"));
    }
  }
  assert.ok(after.wait(basic("carl", "x", "203.0.113.200")) > 0);
  assert.equal(after.wait(basic("carl", "right")), 0);
});

Deno.test("LoginThrottle hands over a bounded number of records", () => {
  const { throttle, admit } = create();
  for (let i = 0; i < 12_000; i++) admit(basic(`u${i}`, "x", address(i))).failed();
  const { pairs, addresses, users } = throttle.memory.state();
  assert.deepEqual([pairs.length, addresses.length, users.length], [10_000, 10_000, 10_000]);
});

function address(i: number): string {
  return `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
}

Deno.test("LoginThrottle keeps the length of waits and bans, whatever the system clock is set to", () => {
  const time = { elapsed: 1_700_000_000_000, clock: 1_700_000_000_000 };
  const throttle = new LoginThrottle({
    config: CONFIG,
    log: SILENT,
    steady: () => time.elapsed,
    clock: () => time.clock,
  });
  const wait = (user: string) => {
    try {
      const attempt = throttle.admit(basic(user, "x"));
      assert(!(attempt instanceof Promise));
      attempt.undecided();
      return 0;
    } catch (error) {
      assert(isHttpError(error, "ERR_TOO_MANY_FAILURES"));
      return waitOf(error);
    }
  };
  for (let i = 0; i < 6; i++) {
    const attempt = throttle.admit(basic("ann", "x"));
    assert(!(attempt instanceof Promise));
    attempt.failed();
  }
  throttle.memory.ban({ user: "bob" }, time.clock + 60_000);
  for (const by of [7_200_000, -14_400_000, 7_200_000]) {
    time.clock += by;
    assert.deepEqual([wait("ann"), wait("bob")], [1000, 60_000]);
    assert.deepEqual(
      throttle.memory.bans().map(({ user, until }) => [user, until - time.clock]),
      [["bob", 60_000], ["ann", 1000]],
      "and the ends that are shown are moments of the new time",
    );
  }
  time.elapsed += 1000;
  assert.deepEqual([wait("ann"), wait("bob")], [0, 59_000]);
});

Deno.test("LoginThrottle hands over to a successor with another clock time", () => {
  const before = create();
  before.fail(basic("ann", "x"), 6);
  before.succeed(basic("carl", "right"));
  before.throttle.memory.ban({ user: "dora" }, before.clock.now + 60_000);
  before.clock.now += 400;
  const state = structuredClone(before.throttle.memory.state());
  for (const by of [-7_200_000, 7_200_000]) {
    const after = create();
    after.clock.now = before.clock.now + by;
    after.throttle.memory.adopt(state);
    assert.deepEqual([after.wait(basic("ann", "x")), after.wait(basic("dora", "x"))], [600, 59_600]);
    after.clock.now += 24 * 3600_000 - 401;
    assert.equal(knownAs(after.admit(basic("carl", "x"))), true);
    after.clock.now += 1;
    assert.equal(knownAs(after.admit(basic("carl", "x"))), false);
  }
});

function knownAs(attempt: Attempt): boolean {
  attempt.undecided();
  return attempt.knownAs !== undefined;
}

Deno.test("LoginThrottle adopts the counts of all instances, and a late total lowers no count", async () => {
  const totals: ((totals: number[]) => void)[] = [];
  const throttle = new LoginThrottle({
    config: CONFIG,
    log: SILENT,
    steady: () => 1_700_000_000_000,
    others: {
      count: () => {
        const { promise, resolve } = Promise.withResolvers<number[]>();
        totals.push(resolve);
        return { totals: promise, soon: Promise.resolve() };
      },
      passed() {},
    },
  });
  const failures = () => throttle.memory.tables.pairs.entries(1)[0]?.[1].failures;
  for (let i = 0; i < 4; i++) {
    const attempt = throttle.admit(basic("ann", "x", HERE));
    assert(!(attempt instanceof Promise));
    attempt.failed();
    await Promise.resolve();
  }
  assert.equal(failures(), 4);
  const told = async (at: number, total: number) => {
    totals[at]?.([total]);
    for (let i = 0; i < 5; i++) await Promise.resolve();
  };
  await told(0, 2); // another instance saw one failure before the first one here
  assert.equal(failures(), 4);
  await told(3, 5);
  assert.equal(failures(), 5);
});
