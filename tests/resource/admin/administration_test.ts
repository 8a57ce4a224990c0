import assert from "node:assert/strict";
import { TokenIssuer } from "../../../src/authentication/issued_token/issue.ts";
import { HeaderList } from "../../../src/model/http_message.ts";
import { InvalidName } from "../../../src/model/distinguished_name.ts";
import { httpError } from "../../../src/model/http_error.ts";
import { AdministrationError } from "../../../src/sharing/administration.ts";
import type { Identity } from "../../../src/model/identity.ts";
import type { Call } from "../../../src/resource/call.ts";
import { carryOut, checkAdministrator } from "../../../src/resource/admin/administration.ts";
import { createAuthority } from "../../pki/authority.ts";
import { call, FACTS, server, serversOf, USER } from "../sample_call.ts";

const SERVERS = serversOf(server("HPC", { up: true }), server("TWO", { up: true }));

function boss(user: Partial<Call["user"]> = {}, identity: Partial<Identity> = {}): Call {
  return {
    ...call(),
    user: { ...USER, role: "admin", ...user },
    caller: { kind: "authenticated", identity: { dn: "CN=Boss", method: "", via: "", ...identity } },
  };
}

Deno.test("checkAdministrator() accepts only an unrestricted administrator of all servers", () => {
  const elsewhere = USER;
  const token = { issuer: "CN=auth", renewable: false };
  checkAdministrator(boss(), SERVERS);
  checkAdministrator(boss({ restricted: { servers: ["HPC", "TWO"], elsewhere } }), SERVERS);
  checkAdministrator(boss({}, { issuedToken: token }), SERVERS);
  const others = [
    boss({ role: "user" }),
    boss({ role: "user", availableRoles: ["user", "admin"] }),
    boss({ restricted: { servers: ["HPC"], elsewhere } }),
    boss({}, { issuedToken: { ...token, restrictions: { activity: "read" } } }),
  ];
  for (const other of others) {
    assert.throws(() => checkAdministrator(other, SERVERS), { code: "ERR_FORBIDDEN" });
  }
});

Deno.test("checkAdministrator() requires the login that every server requires", () => {
  const strict = { ...server("HPC", { up: true }), logins: { summary: "", missing: () => "a card" } };
  const servers = serversOf(server("TWO", { up: true }), strict);
  assert.throws(() => checkAdministrator(boss(), servers), { code: "ERR_STRONGER_LOGIN_NEEDED" });
});

/** Returns an issuer whose tokens from logins by `OIDC` end at a time, in seconds since the epoch. */
function issuerUntil(until: number, now: number): TokenIssuer {
  const own = createAuthority({ subject: "CN=CA" }).issue({ subject: "CN=auth" });
  return new TokenIssuer({
    tls: () => ({ ...own, anchors: [] }),
    limits: { defaultLifetime: 300, maxLifetime: 86_400, renewalPeriod: 30 * 86_400 },
    clock: () => now * 1000,
    derivedUntil: ({ via }) => via === "OIDC" ? until : Infinity,
  });
}

const TOKENS = new TokenIssuer({
  tls: () => {
    throw httpError("ERR_TOKENS_UNAVAILABLE", "no certificate");
  },
  limits: { defaultLifetime: 60, maxLifetime: 60 },
  clock: Date.now,
  derivedUntil: () => Infinity,
});

interface Acting {
  readonly identity?: Partial<Identity>;
  readonly tokens?: TokenIssuer | undefined;
  readonly modify?: Parameters<typeof carryOut>[1]["shareAdministration"];
}

/** Returns the result of an action with these parameters, by an administrator with this identity. */
async function act(name: string, parameters: Readonly<Record<string, string>>, acting: Acting = {}) {
  const { success, message } = await outcome(name, parameters, acting);
  return `${success} ${message}`;
}

