import assert from "node:assert/strict";
import fc from "fast-check";
import type { AuthenticationResult, Authenticator } from "../../src/authentication/authenticator.ts";
import { authenticate, type AuthenticationChain } from "../../src/authentication/chain.ts";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import type { Credentials } from "../../src/model/credentials.ts";
import type { Caller } from "../../src/model/identity.ts";
import { HttpError, httpError, isHttpError } from "../../src/model/http_error.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";
import { basic, bearer, MALFORMED, NO_CREDENTIALS, sshLegacy, unsignedJwt } from "./sample_credentials.ts";

type Answer = AuthenticationResult | Error;

const ACCEPT = (dn: string): AuthenticationResult => ({
  kind: "accepted",
  identity: { dn, method: "TEST", via: "T" },
});
const REFUSE: AuthenticationResult = { kind: "refused", reason: "wrong" };
const SKIP: AuthenticationResult = { kind: "skipped" };
const BROKEN = new Error("the file system is on fire");

/** Makes an authenticator with one answer for every request, which records the credentials it receives. */
function authenticator(answer: Answer, challenges: Authenticator["challenges"] = ["Basic"]) {
  const shown: Credentials[] = [];
  const authenticator: Authenticator = {
    name: "M",
    challenges,
    authenticate(credentials) {
      shown.push(credentials);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    close() {},
  };
  return { ...authenticator, shown };
}

/** Makes an authenticator for client certificates alone. */
function certificate(answer: Answer) {
  return { ...authenticator(answer, []), acceptsCertificates: true as const };
}

async function ask(
  chain: Partial<AuthenticationChain>,
  credentials: Credentials,
  { signal = new AbortController().signal, log = SILENT } = {},
): Promise<Caller> {
  const { caller } = await authenticate(
    { authenticators: [], failOnMissingCredentials: false, realm: "AUTH", ...chain },
    credentials,
    { log, signal },
  );
  if (caller instanceof HttpError) throw caller;
  return caller;
}

function dnOf(caller: Caller): string | undefined {
  return caller.kind === "authenticated" ? caller.identity.dn : undefined;
}

type Expected = "anonymous" | 401 | 503 | { dn: string };

const RULES: [string, Answer[], Credentials, Expected][] = [
  ["a caller without credentials is anonymous", [SKIP, SKIP], NO_CREDENTIALS, "anonymous"],
  ["a caller without credentials is anonymous without authenticators too", [], NO_CREDENTIALS, "anonymous"],
  ["malformed credentials are refused", [SKIP], MALFORMED, 401],
  ["malformed credentials are refused without authenticators", [], MALFORMED, 401],
  ["credentials of a kind without authenticator are refused", [SKIP], bearer("x"), 401],
  ["a legacy token without authenticator is refused", [SKIP], sshLegacy("ann"), 401],
  ["credentials without any authenticator are refused", [], basic("ann", "x"), 401],
  ["the first to accept decides", [ACCEPT("CN=1"), ACCEPT("CN=2")], basic("ann", "x"), { dn: "CN=1" }],
  ["a refusal does not end the search", [REFUSE, ACCEPT("CN=2")], basic("ann", "x"), { dn: "CN=2" }],
  ["a skip does not end the search", [SKIP, ACCEPT("CN=2")], basic("ann", "x"), { dn: "CN=2" }],
  ["credentials that all refuse are refused", [REFUSE, REFUSE], basic("ann", "x"), 401],
  ["credentials that one refuses and others skip are refused", [SKIP, REFUSE, SKIP], basic("ann", "x"), 401],
  ["an outage does not end the search", [BROKEN, ACCEPT("CN=2")], basic("ann", "x"), { dn: "CN=2" }],
  ["an outage alone gives 503", [BROKEN], basic("ann", "x"), 503],
  ["a refused password has priority over an earlier outage", [BROKEN, REFUSE], basic("ann", "x"), 401],
  ["a refused password has priority over a later outage", [REFUSE, BROKEN], basic("ann", "x"), 401],
  ["an outage has priority over a later refusal of a token", [BROKEN, REFUSE], bearer("x"), 503],
  ["an outage has priority over an earlier refusal of a token", [REFUSE, BROKEN], bearer("x"), 503],
];

for (const [rule, answers, credentials, expected] of RULES) {
  Deno.test(`authenticate(): ${rule}`, async () => {
    const asked = ask({ authenticators: answers.map((answer) => authenticator(answer)) }, credentials);
    if (expected === 401) await assert.rejects(asked, { code: "ERR_UNAUTHENTICATED" });
    else if (expected === 503) await assert.rejects(asked, { code: "ERR_AUTHENTICATION_UNAVAILABLE" });
    else if (expected === "anonymous") assert.deepEqual(await asked, { kind: "anonymous" });
    else {
      assert.equal(dnOf(await asked), expected.dn);
    }
  });
}

/** Rules for two credentials at once. An answer in brackets is that of an authenticator for certificates. */
const TWO_CREDENTIALS: [string, (Answer | [Answer])[], Credentials, Expected][] = [
  ["a certificate may decide without Authorization", [SKIP, [ACCEPT("CN=c")]], NO_CREDENTIALS, {
    dn: "CN=c",
  }],
  ["a refused certificate, or consignor, is refused", [[REFUSE]], NO_CREDENTIALS, 401],
  ["a certificate that cannot be checked is never anonymous", [[BROKEN], SKIP], NO_CREDENTIALS, 503],
  [
    "a wrong password after a good certificate is refused",
    [[ACCEPT("CN=c")], REFUSE],
    basic("ann", "x"),
    401,
  ],
  ["a wrong password before a good certificate too", [REFUSE, [ACCEPT("CN=c")]], basic("ann", "x"), 401],
  ["a password that cannot be checked gives 503", [[ACCEPT("CN=c")], BROKEN], basic("ann", "x"), 503],
  ["the first of two good credentials decides", [[ACCEPT("CN=c")], ACCEPT("CN=a")], basic("ann", "x"), {
    dn: "CN=c",
  }],
  ["the first may be the password", [ACCEPT("CN=a"), [ACCEPT("CN=c")]], basic("ann", "x"), { dn: "CN=a" }],
  ["a good password outweighs a refused certificate", [[REFUSE], ACCEPT("CN=a")], basic("ann", "x"), {
    dn: "CN=a",
  }],
  [
    "a good password outweighs a certificate that cannot be checked",
    [[BROKEN], ACCEPT("CN=a")],
    basic("ann", "x"),
    { dn: "CN=a" },
  ],
];

for (const [rule, answers, credentials, expected] of TWO_CREDENTIALS) {
  Deno.test(`authenticate(): ${rule}`, async () => {
    const authenticators = answers.map((answer) =>
      Array.isArray(answer) ? certificate(answer[0]) : authenticator(answer)
    );
    const asked = ask({ authenticators }, credentials);
    if (typeof expected === "number") await assert.rejects(asked, { status: expected });
    else assert.equal(dnOf(await asked), typeof expected === "object" ? expected.dn : undefined);
  });
}

Deno.test("authenticate() refuses credentials that no authenticator handles, whatever certificate is beside them, in every order", async () => {
  const methods = fc.array(fc.oneof(
    fc.constant(SKIP).map((answer) => authenticator(answer)),
    fc.constantFrom<Answer>(ACCEPT("CN=c"), REFUSE, SKIP, BROKEN).map((answer) => certificate(answer)),
  ));
  const untaken = fc.constantFrom(bearer("x"), basic("ann", "x"), sshLegacy("ann"), MALFORMED);
  await fc.assert(
    fc.asyncProperty(methods, untaken, async (authenticators, credentials) => {
      await assert.rejects(ask({ authenticators }, credentials), { code: "ERR_UNAUTHENTICATED" });
    }),
  );
});

Deno.test("authenticate() does not give the owner of a certificate the user name that was typed", async () => {
  const typed = basic("victim", "right");
  const byCertificate = await ask({
    authenticators: [certificate(ACCEPT("CN=c")), authenticator(ACCEPT("CN=v"))],
  }, typed);
  assertAlike(byCertificate, {
    kind: "authenticated",
    identity: { dn: "CN=c", method: "TEST", via: "T", authTime: "now" },
  });
  const byPassword = await ask({ authenticators: [authenticator(ACCEPT("CN=v"))] }, typed);
  assert.ok(byPassword.kind === "authenticated" && byPassword.identity.login === "victim");
});

/** Returns the outcome of a request as the caller sees it. */
async function seen(chain: Partial<AuthenticationChain>, credentials: Credentials): Promise<unknown> {
  try {
    return dnOf(await ask(chain, credentials)) ?? "anonymous";
  } catch (error) {
    assert.ok(error instanceof HttpError);
    const { status, code, publicMessage, headers } = error;
    return { status, code, publicMessage, headers };
  }
}

Deno.test("authenticate() refuses a wrong password beside other authenticators, in every order, as it would alone", async () => {
  const answer = fc.constantFrom<Answer>(ACCEPT("CN=c"), REFUSE, SKIP, BROKEN);
  const other = fc.oneof(
    answer.map(certificate),
    fc.constantFrom<Answer>(REFUSE, SKIP, BROKEN).map((answer) => authenticator(answer, ["Bearer"])),
  );
  const order = fc.tuple(fc.array(other, { maxLength: 5 }), fc.nat(5));
  const listening = { log: SILENT, signal: new AbortController().signal };
  await fc.assert(fc.asyncProperty(order, async ([others, at]) => {
    const wrong = basic("ann", "x");
    const authenticators = others.toSpliced(at, 0, authenticator(REFUSE));
    const silent = authenticators.map((one, i) =>
      i === Math.min(at, others.length)
        ? one
        : { ...authenticator(SKIP, one.challenges), acceptsCertificates: one.acceptsCertificates }
    );
    assert.deepEqual(await seen({ authenticators }, wrong), await seen({ authenticators: silent }, wrong));
    const chain = { authenticators, failOnMissingCredentials: false, realm: "AUTH" };
    assert.equal((await authenticate(chain, wrong, listening)).authorization, "refused");
  }));
});

Deno.test("authenticate() asks no authenticator after the first that accepts", async () => {
  const second = authenticator(REFUSE);
  await ask({ authenticators: [authenticator(ACCEPT("CN=1")), second] }, basic("ann", "x"));
  assert.equal(second.shown.length, 0);
});

Deno.test("authenticate() passes malformed credentials to no authenticator", async () => {
  const only = authenticator(SKIP);
  await assert.rejects(ask({ authenticators: [only], issuedTokens: only }, MALFORMED), {
    code: "ERR_UNAUTHENTICATED",
  });
  assert.equal(only.shown.length, 0);
});

Deno.test("authenticate() refuses missing credentials if failOnMissingCredentials is set", async () => {
  const chain = { authenticators: [authenticator(SKIP)], failOnMissingCredentials: true };
  await assert.rejects(ask(chain, NO_CREDENTIALS), { code: "ERR_UNAUTHENTICATED" });
  const accepting = { authenticators: [certificate(ACCEPT("CN=1"))], failOnMissingCredentials: true };
  assert.equal((await ask(accepting, NO_CREDENTIALS)).kind, "authenticated");
});

Deno.test("authenticate() accepts an issued token before it asks any authenticator", async () => {
  const later = authenticator(ACCEPT("CN=2"));
  const caller = await ask(
    { issuedTokens: authenticator(ACCEPT("CN=own")), authenticators: [later] },
    bearer("x"),
  );
  assert.ok(caller.kind === "authenticated" && caller.identity.dn === "CN=own");
  assert.equal(later.shown.length, 0);
});

Deno.test("authenticate() passes a refused issued token to no authenticator", async () => {
  const later = authenticator(ACCEPT("CN=2"));
  await assert.rejects(ask({ issuedTokens: authenticator(REFUSE), authenticators: [later] }, bearer("x")), {
    code: "ERR_UNAUTHENTICATED",
  });
  await assert.rejects(
    ask({ issuedTokens: authenticator(BROKEN), authenticators: [later] }, bearer("x")),
    { code: "ERR_AUTHENTICATION_UNAVAILABLE" },
  );
  assert.equal(later.shown.length, 0);
});

Deno.test("authenticate() passes a token that is not an issued one to the authenticators", async () => {
  const chain = { issuedTokens: authenticator(SKIP), authenticators: [authenticator(ACCEPT("CN=2"))] };
  const caller = await ask(chain, bearer("x"));
  assert.ok(caller.kind === "authenticated" && caller.identity.dn === "CN=2");
});

Deno.test("authenticate() answers every refusal alike, except for the error code after a token", async () => {
  const authenticators = (
    answer: Answer,
  ) => [authenticator(answer, ["Basic"]), authenticator(SKIP, ["Bearer"])];
  const faces: unknown[] = [];
  for (
    const [chain, credentials] of [
      [{ authenticators: authenticators(REFUSE) }, basic("ann", "x")],
      [{ authenticators: authenticators(SKIP) }, bearer("x")],
      [{ authenticators: authenticators(SKIP) }, MALFORMED],
      [{ authenticators: authenticators(SKIP), failOnMissingCredentials: true }, NO_CREDENTIALS],
    ] as const
  ) {
    await assert.rejects(ask(chain, credentials), (error: unknown) => {
      assert.ok(isHttpError(error, "ERR_UNAUTHENTICATED"));
      const { status, code, publicMessage, headers } = error;
      faces.push({ status, code, publicMessage, headers });
      return true;
    });
  }
  const face = (word = "") => ({
    status: 401,
    code: "ERR_UNAUTHENTICATED",
    publicMessage: "Authentication failed. This service accepts: a user name with password, an access token",
    headers: { "WWW-Authenticate": `Basic realm="AUTH", charset="UTF-8", Bearer realm="AUTH"${word}` },
  });
  assert.deepEqual(faces, [face(), face(', error="invalid_token"'), face(), face()]);
});

Deno.test("authenticate() passes a token only to the authenticator of its issuer", async () => {
  const token = unsignedJwt({ iss: "https://b.example", sub: "ann" });
  const of = (url: string, answer: Answer) => ({
    ...authenticator(answer),
    issuer: { url, scopes: [], asked: false },
  });
  const [a, b, any] = [
    of("https://a.example", ACCEPT("CN=a")),
    of("https://b.example", REFUSE),
    authenticator(ACCEPT("CN=c")),
  ];
  await assert.rejects(ask({ authenticators: [a, b, any] }, bearer(token)));
  assert.deepEqual([a, b, any].map(({ shown }) => shown.length), [0, 1, 0]);
  // A token of an issuer that no authenticator names goes to authenticators without an issuer.
  await ask({ authenticators: [a, any] }, bearer(token));
});

const CHALLENGES: [string, Authenticator["challenges"][], string, string][] = [
  [
    "each once",
    [["Bearer"], ["Basic"], ["Bearer"]],
    "S",
    'Bearer realm="S", Basic realm="S", charset="UTF-8"',
  ],
  ["Bearer if there is no other", [[]], "S", 'Bearer realm="S"'],
  ["quoted", [["Bearer"]], 'a"b\\c', 'Bearer realm="a\\"b\\\\c"'],
  ["without characters that headers cannot hold", [["Bearer"]], "Jü\r\nX: y", 'Bearer realm="J???X: y"'],
];

for (const [what, challenges, realm, expected] of CHALLENGES) {
  Deno.test(`authenticate() offers challenges ${what}`, async () => {
    const authenticators = challenges.map((offered) => authenticator(REFUSE, offered));
    await assert.rejects(ask({ authenticators, realm }, basic("ann", "x")), (error: unknown) => {
      assert.ok(isHttpError(error, "ERR_UNAUTHENTICATED"));
      assert.equal(error.headers["WWW-Authenticate"], expected);
      return true;
    });
  });
}

Deno.test("authenticate() sends Retry-After if it is unavailable, and names the failed authenticator only in the log", async () => {
  await assert.rejects(
    ask({ authenticators: [authenticator(BROKEN)] }, basic("ann", "x")),
    (error: unknown) => {
      assert.ok(isHttpError(error, "ERR_AUTHENTICATION_UNAVAILABLE"));
      assert.deepEqual(error.headers, { "Retry-After": "5" });
      assert.equal(error.cause, BROKEN);
      assert.doesNotMatch(error.publicMessage, /fire|\bM\b/);
      return true;
    },
  );
});

Deno.test("authenticate() passes on the Retry-After of another system", async () => {
  const busy = new RemoteUnavailable("idp:1", "status 429", { retryAfterSeconds: 42 });
  await assert.rejects(
    ask({ authenticators: [authenticator(busy)] }, basic("ann", "x")),
    (error: unknown) => {
      assert.ok(isHttpError(error, "ERR_AUTHENTICATION_UNAVAILABLE"));
      assert.deepEqual(error.headers, { "Retry-After": "42" });
      return true;
    },
  );
});

Deno.test("authenticate() ends with the signal's reason when the caller has gone", async () => {
  const gone = new Error("gone");
  for (const answer of [REFUSE, ACCEPT("CN=1"), BROKEN]) {
    const chain = { authenticators: [authenticator(answer), authenticator(answer)] };
    await assert.rejects(ask(chain, basic("ann", "x"), { signal: AbortSignal.abort(gone) }), gone);
    assert.equal(chain.authenticators[1]?.shown.length, 0);
  }
});

Deno.test("authenticate() logs an outage as an error, and too much work for strangers only as a warning", async () => {
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line), { clock: () => 0 });
  for (const error of [BROKEN, httpError("ERR_TOO_MUCH_WORK")]) {
    await assert.rejects(ask({ authenticators: [authenticator(error)] }, basic("ann", "x"), { log }));
  }
  assert.deepEqual(lines.map((line) => line.split(" ")[1]), ["error", "warn"]);
});

Deno.test("authenticate() logs each refusal with its reason and without secrets", async () => {
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line), { clock: () => 0 });
  await assert.rejects(ask({ authenticators: [authenticator(REFUSE)] }, basic("ann", "hunter2"), { log }), {
    code: "ERR_UNAUTHENTICATED",
  });
  assert.deepEqual(lines, [
    "1970-01-01T00:00:00.000Z info  credentials refused authenticator=M reason=wrong",
  ]);
});
