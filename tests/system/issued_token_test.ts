/** Tokens that the service issues (credentials.md 4). */
import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { signToken } from "../authentication/sign_token.ts";
import { createAuthority } from "../pki/authority.ts";
import { PREFERENCES_HEADER } from "../../src/service/identify.ts";
import type { Question } from "./ask.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { userToken } from "./every_method.ts";
import { ALICE, ALICE_DN, MAP, passwordLine, PASSWORDS, runService } from "./running_service.ts";

const GUEST = ["guest", "visitor-1123"] as const;
const GUEST_DN = "CN=Guest,O=Demo,C=EU";
const BOB = ["bob", "builder-99"] as const;
const BOB_DN = "CN=Bob,O=Demo,C=EU";
const USERS = PASSWORDS + passwordLine(GUEST, GUEST_DN) + passwordLine(BOB, BOB_DN);
const ACCOUNTS = {
  ...MAP,
  [GUEST_DN]: { role: "guest", xlogin: "alice" },
  [BOB_DN]: { role: "user", xlogin: "alice" },
};

const friend = createAuthority({ subject: "CN=Friend,O=Site-B,C=DE", ca: false });
const user = { uid: 1001, home: "/home/dora", groups: ["users"] };
const system = await runService({
  servers: {
    HPC: [{
      users: {
        alice: { uid: 1000, home: "/home/alice", groups: ["hpc", "users"] },
        dora: { ...user, keyFiles: { ".ssh/authorized_keys": `${publicLine("user_ed25519")}\n` } },
      },
    }],
    TWO: [{ users: { dora: user } }],
  },
  passwords: USERS,
  map: JSON.stringify(ACCOUNTS),
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY",
    "container.security.rest.jwt.lifetime": "120",
    "container.security.rest.jwt.maxLifetime": "3600",
    "container.security.rest.jwt.hmacSecret": "0123456789abcdef0123456789abcdef",
    "container.security.rest.jwt.trustedLocalIssuer.1": "{folder}/conf/friend.pem",
  },
  files: { "conf/friend.pem": friend.certificate },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const token = (query: string, question: Question = { as: ALICE }) =>
  system.ask(`/rest/auth/token${query}`, {
    ...question,
    headers: { Accept: "text/plain", ...question.headers },
  });
const bearer = (text: string): Question => ({ headers: { Authorization: `Bearer ${text}` } });
const claimsOf = (text: string) =>
  JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(text.split(".")[1] ?? "", { alphabet: "base64url" })),
  );
const clientOf = async (question: Question) =>
  JSON.parse((await system.ask("/rest/auth", question)).text).client;

Deno.test("a token lasts as long as configured, or as requested within limits", async () => {
  const lifetime = ({ exp, iat }: { exp: number; iat: number }) => exp - iat;
  assert.equal(lifetime(claimsOf((await token("")).text)), 120);
  assert.equal(lifetime(claimsOf((await token("?lifetime=3600")).text)), 3600);
  for (const wrong of ["3601", "0", "-1", "1e3", "soon", "", "99999999999999999999"]) {
    const reply = await token(`?lifetime=${wrong}`);
    assert.equal(reply.status, 400, wrong);
  }
});

Deno.test("only a renewable token can be renewed, and keeps its limits", async () => {
  assert.equal((await token("", bearer((await token("")).text))).status, 403);
  const first = (await token("?renewable=true&limited=true")).text;
  assert.equal(claimsOf(first).aud, "CN=AUTH,O=Demo,C=EU");
  const second = await token("?renewable=true", bearer(first));
  assert.equal(second.status, 200);
  const claims = claimsOf(second.text);
  assert.equal(claims.aud, "CN=AUTH,O=Demo,C=EU", "a limited token never becomes an unlimited one");
  assert.equal(claims.renewableUntil, claimsOf(first).renewableUntil);
  assert.equal(claims.sub, ALICE_DN);
});

Deno.test("preferences are frozen in a token", async () => {
  const frozen = await token("", { as: ALICE, headers: { [PREFERENCES_HEADER]: "group:users" } });
  assert.equal(claimsOf(frozen.text).preferences, "group:users");
  assert.equal((await clientOf(bearer(frozen.text))).xlogin.group, "users");
  const headers = { Authorization: `Bearer ${frozen.text}`, [PREFERENCES_HEADER]: "group:hpc" };
  assert.equal((await clientOf({ headers })).xlogin.group, "users");
});

Deno.test("an account that a daemon's key proved is valid only on that daemon's server", async () => {
  const issued = await token("", bearer(userToken("dora", "user_ed25519")));
  const session = async (server: string) =>
    (await system.ask(`/rest/auth/${server}`, { ...bearer(issued.text), body: { serverPath: "" } })).status;
  assert.equal(await session("HPC"), 200);
  assert.equal(await session("TWO"), 401);
});

Deno.test("only users who may open a session get a token, at the address of each service", async () => {
  for (const service of ["auth", "share", "access"]) {
    const path = `/rest/${service}/token`;
    const headers = { Accept: "text/plain" };
    const status = async (as: readonly [string, string]) => (await system.ask(path, { as, headers })).status;
    assert.equal(await status(GUEST), 403, path);
    assert.equal(await status(BOB), 200, path);
    assert.equal((await system.ask(path, { headers })).status, 401, path);
  }
});

