import assert from "node:assert/strict";
import type { Authenticator, AuthenticationResult } from "../../src/authentication/authenticator.ts";
import { authenticate, type AuthenticationChain } from "../../src/authentication/chain.ts";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import type { Credentials } from "../../src/model/credentials.ts";
import type { Caller } from "../../src/model/identity.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { basic, bearer, MALFORMED, NO_CREDENTIALS, sshLegacy, unsignedJwt } from "./sample_credentials.ts";

type Answer = AuthenticationResult | Error;

const ACCEPT = (dn: string): AuthenticationResult => ({
  kind: "accepted",
  identity: { dn, method: "TEST", via: "T" },
});
const REFUSE: AuthenticationResult = { kind: "refused", reason: "wrong" };
const SKIP: AuthenticationResult = { kind: "skipped" };
const BROKEN = new Error("the file system is on fire");

/** A method with one answer for every request; remembers what it was shown. */
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

function ask(
  chain: Partial<AuthenticationChain>,
  credentials: Credentials,
  signal?: AbortSignal,
): Promise<Caller> {
  return authenticate(
    { authenticators: [], failOnMissingCredentials: false, realm: "AUTH", ...chain },
    credentials,
    { log: SILENT, signal: signal ?? new AbortController().signal },
  );
}

type Expected = "anonymous" | 401 | 503 | { dn: string };

const RULES: [string, Answer[], Credentials, Expected][] = [
  ["no credentials are anonymous", [SKIP, SKIP], NO_CREDENTIALS, "anonymous"],
  ["no credentials and no methods are anonymous", [], NO_CREDENTIALS, "anonymous"],
  ["malformed credentials are refused", [SKIP], MALFORMED, 401],
  ["malformed credentials are refused without methods", [], MALFORMED, 401],
  ["credentials of a kind without method are refused", [SKIP], bearer("x"), 401],
  ["a legacy token without method is refused", [SKIP], sshLegacy("ann"), 401],
  ["credentials without any method are refused", [], basic("ann", "x"), 401],
  ["the first to accept decides", [ACCEPT("CN=1"), ACCEPT("CN=2")], basic("ann", "x"), { dn: "CN=1" }],
  ["a refusal does not end the search", [REFUSE, ACCEPT("CN=2")], basic("ann", "x"), { dn: "CN=2" }],
  ["a skip does not end the search", [SKIP, ACCEPT("CN=2")], basic("ann", "x"), { dn: "CN=2" }],
  ["refused by all is refused", [REFUSE, REFUSE], basic("ann", "x"), 401],
  ["refused by one and skipped by others is refused", [SKIP, REFUSE, SKIP], basic("ann", "x"), 401],
  ["refused without Authorization, a consignor say, is refused", [REFUSE], NO_CREDENTIALS, 401],
  ["a certificate may decide without Authorization", [ACCEPT("CN=c")], NO_CREDENTIALS, { dn: "CN=c" }],
  ["out of order does not end the search", [BROKEN, ACCEPT("CN=2")], basic("ann", "x"), { dn: "CN=2" }],
  ["out of order alone is unavailable", [BROKEN], basic("ann", "x"), 503],
  ["out of order beats refused, before", [BROKEN, REFUSE], basic("ann", "x"), 503],
  ["out of order beats refused, after", [REFUSE, BROKEN], basic("ann", "x"), 503],
  ["out of order is never anonymous", [BROKEN, SKIP], NO_CREDENTIALS, 503],
];

for (const [rule, answers, credentials, expected] of RULES) {
  Deno.test(`authenticate(): ${rule}`, async () => {
    const asked = ask({ authenticators: answers.map((answer) => authenticator(answer)) }, credentials);
    if (expected === 401) await assert.rejects(asked, { code: "ERR_UNAUTHENTICATED" });
    else if (expected === 503) await assert.rejects(asked, { code: "ERR_AUTHENTICATION_UNAVAILABLE" });
    else if (expected === "anonymous") assert.deepEqual(await asked, { kind: "anonymous" });
    else {
      const caller = await asked;
      assert.equal(caller.kind, "authenticated");
      if (caller.kind === "authenticated") assert.equal(caller.identity.dn, expected.dn);
    }
  });
}

Deno.test("authenticate() asks nobody after the first to accept", async () => {
  const second = authenticator(REFUSE);
  await ask({ authenticators: [authenticator(ACCEPT("CN=1")), second] }, basic("ann", "x"));
  assert.equal(second.shown.length, 0);
});

