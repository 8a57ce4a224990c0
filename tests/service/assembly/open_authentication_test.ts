import assert from "node:assert/strict";
import type { Authenticator } from "../../../src/authentication/authenticator.ts";
import { renewLogin } from "../../../src/service/assembly/open_authentication.ts";

Deno.test("renewLogin() hands on a new refresh token before it asks about the user", async () => {
  const seen: string[] = [];
  const authorization = { kind: "none" } as const;
  const provider: Authenticator = {
    name: "OIDC",
    challenges: [],
    browserLogin: {
      title: "",
      issuer: "",
      begin: () => assert.fail(),
      finish: () => assert.fail(),
      logoutAddress: () => assert.fail(),
      readLogout: () => assert.fail(),
      renew: (session) =>
        Promise.resolve({ kind: "token", authorization, session: { ...session, refreshToken: "new" } }),
    },
    authenticate: () => Promise.reject(new Error("away")),
    accountStatusOf: () => assert.fail(),
    close: () => {},
  };
  const renewed = renewLogin([provider], {
    identity: { dn: "CN=Ann", method: "OAUTH", via: "OIDC", proved: 0 },
    session: { sub: "ann", refreshToken: "old" },
    rotated: async (refreshToken) => {
      await Promise.resolve();
      seen.push(refreshToken);
    },
    onResult: (via, { kind }) => seen.push(`${via} ${kind}`),
  });
  await assert.rejects(renewed, /away/);
  assert.deepEqual(seen, ["new", "OIDC failed"]);
});
