/** Every authentication method over HTTPS, in one service (credentials.md 1 to 6, 9). */
import assert from "node:assert/strict";
import { basicHeader } from "../identity_provider/unity_provider.ts";
import type { Question } from "./ask.ts";
import { runWithEveryMethod, userToken } from "./every_method.ts";
import { ALICE, ALICE_DN } from "./running_service.ts";

const setting = await runWithEveryMethod();
const { system, authority, oidc, unity } = setting;
Deno.test.afterAll(() => setting[Symbol.asyncDispose]());

unity.known.add(basicHeader("una", "sesame: Grüße")).add("Bearer unity-token");
oidc.tokens.set("introspected-token", { name: "Iris", login: "iris", role: "user", scope: "a b" });
oidc.tokens.set("no-account-token", { name: "Nora" });
/** Longest token that the service accepts: `Authorization` may have 32 KiB. */
const LONG_TOKEN = "t".repeat(32 * 1024 - "Bearer ".length);
oidc.tokens.set(LONG_TOKEN, { name: "Lena", login: "lena", role: "user" });

const bearer = (token: string): Question => ({ headers: { Authorization: `Bearer ${token}` } });

/** Returns name, method, account, group and role of a caller, as the service reports them. */
async function whoIs(question: Question): Promise<unknown[]> {
  const reply = await system.ask("/rest/auth", question);
  assert.equal(reply.status, 200, reply.text);
  const { dn, authenticationMethod, xlogin, role } = JSON.parse(reply.text).client;
  return [dn, authenticationMethod, xlogin.UID, xlogin.group, role.selected];
}

const session = async (server: string, question: Question) => {
  const { status } = await system.ask(`/rest/auth/${server}`, { ...question, body: { serverPath: "" } });
  return status;
};
const latest = (server: string) =>
  system.daemon(server).requests.flatMap(({ values }) =>
    values?.get("request-type") === "uftp-transfer-request" ? [values.get("user")] : []
  ).at(-1);

const ALICE_IS = [ALICE_DN, "SSHKEY", "alice", "hpc", "user"];
const nobody = "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN";
const SSH_DN = (user: string) => `CN=${user}, OU=ssh-local-users`;

const accepted: [string, () => Question, unknown[]][] = [
  ["an anonymous caller", () => ({}), [nobody, undefined, undefined, undefined, "anonymous"]],
  ["a password", () => ({ as: ALICE }), [ALICE_DN, "PASSWORD_FILE", "alice", "hpc", "user"]],
  [
    "an Ed25519 token as older Java clients sign it",
    () => bearer(userToken("alice", "user_ed25519")),
    ALICE_IS,
  ],
  [
    "an Ed25519 token as current Java clients sign it",
    () => bearer(userToken("alice", "user_ed25519", { header: { alg: "Ed25519" } })),
    ALICE_IS,
  ],
  [
    "an EC token of pyuftp",
    () =>
      bearer(userToken("alice", "user_ecdsa256", {
        header: { alg: "ES256", typ: "JWT" },
        claims: { etd: "false" },
      })),
    ALICE_IS,
  ],
  [
    "a token for this server's name",
    () => bearer(userToken("alice", "user_ed25519", { claims: { aud: ["x", "CN=AUTH,O=Demo,C=EU"] } })),
    ALICE_IS,
  ],
  [
    "a key of another line, with the DN of that line",
    () => bearer(userToken("alice", "user_rsa3072", { header: { alg: "RS256" } })),
    ["CN=Alice With Another Name,O=Demo,C=EU", "SSHKEY", "alice", undefined, "user"],
  ],
  [
    "a daemon's key",
    () => bearer(userToken("dora", "user_rsa2048", { header: { alg: "RS256" } })),
    [SSH_DN("dora"), "SSHKEY", "dora", undefined, "user"],
  ],
  [
    "a daemon's key that is valid from this address",
    () => bearer(userToken("near", "user_ecdsa256", { header: { alg: "ES256" } })),
    [SSH_DN("near"), "SSHKEY", "near", undefined, "user"],
  ],
  [
    "an OAuth token, by userinfo",
    () => bearer("userinfo-token"),
    ["UID=ann\\+x@site-a.example", "OAUTH", "ann7", "hpc", "user"],
  ],
  [
    "an OAuth token, by introspection",
    () => bearer("introspected-token"),
    ["CN=Iris", "OAUTH", "iris", undefined, "user"],
  ],
  ["an OAuth token of 32 KiB", () => bearer(LONG_TOKEN), ["CN=Lena", "OAUTH", "lena", undefined, "user"]],
  [
    "an OAuth token without account",
    () => bearer("no-account-token"),
    ["CN=Nora", "OAUTH", undefined, undefined, "anonymous"],
  ],
  [
    "a password at Unity",
    () => ({ as: ["una", "sesame: Grüße"] }),
    ["CN=Ann Example,O=Site-A,C=DE", "UNITY-SAML", "ann", "hpc", "user"],
  ],
  [
    "a token at Unity",
    () => bearer("unity-token"),
    ["CN=Ann Example,O=Site-A,C=DE", "UNITY-SAML", "ann", undefined, "user"],
  ],
  [
    "a client certificate",
    () => ({ certificate: authority.issue({ subject: ALICE_DN, extendedKeyUsage: ["clientAuth"] }) }),
    [ALICE_DN, "X509", "alice", "hpc", "user"],
  ],
];
for (const [what, question, expected] of accepted) {
  Deno.test(`the service accepts ${what}`, async () => {
    assert.deepEqual(await whoIs(question()), expected);
  });
}