Deno.test("authenticate() shows malformed credentials to no method", async () => {
  const only = authenticator(SKIP);
  await assert.rejects(ask({ authenticators: [only], issuedTokens: only }, MALFORMED), {
    code: "ERR_UNAUTHENTICATED",
  });
  assert.equal(only.shown.length, 0);
});

Deno.test("authenticate() refuses missing credentials where some are needed", async () => {
  const chain = { authenticators: [authenticator(SKIP)], failOnMissingCredentials: true };
  await assert.rejects(ask(chain, NO_CREDENTIALS), { code: "ERR_UNAUTHENTICATED" });
  const accepting = { authenticators: [authenticator(ACCEPT("CN=1"))], failOnMissingCredentials: true };
  assert.equal((await ask(accepting, NO_CREDENTIALS)).kind, "authenticated");
});

Deno.test("authenticate() takes an issued token before any method", async () => {
  const later = authenticator(ACCEPT("CN=2"));
  const caller = await ask({ issuedTokens: authenticator(ACCEPT("CN=own")), authenticators: [later] }, bearer("x"));
  assert.ok(caller.kind === "authenticated" && caller.identity.dn === "CN=own");
  assert.equal(later.shown.length, 0);
});

Deno.test("authenticate() shows a refused issued token to no method", async () => {
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

Deno.test("authenticate() goes on to the methods with what is no issued token", async () => {
  const chain = { issuedTokens: authenticator(SKIP), authenticators: [authenticator(ACCEPT("CN=2"))] };
  const caller = await ask(chain, bearer("x"));
  assert.ok(caller.kind === "authenticated" && caller.identity.dn === "CN=2");
});

Deno.test("authenticate() gives every refusal the same face, but for a word about the token that was shown", async () => {
  const authenticators = (answer: Answer) => [authenticator(answer, ["Basic"]), authenticator(SKIP, ["Bearer"])];
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
    publicMessage: "Authentication failed",
    headers: { "WWW-Authenticate": `Basic realm="AUTH", charset="UTF-8", Bearer realm="AUTH"${word}` },
  });
  assert.deepEqual(faces, [face(), face(', error="invalid_token"'), face(), face()]);
});

Deno.test("authenticate() shows a token to the method of its issuer alone", async () => {
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
  // Whose tokens nobody of them knows is shown to those who take any.
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
  ["free of what headers cannot hold", [["Bearer"]], "Jü\r\nX: y", 'Bearer realm="J???X: y"'],
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

Deno.test("authenticate() says when to come back if it is unavailable, and who is out of order in the log alone", async () => {
  await assert.rejects(ask({ authenticators: [authenticator(BROKEN)] }, basic("ann", "x")), (error: unknown) => {
    assert.ok(isHttpError(error, "ERR_AUTHENTICATION_UNAVAILABLE"));
    assert.deepEqual(error.headers, { "Retry-After": "5" });
    assert.equal(error.cause, BROKEN);
    assert.doesNotMatch(error.publicMessage, /fire|\bM\b/);
    return true;
  });
});

Deno.test("authenticate() passes on when another system wants to be asked again", async () => {
  const busy = new RemoteUnavailable("idp:1", "status 429", { retryAfterSeconds: 42 });
  await assert.rejects(ask({ authenticators: [authenticator(busy)] }, basic("ann", "x")), (error: unknown) => {
    assert.ok(isHttpError(error, "ERR_AUTHENTICATION_UNAVAILABLE"));
    assert.deepEqual(error.headers, { "Retry-After": "42" });
    return true;
  });
});

Deno.test("authenticate() ends with the signal's reason when the caller has gone", async () => {
  const gone = new Error("gone");
  for (const answer of [REFUSE, ACCEPT("CN=1"), BROKEN]) {
    const chain = { authenticators: [authenticator(answer), authenticator(answer)] };
    await assert.rejects(ask(chain, basic("ann", "x"), AbortSignal.abort(gone)), gone);
    assert.equal(chain.authenticators[1]?.shown.length, 0);
  }
});

Deno.test("authenticate() logs each refusal with its reason and nothing secret", async () => {
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line), { clock: () => 0 });
  const chain = { authenticators: [authenticator(REFUSE)], failOnMissingCredentials: false, realm: "AUTH" };
  const { signal } = new AbortController();
  await assert.rejects(authenticate(chain, basic("ann", "hunter2"), { log, signal }), {
    code: "ERR_UNAUTHENTICATED",
  });
  assert.deepEqual(lines, ["1970-01-01T00:00:00.000Z info  credentials refused method=M reason=wrong"]);
});
