import assert from "node:assert/strict";
import type { Identity } from "../../../src/model/identity.ts";
import type { Call } from "../../../src/resource/call.ts";
import { checkAdministrator } from "../../../src/resource/admin/administration.ts";
import { call, server, serversOf, USER } from "../sample_call.ts";

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