async function outcome(
  name: string,
  parameters: Readonly<Record<string, string>>,
  { identity, tokens, modify }: Acting,
) {
  const asked = boss({}, identity);
  const headers = HeaderList.of({ "Content-Type": "application/json" });
  const body = new TextEncoder().encode(JSON.stringify(parameters));
  const call = {
    ...asked,
    params: new Map([["action", name]]),
    request: { ...asked.request, headers, body },
  };
  const admin = { accounts: () => Promise.resolve([]) };
  const parts = { admin, servers: SERVERS, tokens, shareAdministration: modify, facts: FACTS };
  return JSON.parse(String((await carryOut(call, parts)).body));
}

Deno.test("carryOut() accepts only known actions and their parameters", async () => {
  assert.equal(
    await act("ShowUserInfo", { uid: "ann", serverName: "HPC-1" }),
    "true Getting info for <ann> on server <HPC-1>",
  );
  assert.equal(await act("ShowUserInfo", {}), "false The 'uid' parameter is required.");
  assert.match(await act("ShowUserInfo", { uid: "ann", x: "1" }), /^false Unknown parameter/);
  assert.equal(await act("ShowUserInfo", { uid: "ann", serverName: "NONE" }), "false No such server");
  for (const name of ["None", "constructor"]) await assert.rejects(act(name, {}), { code: "ERR_NOT_FOUND" });
});

Deno.test("carryOut() says why it cannot change a share, and hides no defect", async () => {
  const change = (error?: Error) =>
    act("ModifyShare", { id: "x", serverName: "HPC" }, {
      modify: error && { modify: () => Promise.reject(error) },
    });
  assert.equal(await change(), "false There is no data sharing");
  assert.equal(
    await change(new AdministrationError("There is no such share")),
    "false There is no such share",
  );
  assert.match(await change(new InvalidName("wrong", 0)), /^false owner: expected a distinguished name/);
  await assert.rejects(change(new TypeError("a defect")), TypeError);
});

Deno.test("carryOut() issues no token to administrators who show one or whose login needs a proof", async () => {
  const issue = (identity: Partial<Identity>, tokens: TokenIssuer | undefined = TOKENS) =>
    act("IssueAPIToken", { subject: "CN=Ann" }, { identity, tokens });
  assert.match(await issue({}), /^false Tokens cannot be issued/, "it is tried, but nothing signs");
  assert.match(await act("IssueAPIToken", { subject: "CN=Ann" }), /^false The server has no certificate/);
  const issuedToken = { issuer: "CN=auth", renewable: false };
  assert.equal(await issue({ issuedToken }), "false Not for callers who show a token themselves");
  assert.match(await issue({ bound: true }), /^false .*proof of possession/);
});

Deno.test("carryOut() issues tokens that end, even if renewed, before the limit for tokens from the administrator's login", async () => {
  const now = 1_800_000_000;
  const tokens = issuerUntil(now + 1000.5, now);
  const issue = async (via: string, parameters: Record<string, string>, from = tokens) => {
    const asked = { subject: "CN=Ann", ...parameters };
    const { success, message, results } = await outcome("IssueAPIToken", asked, {
      identity: { via },
      tokens: from,
    });
    assert.equal(success, true, message);
    const { exp, renewableUntil } = JSON.parse(atob(String(results.token).split(".")[1] ?? ""));
    return [exp - now, renewableUntil && renewableUntil - now];
  };
  const month = 30 * 86_400;
  assert.deepEqual(await issue("OIDC", {}), [300, undefined]);
  assert.deepEqual(await issue("OIDC", { lifetime: "86400" }), [1000, undefined]);
  assert.deepEqual(await issue("OIDC", { lifetime: "60", renewable: "true" }), [60, 1000]);
  assert.deepEqual(await issue("PASSWORD", { renewable: "true" }), [300, month]);
  assert.deepEqual(await issue("PASSWORD", { lifetime: "86400" }), [86_400, undefined]);
  for (const until of [now, now + 0.9]) {
    const asked = { subject: "CN=Ann", renewable: "true" };
    const none = { identity: { via: "OIDC" }, tokens: issuerUntil(until, now) };
    assert.match(await act("IssueAPIToken", asked, none), /^false .*\blogin\b/);
    assert.deepEqual(await issue("PASSWORD", asked, none.tokens), [300, month]);
  }
});
