import assert from "node:assert/strict";
import type { AuthenticationResult, Authenticator } from "../../src/authentication/authenticator.ts";
import type { Authorization, Credentials } from "../../src/model/credentials.ts";
import { HttpError } from "../../src/model/http_error.ts";
import { MALFORMED, NO_CREDENTIALS } from "./sample_credentials.ts";

/** Authenticator to test. The keys of `bad` and `foreign` describe the credentials. */
export interface Subject {
  /** Beginning of the tests' names, such as `passwordFile()`. */
  readonly name: string;
  /** Creates an authenticator with the name `SUBJECT`. The suite closes it. */
  readonly create: () => Authenticator | Promise<Authenticator>;
  /** Method as reported in `client.authenticationMethod`. */
  readonly method: string;
  readonly good: Credentials;
  readonly bad: Readonly<Record<string, Credentials>>;
  /** Credentials for other authenticators, in addition to those that the suite always tries. */
  readonly foreign: Readonly<Record<string, Credentials>>;
  /** Creates an authenticator that cannot check the good credentials, say because its provider is down. */
  readonly broken?: () => Authenticator | Promise<Authenticator>;
}

/** Registers the tests that authenticators of every kind must pass. */
export function testAuthenticator({ name, create, method, good, bad, foreign, broken }: Subject): void {
  const test = (fact: string, run: (subject: Authenticator) => Promise<void>, make = create) =>
    Deno.test(`${name} ${fact}`, async () => {
      const subject = await make();
      try {
        await run(subject);
      } finally {
        subject.close();
      }
    });

  test("has the configured name and no duplicate challenges", (subject) => {
    assert.equal(subject.name, "SUBJECT");
    assert.equal(new Set(subject.challenges).size, subject.challenges.length);
    return Promise.resolve();
  });

  test("accepts good credentials, and returns the identity with the method", async (subject) => {
    const result = await ask(subject, good);
    assert.equal(result.kind, "accepted");
    if (result.kind !== "accepted") return;
    assert.equal(result.identity.method, method);
    assert.equal(result.identity.via, "SUBJECT");
    assert.notEqual(result.identity.dn.trim(), "");
    assertHidden(good, result);
  });

  for (const [what, credentials] of Object.entries(bad)) {
    test(`refuses ${what} each time, and still accepts good credentials`, async (subject) => {
      const result = await ask(subject, credentials);
      assert.equal(result.kind, "refused");
      if (result.kind !== "refused") return;
      assert.notEqual(result.reason, "");
      assertHidden(credentials, result);
      assert.equal((await ask(subject, credentials)).kind, "refused");
      assert.equal((await ask(subject, good)).kind, "accepted");
      assert.equal((await ask(subject, credentials)).kind, "refused");
    });
  }

  const others = { "no credentials": NO_CREDENTIALS, "malformed credentials": MALFORMED, ...foreign };
  for (const [what, credentials] of Object.entries(others)) {
    test(`skips ${what}`, async (subject) => {
      assert.equal((await ask(subject, credentials)).kind, "skipped");
    });
  }

  test("answers simultaneous callers without mixing them up", async (subject) => {
    const cases: [Credentials, AuthenticationResult["kind"]][] = [[good, "accepted"], [
      NO_CREDENTIALS,
      "skipped",
    ]];
    for (const credentials of Object.values(bad)) cases.push([credentials, "refused"]);
    const all = [...cases, ...cases, ...cases];
    const results = await Promise.all(all.map(([credentials]) => ask(subject, credentials)));
    assert.deepEqual(results.map(({ kind }) => kind), all.map(([, kind]) => kind));
  });

  test("neither accepts nor hangs for a caller who has gone", async (subject) => {
    const first = Object.values(bad)[0];
    if (first === undefined) throw new TypeError("the subject names no bad credentials");
    const gone = AbortSignal.abort();
    const result = await subject.authenticate(first, gone).catch((error: unknown) => {
      assert.ok(error instanceof Error, "an abort rejects with an error");
      return { kind: "aborted" };
    });
    assert.notEqual(result.kind, "accepted");
  });

  test("may be closed twice", (subject) => {
    subject.close();
    subject.close();
    return Promise.resolve();
  });

  if (broken !== undefined) {
    test(
      "that is out of order throws an error with status 503 and without the credentials",
      async (subject) => {
        await assert.rejects(ask(subject, good), (error: unknown) => {
          assert.ok(error instanceof HttpError);
          assert.equal(error.status, 503);
          assertHidden(good, { publicMessage: error.publicMessage, message: error.message });
          return true;
        });
        assert.deepEqual(await ask(subject, NO_CREDENTIALS), { kind: "skipped" });
      },
      broken,
    );
  }
}

function ask(subject: Authenticator, credentials: Credentials): Promise<AuthenticationResult> {
  return subject.authenticate(credentials, new AbortController().signal);
}

/** Asserts that a value, as JSON, contains no secret of the credentials. */
function assertHidden({ authorization }: Credentials, value: unknown): void {
  const secret = secretOf(authorization);
  if (secret === undefined || secret.length < 4) return;
  assert.ok(!JSON.stringify(value).includes(secret), "the result holds a secret");
}

function secretOf(authorization: Authorization): string | undefined {
  switch (authorization.kind) {
    case "basic":
      return authorization.password.reveal();
    case "bearer":
      return authorization.token.reveal();
    case "ssh-legacy":
      return authorization.signature.reveal();
    case "none":
    case "malformed":
      return undefined;
  }
}
