import assert from "node:assert/strict";
import { TokenIssuer } from "../../../src/authentication/issued_token/issue.ts";
import { HeaderList } from "../../../src/model/http_message.ts";
import type { Identity } from "../../../src/model/identity.ts";
import type { Call } from "../../../src/resource/call.ts";
import { carryOut, checkAdministrator } from "../../../src/resource/admin/administration.ts";
import { call, FACTS, server, serversOf, USER } from "../sample_call.ts";

const SERVERS = serversOf(server("HPC", { up: true }), server("TWO", { up: true }));

function boss(user: Partial<Call["user"]> = {}, identity: Partial<Identity> = {}): Call {
  return {
    ...call(),
    user: { ...USER, role: "admin", ...user },
    caller: { kind: "authenticated", identity: { dn: "CN=Boss", method: "", via: "", ...identity } },
  };
}

Deno.test("checkAdministrator() takes an administrator whose login counts everywhere, and nobody else", () => {
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
  const strict = { ...server("HPC", { up: true }), logins: { inWords: "", missing: () => "a card" } };
  const servers = serversOf(server("TWO", { up: true }), strict);
  assert.throws(() => checkAdministrator(boss(), servers), { code: "ERR_STRONGER_LOGIN_NEEDED" });
});

Deno.test("carryOut() makes no token for an administrator whose login needs a proof: it would need none", async () => {
  const tokens = new TokenIssuer({
    tls: () => assert.fail("nothing is signed"),
    limits: { defaultLifetime: 60, maxLifetime: 60 },
    clock: Date.now,
    derivedUntil: () => Infinity,
  });
  const admin = { accounts: () => assert.fail("no daemon is asked") };
  const asked = boss({}, { bound: true });
  const { body } = await carryOut({
    ...asked,
    params: new Map([["action", "IssueAPIToken"]]),
    request: {
      ...asked.request,
      headers: HeaderList.of({ "Content-Type": "application/json" }),
      body: new TextEncoder().encode('{"subject":"CN=Ann"}'),
    },
  }, { admin, servers: SERVERS, tokens, shareAdministration: undefined, facts: FACTS });
  const { success, message } = JSON.parse(String(body));
  assert.equal(success, false);
  assert.match(message, /proof of possession/);
});
