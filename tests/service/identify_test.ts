import assert from "node:assert/strict";
import fc from "fast-check";
import type { AuthenticationResult, Authenticator } from "../../src/authentication/authenticator.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import { type Credentials, userKey } from "../../src/model/credentials.ts";
import { HttpError } from "../../src/model/http_error.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { LoginThrottle } from "../../src/throttling/login_throttle.ts";
import { recognise } from "../../src/service/identify.ts";
import { passwordFile } from "../../src/authentication/password/password_file.ts";
import { passwordLine } from "../system/running_service.ts";
import { basic } from "../authentication/sample_credentials.ts";

type Answer = AuthenticationResult | Error | Promise<AuthenticationResult>;

const REFUSE: AuthenticationResult = { kind: "refused", reason: "wrong" };
const SKIP: AuthenticationResult = { kind: "skipped" };
const ACCEPT: AuthenticationResult = {
  kind: "accepted",
  identity: { dn: "CN=Eve", method: "TEST", via: "M" },
};
const DOWN = new RemoteUnavailable("idp:1", "status 429", { retryAfterSeconds: 42 });

function method(answer: Answer, acceptsCertificates?: true): Authenticator {
  return {
    name: "M",
    challenges: ["Basic"],
    acceptsCertificates,
    authenticate: () => answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer),
    close() {},
  };
}

/** Returns a service with these authenticators, whose throttle permits two failures without delay. */
function service(authenticators: readonly Authenticator[], onUpdate = () => {}) {
  const steady = () => 1_700_000_000_000;
  const throttle = new LoginThrottle({
    config: { enabled: true, maxFailures: 2, windowSeconds: 3600, baseDelaySeconds: 1, maxDelaySeconds: 900 },
    log: SILENT,
    steady,
    onUpdate,
  });
  const parts = {
    chain: { authenticators, failOnMissingCredentials: false, realm: "AUTH" },
    throttle,
    attributes: {
      name: "NONE",
      attributesOf: () => Promise.resolve({ standard: new Map(), extra: new Map() }),
      close() {},
    },
    signIns: undefined,
    accessControl: true,
    serverName: () => undefined,
    accountStatus: () => Promise.resolve({ kind: "cannot tell" } as const),
  };
  return {
    throttle,
    show: (credentials: Credentials, signal = new AbortController().signal) =>
      recognise(credentials, {
        headers: new HeaderList(),
        trace: { client: credentials.clientAddress, facts: {} },
        log: SILENT,
        signal,
      }, parts),
  };
}

/** Returns the errors that a caller gets for four guesses in a row. */
async function guesses(
  authenticators: readonly Authenticator[],
): Promise<readonly Pick<HttpError, "status">[]> {
  const { show } = service(authenticators);
  const seen: Pick<HttpError, "status" | "code" | "publicMessage" | "headers">[] = [];
  for (let i = 0; i < 4; i++) {
    const failure = await show(basic("ann", `guess ${i}`)).then(() => undefined, (error) => error);
    assert.ok(failure instanceof HttpError, String(failure));
    const { status, code, headers } = failure;
    // The text names the configured ways to log in, for any credentials.
    const [publicMessage = ""] = failure.publicMessage.split(" This service accepts:");
    seen.push({ status, code, publicMessage, headers });
  }
  return seen;
}

Deno.test("recognise() counts and answers wrong passwords alike beside any other credentials, in every order", async () => {
  const alone = await guesses([method(REFUSE)]);
  assert.deepEqual(alone.map(({ status }) => status), [401, 401, 401, 429]);
  const other = fc.oneof(
    fc.constantFrom<Answer>(ACCEPT, REFUSE, SKIP, DOWN).map((answer) => method(answer, true)),
    fc.constantFrom<Answer>(REFUSE, SKIP, DOWN).map((answer) => method(answer)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(other, { maxLength: 5 }), fc.nat(5), async (others, at) => {
      assert.deepEqual(await guesses(others.toSpliced(at, 0, method(REFUSE))), alone);
    }),
  );
});

Deno.test("recognise() neither clears failures nor remembers the user for a certificate beside an unverified password", async () => {
  for (const answer of [SKIP, DOWN]) {
    const { throttle, show } = service([method(ACCEPT, true), method(answer)]);
    throttle.memory.tables.pairs.fail("192.0.2.17\0ann", { user: "ann", address: "192.0.2.17" });
    const shown = await show(basic("ann", "x")).catch(() => undefined);
    assert.equal(shown?.userName, undefined);
    assert.equal(throttle.memory.tables.pairs.failuresOf("192.0.2.17\0ann"), 1);
    assert.equal(throttle.memory.known.entries(1).length, 0);
  }
});

