import assert from "node:assert/strict";
import type { TokenRestrictions } from "../../src/model/token_restrictions.ts";
import type { Call } from "../../src/resource/call.ts";
import { issueToken, revokeToken, revokeTokens } from "../../src/resource/token_list.ts";
import { call } from "./sample_call.ts";

/** Makes a request about the token with this id, by a restricted token or by other credentials. */
function asked(
  id: string,
  restrictions?: TokenRestrictions,
): { readonly call: Call; readonly audited: object[] } {
  const audited: object[] = [];
  const token = restrictions && { issuedToken: { issuer: "CN=auth", renewable: true, restrictions } };
  return {
    audited,
    call: {
      ...call(),
      params: new Map([["id", id]]),
      caller: { kind: "authenticated", identity: { dn: "CN=Ann", method: "", via: "", ...token } },
      audit: (facts) => void audited.push(facts),
    },
  };
}

Deno.test("revokeToken() revokes a token, and names it in the audit log", async () => {
  const revoked: string[] = [];
  const registry = {
    revoke: (_owner: unknown, id: string) => {
      revoked.push(id);
      return Promise.resolve(id !== "unknown");
    },
  };
  const { call, audited } = asked("t1");
  const { status, body } = await revokeToken(call, registry);
  assert.deepEqual([status, body, revoked, audited], [204, null, ["t1"], [{ token: "t1" }]]);
  const long = asked("x".repeat(65));
  await revokeToken(long.call, registry);
  assert.deepEqual(long.audited, [{ token: "x".repeat(64) }]);
  await assert.rejects(revokeToken(asked("unknown").call, registry), { code: "ERR_NOT_FOUND" });
  await assert.rejects(revokeToken(asked("t1").call, undefined), { code: "ERR_TOKENS_NOT_KEPT" });
});

Deno.test("revokeTokens() returns how many of the caller's tokens it revoked", async () => {
  const registry = { revokeAll: () => Promise.resolve(3) };
  const { call, audited } = asked("");
  const { status, body } = await revokeTokens(call, registry);
  assert.deepEqual([status, JSON.parse(String(body)), audited], [200, { ended: 3 }, [{ ended: 3 }]]);
  await assert.rejects(revokeTokens(asked("").call, undefined), { code: "ERR_TOKENS_NOT_KEPT" });
});

Deno.test("a restricted token revokes no other token", async () => {
  const nobody = {
    revoke: () => assert.fail("it is not asked"),
    revokeAll: () => assert.fail("nor for all"),
  };
  const narrow = asked("other", { activity: "read" });
  await assert.rejects(revokeToken(narrow.call, nobody), { code: "ERR_TOKEN_RESTRICTIONS" });
  await assert.rejects(revokeTokens(narrow.call, nobody), { code: "ERR_TOKEN_RESTRICTIONS" });
});

Deno.test("issueToken() refuses a caller whose login is bound to a key: the token would be bound to nothing", async () => {
  const issued: string[] = [];
  const issuer = { issue: () => Promise.resolve(`token ${issued.push("")}`) };
  const { call: free } = asked("");
  assert.equal((await issueToken(free, issuer)).status, 200);
  const identity = { dn: "CN=Ann", method: "OAUTH", via: "", bound: true } as const;
  await assert.rejects(issueToken({ ...free, caller: { kind: "authenticated", identity } }, issuer), {
    code: "ERR_LOGIN_BOUND",
  });
  assert.equal(issued.length, 1);
  await assert.rejects(issueToken(free, undefined), { code: "ERR_TOKENS_UNAVAILABLE" });
});