const es256 = { header: { alg: "ES256" } };
const refused: [string, () => Question][] = [
  ["a wrong password", () => ({ as: ["alice", "guess"] })],
  ["an unknown user", () => ({ as: ["nobody", "guess"] })],
  ["an unknown scheme", () => ({ headers: { Authorization: "Digest x" } })],
  ["a token signed by another key", () => bearer(userToken("alice", "other_ed25519"))],
  ["a token of another user", () => bearer(userToken("fay2", "user_ed25519"))],
  ["a token that has expired", () => bearer(userToken("alice", "user_ed25519", { claims: { exp: 1 } }))],
  ["a token without exp", () => bearer(userToken("alice", "user_ed25519", { claims: { exp: undefined } }))],
  [
    "a token that lasts too long",
    () => bearer(userToken("alice", "user_ed25519", { claims: { exp: Date.now() } })),
  ],
  [
    "a token for another server",
    () => bearer(userToken("alice", "user_ed25519", { claims: { aud: "CN=B" } })),
  ],
  ["a token for root", () => bearer(userToken("root", "user_ed25519"))],
  ["a token for a name with a line feed", () => bearer(userToken("a\nuser=root\nEND", "user_ed25519"))],
  ["a daemon's key for another address", () => bearer(userToken("far", "user_ecdsa256", es256))],
  ["a daemon's key that has expired", () => bearer(userToken("late", "user_ecdsa256", es256))],
  ["a daemon's key for one command", () => bearer(userToken("forced", "user_ecdsa256", es256))],
  ["a daemon's key that signs certificates", () => bearer(userToken("signed", "user_ecdsa256", es256))],
  ["a daemon's key of a user in the keys file", () => bearer(userToken("fay", "user_ecdsa256", es256))],
  ["an OAuth token that no provider knows", () => bearer("somebody-elses-token")],
  [
    "a certificate of an unknown authority and a wrong password",
    () => ({
      as: ["alice", "guess"],
      certificate: authority.impostor().issue({ subject: ALICE_DN }),
    }),
  ],
];
for (const [what, question] of refused) {
  Deno.test(`the service refuses ${what} with 401`, async () => {
    const asked = question();
    const reply = await system.ask("/rest/auth", asked);
    assert.equal(reply.status, 401, reply.text);
    assert.equal(reply.json().code, "ERR_UNAUTHENTICATED");
    // RFC 6750, 3.1
    const error = asked.headers?.Authorization?.startsWith("Bearer") ? ', error="invalid_token"' : "";
    assert.equal(
      reply.headers["www-authenticate"],
      `Basic realm="DEMO", charset="UTF-8", Bearer realm="DEMO"${error}`,
    );
  });
}

for (
  const [what, certificate, reason] of [
    [
      "of an authority",
      authority.issue({ subject: ALICE_DN, ca: true }),
      "it is an authority's \\(CA:TRUE\\)",
    ],
    [
      "that has expired",
      authority.issue({ subject: ALICE_DN, notAfter: new Date(Date.now() - 1000) }),
      "it has expired, or is not valid yet",
    ],
    [
      "of an unknown authority",
      authority.impostor().issue({ subject: ALICE_DN }),
      "no trusted authority is known",
    ],
  ] as const
) {
  Deno.test(`a certificate ${what} leaves its bearer anonymous, and the log says why`, async () => {
    const already = system.log.length;
    assert.equal((await whoIs({ certificate }))[0], nobody);
    await system.logged(new RegExp(`client certificate passed over client=\\S+ reason="${reason}`), already);
  });
}

Deno.test("the log names the setting whose limit the lifetime of a token exceeds", async () => {
  const already = system.log.length;
  const token = userToken("alice", "user_ed25519", { claims: { exp: Date.now() / 1000 + 7 * 86_400 } });
  assert.equal((await system.ask("/rest/auth", bearer(token))).status, 401);
  await system.logged(
    /lifetime is too long: more than the 86400 seconds of container\.security\.rest\.authentication\.SSHKEY\.maxTokenLifetime/,
    already,
  );
});

Deno.test("the server's own certificate identifies no user", async () => {
  const certificate = authority.issue({ subject: "CN=AUTH,O=Demo,C=EU" });
  assert.equal((await system.ask("/rest/auth", { certificate })).status, 401);
});

