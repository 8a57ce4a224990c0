/** Identity providers that hang, lie, close or fail: their users get 503, and nobody else notices. */
import assert from "node:assert/strict";
import { signElement } from "../identity_provider/saml_message.ts";
import { basicHeader } from "../identity_provider/unity_provider.ts";
import { createAuthority } from "../pki/authority.ts";
import type { Question } from "../system/ask.ts";
import { runWithEveryMethod, userToken } from "../system/every_method.ts";
import { ALICE } from "../system/running_service.ts";
import { LONG } from "../long/results.ts";
import { causeIn, note, within } from "./fault_table.ts";
import { LEFT_ALONE_MS, PROVIDER_FAULTS, type ProviderFault, SHORT_TIMES } from "./provider_fault.ts";
import { sendJson } from "../identity_provider/oidc_provider.ts";

const SECTION = "Identity providers (OAUTH, UNITY)";
const TOKEN = { headers: { Authorization: "Bearer userinfo-token" } };

/** Start of the last service: services start one after the other, since all at once overload the machine. */
let started: Promise<unknown> = Promise.resolve();
function startNext() {
  const next = started.then(() => runWithEveryMethod(SHORT_TIMES));
  started = next.catch(() => {});
  return next;
}

/** Returns the replies to users of a failing provider, and to others. @param user User of Unity alone. */
async function outcome({ system, oidc, unity }: Providers, { answer }: ProviderFault, user: string) {
  const una = [user, "sesame"] as const;
  unity.known.add(basicHeader(...una));
  for (const provider of [oidc, unity]) provider.fault = answer;
  const began = performance.now();
  const asking = Promise.all([system.ask("/rest/auth", TOKEN), system.ask("/rest/auth", { as: una })]);
  const others = await Promise.all([
    system.ask("/rest/auth", { as: ALICE }),
    system.ask("/rest/auth", {
      headers: { Authorization: `Bearer ${userToken("alice", "user_ed25519")}` },
    }),
    system.ask("/rest/auth"),
  ]);
  const replies = await asking;
  const took = performance.now() - began;
  const line = await system.logged(new RegExp(`request answered.*request=${replies[0].json().requestId}`));

  for (const provider of [oidc, unity]) provider.fault = undefined;
  let after = "a provider that failed is tried again after 1 to 30 s";
  if (LONG) {
    const mended = performance.now();
    while ((await system.ask("/rest/auth", TOKEN)).status !== 200) {
      assert(performance.now() - mended < LEFT_ALONE_MS, "not used again");
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    after = `recovers ${within(performance.now() - mended)} after the fault`;
  }
  return { replies, others, took, line, after };
}

type Outcome = Awaited<ReturnType<typeof outcome>>;

/** Returns outcomes of all faults. Long runs start a service for each, others reload one after each. */
function outcomesOf(faults: readonly ProviderFault[]): readonly Promise<Outcome>[] {
  if (LONG) {
    return faults.map(async (fault) => {
      await using setting = await startNext();
      return await outcome(setting, fault, "una");
    });
  }
  let before: Promise<unknown> = Promise.resolve();
  return faults.map((fault, i) => {
    const next = before.then(async () => {
      const setting = await deceived;
      const found = await outcome(setting, fault, `una-${i}`);
      await setting.system.service.reload();
      return found;
    });
    before = next.catch(() => {});
    return next;
  });
}

type Providers = Awaited<ReturnType<typeof runWithEveryMethod>>;

const deceived = startNext();
deceived.catch(() => {}); // tests await it
Deno.test.afterAll(async () => await (await deceived)[Symbol.asyncDispose]());

const outcomes = outcomesOf(PROVIDER_FAULTS);
for (const outcome of outcomes) outcome.catch(() => {}); // tests await them

for (const [i, { what }] of PROVIDER_FAULTS.entries()) {
  Deno.test(`an identity provider that ${what} causes 503 for its tokens, and affects no others`, async () => {
    const found = await outcomes[i];
    assert(found);
    const { replies, others, took, line, after } = found;
    assert.deepEqual(others.map(({ status }) => status), [200, 200, 200]);
    // The service refuses a password that the password file refuses, even if the provider is down: otherwise
    // throttling would not count guesses.
    const expected = [[503, "ERR_AUTHENTICATION_UNAVAILABLE"], [401, "ERR_UNAUTHENTICATED"]];
    for (const [i, reply] of replies.entries()) {
      const { code, errorMessage } = reply.json();
      assert.deepEqual([reply.status, code], expected[i]);
      assert(!/localhost|:\d{4,5}/.test(String(errorMessage)), "nothing of addresses");
    }
    assert(took < 30_000, `it took ${took} ms: longer than a wait of 10 s on a busy machine`);
    note({
      section: SECTION,
      fault: `the provider ${what}`,
      caller:
        "503 `ERR_AUTHENTICATION_UNAVAILABLE` for users with a token; 401 for a password that the password file refuses",
      log: `\`request answered\`, ${causeIn(line)}`,
      after: `passwords, SSH keys and anonymous callers unaffected; ${after}`,
    });
  });
}

interface Lie {
  readonly what: string;
  readonly tell: (providers: Providers) => void;
  /** Credentials that the user sends. */
  readonly asks: "password" | "token";
  /** The only reason for which the service refuses the answer. */
  readonly reason: RegExp;
}

const LIES: readonly Lie[] = [
  {
    what: "sends an assertion with a foreign signature",
    tell: ({ unity }) => {
      const stranger = createAuthority({ subject: "CN=unity" });
      unity.lie = { sign: (assertion) => signElement(assertion, { signer: stranger }) };
    },
    asks: "password",
    reason: /the signer's certificate is not among the trusted ones/,
  },
  {
    what: "sends an assertion that answers another request",
    tell: ({ unity }) => unity.lie = { requestId: "_another" },
    asks: "password",
    reason: /the response is to another request/,
  },
  {
    what: "sends an assertion for another audience",
    tell: ({ unity }) => unity.lie = { url: "https://other.example/" },
    asks: "password",
    reason: /the assertion is for another audience/,
  },
  {
    what: "sends an assertion that expired an hour ago",
    tell: ({ unity }) => unity.lie = { now: Date.now() - 3_600_000 },
    asks: "password",
    reason: /Conditions is no longer valid/,
  },
  {
    what: "omits the subject",
    tell: ({ oidc }) => oidc.fault = (_, response) => sendJson(response, { preferred_username: "ann7" }),
    asks: "token",
    reason: /identityAssign fails: .* no value is named email/,
  },
  {
    what: "returns a name with line breaks",
    tell: ({ oidc }) => oidc.fault = (_, response) => sendJson(response, { email: "ann\nuser=root" }),
    asks: "token",
    reason: /the identity has a control character/,
  },
];

for (const [i, { what, tell, asks, reason }] of LIES.entries()) {
  Deno.test(`an identity provider that ${what} authenticates nobody`, async () => {
    const setting = await deceived;
    const { system, oidc, unity } = setting;
    // Another user each time: the service remembers a refusal for some seconds.
    const asking = (name: string): Question => {
      const user = [`una-${name}`, "sesame"] as const;
      unity.known.add(basicHeader(...user));
      oidc.tokens.set(`token-${name}`, { email: `ann-${name}@site-a.example` });
      return asks === "password" ? { as: user } : { headers: { Authorization: `Bearer token-${name}` } };
    };
    const question = asking(`deceived-${i}`);
    assert.equal((await system.ask("/rest/auth", asking(`honest-${i}`))).status, 200, "without a lie");
    tell(setting);
    const reply = await system.ask("/rest/auth", question);
    unity.lie = {};
    oidc.fault = undefined;
    assert.deepEqual([reply.status, reply.json().code], [401, "ERR_UNAUTHENTICATED"]);
    const method = asks === "password" ? "UNITY" : "OAUTH";
    const line = await system.logged(
      new RegExp(`credentials refused request=${reply.json().requestId} authenticator=${method} `),
    );
    assert.match(line, reason);
    assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
    const honest = performance.now();
    while (LONG && (await system.ask("/rest/auth", question)).status !== 200) {
      assert(performance.now() - honest < 10_000, "an honest answer is not believed");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    note({
      section: SECTION,
      fault: `the provider ${what}`,
      caller: "401 `ERR_UNAUTHENTICATED`",
      log: `\`credentials refused\`, ${causeIn(line)}`,
      after: "passwords, SSH keys and anonymous callers unaffected; correct answers are accepted within 5 s",
    });
  });
}