/** Replaces a file, and waits until the service has read it. */
async function change(path: string, text: string): Promise<void> {
  const before = system.log.length;
  await system.replace(path, text);
  await system.logged(new RegExp(`file read again.*${path}`), before);
}

Deno.test("a token gives the lower of the role at its creation and the user's present role", async () => {
  const { text } = await token("", { as: BOB });
  const role = async () => (await clientOf(bearer(text))).role;
  const roles = (role: string) =>
    change("conf/mapfile.json", JSON.stringify({ ...ACCOUNTS, [BOB_DN]: { role, xlogin: "alice" } }));
  assert.deepEqual(await role(), { selected: "user", availableRoles: ["user"] });
  await roles("admin");
  assert.equal((await clientOf({ as: BOB })).role.selected, "admin");
  assert.deepEqual(await role(), { selected: "user", availableRoles: ["user"] });
  const wanted = { Authorization: `Bearer ${text}`, [PREFERENCES_HEADER]: "role:admin" };
  assert.equal((await clientOf({ headers: wanted })).role.selected, "user");
  await roles("guest");
  assert.equal((await role()).selected, "guest");
  assert.equal(
    (await system.ask("/rest/auth/HPC", { ...bearer(text), body: { serverPath: "" } })).status,
    403,
  );
  await roles("user");
});

Deno.test("removing a user from the password file ends the tokens of that user, and no others", async () => {
  const [bob, alice] = [(await token("?renewable=true", { as: BOB })).text, (await token("")).text];
  const statuses = () =>
    Promise.all([
      system.ask("/rest/auth", bearer(bob)),
      token("", bearer(bob)),
      system.ask("/rest/auth", bearer(alice)),
    ]).then((replies) => replies.map(({ status }) => status));
  assert.deepEqual(await statuses(), [200, 200, 200]);
  await change("conf/users.txt", PASSWORDS);
  assert.deepEqual(await statuses(), [401, 401, 200]);
  await change(
    "conf/users.txt",
    PASSWORDS + `bob:::${BOB_DN}\n` + passwordLine(["robert", "x-1234567"], BOB_DN),
  );
  assert.deepEqual(await statuses(), [401, 401, 200], "switched off, though another has the name");
  await change("conf/users.txt", USERS);
  assert.deepEqual(await statuses(), [200, 200, 200]);
});

Deno.test("an anonymous caller gets no token", async () => {
  const reply = await token("", {});
  assert.equal(reply.status, 401);
  assert.match(reply.headers["www-authenticate"] ?? "", /^Basic /);
});

const now = Math.floor(Date.now() / 1000);
const CLAIMS = { sub: ALICE_DN, iss: "CN=Friend,O=Site-B,C=DE", iat: now, exp: now + 600, etd: "true" };
const ES256 = { header: { alg: "ES256" }, key: createPrivateKey(friend.key) };

Deno.test("a trusted issuer can name users, but no accounts", async () => {
  const { dn, authenticationMethod, xlogin } = await clientOf(
    bearer(signToken({ ...ES256, claims: { ...CLAIMS, uid: "postgres" } })),
  );
  assert.deepEqual([dn, authenticationMethod, xlogin.UID], [ALICE_DN, "ETD", "alice"]);
});

const forged: [string, () => string][] = [
  ["of an unknown issuer", () => signToken({ ...ES256, claims: { ...CLAIMS, iss: "CN=Stranger" } })],
  ["in our name", () => signToken({ ...ES256, claims: { ...CLAIMS, iss: "CN=AUTH,O=Demo,C=EU" } })],
  ["that has expired", () => signToken({ ...ES256, claims: { ...CLAIMS, exp: now - 61 } })],
  ["that is not valid yet", () => signToken({ ...ES256, claims: { ...CLAIMS, nbf: now + 600 } })],
  ["without expiry", () => signToken({ ...ES256, claims: { ...CLAIMS, exp: undefined } })],
  ["for another server", () => signToken({ ...ES256, claims: { ...CLAIMS, aud: "CN=Other" } })],
  ["for the server itself", () => signToken({ ...ES256, claims: { ...CLAIMS, sub: "CN=AUTH,O=Demo,C=EU" } })],
  [
    "without signature",
    () => signToken({ ...ES256, header: { alg: "none" }, signWith: "none", claims: CLAIMS }),
  ],
  [
    "with a critical extension",
    () => signToken({ ...ES256, header: { alg: "ES256", crit: ["x"], x: 1 }, claims: CLAIMS }),
  ],
  ["that is truncated", () => signToken({ ...ES256, claims: CLAIMS }).slice(0, -10)],
];
for (const [what, make] of forged) {
  Deno.test(`a token ${what} is refused`, async () => {
    const reply = await system.ask("/rest/auth", bearer(make()));
    assert.equal(reply.status, 401);
    assert.equal(reply.json().code, "ERR_UNAUTHENTICATED");
  });
}