Deno.test("a daemon's key proves the account on that daemon's server, and on no other", async () => {
  const dora = () => bearer(userToken("dora", "user_rsa2048", { header: { alg: "RS256" } }));
  assert.equal(await session("HPC", dora()), 200);
  assert.equal(latest("HPC"), "dora");
  assert.equal(await session("TWO", dora()), 401);
  const doraOfTwo = () => bearer(userToken("dora", "other_ed25519"));
  assert.equal(await session("TWO", doraOfTwo()), 200);
  assert.equal(await session("HPC", doraOfTwo()), 401);
  const entries = JSON.parse((await system.ask("/rest/auth", dora())).text);
  assert.equal(entries.HPC.uid, "dora");
  assert.equal(entries.TWO.uid, undefined);
});

Deno.test("tokens signed by SSH keys and tokens of this service are not sent to identity providers", async () => {
  const issued = await system.ask("/rest/auth/token", { as: ALICE, headers: { Accept: "text/plain" } });
  assert.equal(issued.status, 200);
  const seen = () => oidc.server.seen.length + unity.server.seen.length;
  const before = seen();
  const tokens = [
    userToken("alice", "user_ed25519"),
    userToken("alice", "other_ed25519"),
    userToken("stranger", "other_ed25519"),
    issued.text,
    `${issued.text.slice(0, -6)}AAAAAA`,
  ];
  for (const token of tokens) await system.ask("/rest/auth", bearer(token));
  assert.equal(seen(), before);
  await system.ask("/rest/auth", bearer("opaque-token"));
  assert(seen() > before, "the providers' own tokens do");
});

Deno.test("a password reaches no OIDC server, and the legacy header reaches only SSHKEY", async () => {
  const before = [oidc.server.seen.length, unity.server.seen.length];
  await system.ask("/rest/auth", {
    as: ["alice", "QUJD"],
    headers: { "X-UNICORE-SSHKEY-AUTH-PLAINTEXT": "QUJD" },
  });
  assert.deepEqual([oidc.server.seen.length, unity.server.seen.length], before);
  await system.ask("/rest/auth", { as: ["una", "wrong"] });
  assert.equal(oidc.server.seen.length, before[0]);
});

Deno.test("no log line holds a password, a token or a signature", async () => {
  await system.ask("/rest/auth", { as: ["alice", "pass-phrase-4711"] });
  await system.ask("/rest/auth", bearer("secret-opaque-token"));
  const token = userToken("alice", "other_ed25519");
  await system.ask("/rest/auth", bearer(token));
  await system.logged(/credentials refused.*SSHKEY/);
  const log = system.log.join("\n");
  for (const secret of ["pass-phrase-4711", "secret-opaque-token", token.split(".")[2] ?? "?", "s&cret"]) {
    assert(!log.includes(secret));
  }
});

/** Returns the user that the log names for a failed login. */
async function toldUser(question: Question): Promise<string | undefined> {
  const reply = await system.ask("/rest/auth/HPC", { ...question, body: { serverPath: "" } });
  assert.equal(reply.status, 401, reply.text);
  const line = await system.logged(new RegExp(`request answered request=${reply.json().requestId}`));
  return / user=(\S+)/.exec(line)?.[1];
}

const legacyOf = (user: string): Question => ({
  headers: {
    Authorization: `Basic ${btoa(`${user}:${btoa("signature")}`)}`,
    "X-UNICORE-SSHKEY-AUTH-PLAINTEXT": btoa("text"),
  },
});
const UNKNOWN = /^unknown-[0-9a-f]{8}$/;
const claimed: [string, () => Question, RegExp][] = [
  ["a user of the password file", () => ({ as: [ALICE[0], "wrong"] }), /^alice$/],
  ["a user of the keys file, with another key", () => bearer(userToken("fay", "other_ed25519")), /^fay$/],
  ["a stranger with a key", () => bearer(userToken("mallory", "user_ed25519")), UNKNOWN],
  ["a user of the keys file, with an invalid signature", () => legacyOf("fay"), /^fay$/],
  ["a stranger with an invalid signature", () => legacyOf("mallory"), UNKNOWN],
  ["a caller with an opaque token", () => bearer("no-such-token"), UNKNOWN],
  [
    "a caller with a forged token of this service",
    () => bearer(userToken("mallory", "user_ed25519", { claims: { etd: "true", iss: "CN=AUTH" } })),
    UNKNOWN,
  ],
];
for (const [who, question, name] of claimed) {
  Deno.test(`the log has the name of a known user, else a digest: ${who}`, async () => {
    assert.match(await toldUser(question()) ?? "nobody", name);
  });
}

Deno.test("the log names a user whose keys a daemon reported, even if the login used another key", async () => {
  assert.equal(
    await session("HPC", bearer(userToken("dora", "user_rsa2048", { header: { alg: "RS256" } }))),
    200,
  );
  assert.equal(await toldUser(bearer(userToken("dora", "user_ed25519"))), "dora");
});