/** Returns an authenticator for passwords. @param kind A file can list its names, a remote system cannot. */
function passwords(kind: "file" | "remote", users: Readonly<Record<string, string>>): Authenticator {
  const dn = `CN=${Object.values(users)}`;
  return {
    ...method(REFUSE),
    ...(kind === "file" && { lists: (login, another) => !another && Object.hasOwn(users, userKey(login)) }),
    authenticate({ authorization }) {
      if (authorization.kind !== "basic") return Promise.resolve(SKIP);
      // Many providers ignore case; a file requires the exact name.
      const user = kind === "file" ? authorization.user : userKey(authorization.user);
      const right = authorization.password.reveal() === users[user];
      return Promise.resolve(
        right ? { kind: "accepted", identity: { dn, method: "TEST", via: "M" } } : REFUSE,
      );
    },
  };
}

const KINDS = ["file", "remote"] as const;
const SETTINGS = KINDS.flatMap((own) =>
  KINDS.flatMap((other) => [true, false].map((isFirst) => ({ own, other, isFirst })))
);

for (const { own, other, isFirst } of SETTINGS) {
  const order = isFirst ? `${own}, then the namesake's ${other}` : `the namesake's ${other}, then ${own}`;
  const inOrder = (first: Authenticator, second: Authenticator) =>
    isFirst ? [first, second] : [second, first];

  Deno.test(`recognise() does not reset guesses at a namesake's password by the guesser's own login: ${order}`, async () => {
    for (const spelling of own === "file" ? ["ann"] : ["ann", " ANN"]) {
      const { show } = service(
        inOrder(passwords(own, { ann: "own" }), passwords(other, { ann: "victim's" })),
      );
      let guesses = 0;
      for (let round = 0; round < 10; round++) {
        await show(basic(spelling, "own")).catch(() => {});
        for (let i = 0; i < 2; i++) {
          const error = await show(basic("ann", "guess")).then(() => undefined, (error) => error);
          if (error.status === 401) guesses++;
        }
      }
      assert.equal(guesses, 3, spelling);
    }
  });

  Deno.test(`recognise() remembers a user with a unique name, and clears failures if all methods list names: ${order}`, async () => {
    const { throttle, show } = service(
      inOrder(passwords(own, { ann: "own" }), passwords(other, { bob: "x" })),
    );
    await show(basic("ann", "mistyped")).catch(() => {});
    await show(basic("ann", "own"));
    const { known, tables: { pairs } } = throttle.memory;
    assert.equal(known.has("192.0.2.17\0ann"), true);
    assert.equal(pairs.failuresOf("192.0.2.17\0ann"), other === "file" ? 0 : 1);
  });
}

Deno.test("recognise() does not remember a user whose namesake another authenticator lists", async () => {
  for (const { own, isFirst } of SETTINGS) {
    const [mine, others] = [passwords(own, { ann: "own" }), passwords("file", { ann: "x" })];
    const { throttle, show } = service(isFirst ? [mine, others] : [others, mine]);
    await show(basic("ann", "own"));
    assert.equal(throttle.memory.known.entries(1).length, 0);
  }
});

Deno.test("recognise() does not reset guesses at the password of another user of the file whose name differs in case", async () => {
  const file = await Deno.makeTempFile({ prefix: "authserver-test-" });
  await Deno.writeTextFile(
    file,
    passwordLine(["Ann", "own"], "CN=1") + passwordLine(["ann", "victim's"], "CN=2"),
  );
  const method = await passwordFile({ name: "M", file, log: SILENT });
  const { throttle, show } = service([method]);
  let guesses = 0;
  for (let round = 0; round < 10; round++) {
    await show(basic("Ann", "own")).catch(() => {});
    for (let i = 0; i < 2; i++) {
      const error = await show(basic("ann", "guess")).then(() => undefined, (error) => error);
      if (error.status === 401) guesses++;
    }
  }
  assert.equal(guesses, 3);
  assert.equal(throttle.memory.known.entries(1).length, 0);
  method.close();
  await Deno.remove(file);
});

Deno.test("recognise() counts a wrong password even if its caller did not wait for the answer", async () => {
  const answer = Promise.withResolvers<AuthenticationResult>();
  const counted = Promise.withResolvers<void>();
  const { throttle, show } = service([method(answer.promise)], counted.resolve);
  const caller = new AbortController();
  const gone = new Error("gone");
  const shown = show(basic("ann", "x"), caller.signal);
  caller.abort(gone);
  answer.resolve(REFUSE);
  await assert.rejects(shown, gone);
  await counted.promise;
  assert.equal(throttle.memory.tables.pairs.failuresOf("192.0.2.17\0ann"), 1);
});
