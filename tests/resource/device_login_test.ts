/** Answers to programs that log in by a browser (RFC 8628), as JSON and as text for the login script. */
import assert from "node:assert/strict";
import type { AccountStatus } from "../../src/authentication/account_status.ts";
import { TokenIssuer } from "../../src/authentication/issued_token/issue.ts";
import { DeviceLogins } from "../../src/authentication/sign_in/device_logins.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { NO_ATTRIBUTES } from "../../src/model/attributes.ts";
import { HeaderList, type HttpResponse } from "../../src/model/http_message.ts";
import { beginDeviceLogin, pollDeviceLogin } from "../../src/resource/device_login.ts";
import { IN_MEMORY } from "../../src/store/sqlite_database.ts";
import { openRecordStore } from "../../src/store/sqlite_record_store.ts";
import { LoginThrottle } from "../../src/throttling/login_throttle.ts";
import { createAuthority } from "../pki/authority.ts";
import { call } from "./sample_call.ts";

const TLS = {
  ...createAuthority({ subject: "CN=Test CA" }).issue({ subject: "CN=auth,O=Example" }),
  anchors: [],
};
const ANN = {
  dn: "CN=Ann,O=Example",
  method: "PASSWORD_FILE",
  via: "PASSWORD",
  login: "ann",
  browser: { id: "b", ends: 4_000_000_000 },
};
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

type Fields = Readonly<Record<string, string>>;

/** Opens device logins whose users have this account status. */
function opened(status: AccountStatus = { kind: "cannot tell" }) {
  const clock = Date.now;
  const records = openRecordStore(IN_MEMORY, clock);
  const logins = new DeviceLogins({ records: () => records, clock });
  const parts = {
    logins,
    signIns: { parts: { accountStatus: () => Promise.resolve(status) } },
    tokens: new TokenIssuer({
      tls: () => TLS,
      clock,
      limits: { defaultLifetime: 300, maxLifetime: 3600 },
      derivedUntil: () => Infinity,
    }),
    registry: undefined,
    throttle: new LoginThrottle({
      config: { enabled: true, maxFailures: 9, windowSeconds: 60, baseDelaySeconds: 1, maxDelaySeconds: 1 },
      log: SILENT,
      steady: clock,
    }),
    attributes: { name: "FILE", attributesOf: () => Promise.resolve(NO_ATTRIBUTES), close() {} },
  };
  const asked = (fields: Fields, Accept: string) => ({
    ...call(),
    request: {
      ...call().request,
      headers: HeaderList.of({ "Content-Type": "application/x-www-form-urlencoded", Accept }),
      body: new TextEncoder().encode(new URLSearchParams(fields).toString()),
    },
  });
  const told = ({ status, body }: HttpResponse) => `${status} ${body}`;
  return {
    begin: async (fields: Fields, accept = "text/plain") =>
      told(await beginDeviceLogin(asked(fields, accept), parts, (address) => `picture of ${address}`)),
    poll: async (fields: Fields, accept = "text/plain") =>
      told(await pollDeviceLogin(asked(fields, accept), parts)),
    approve: (code = "") => logins.decide(code, { identity: ANN, role: "user" }, true),
    [Symbol.dispose]: () => records.close(),
  };
}

for (const accept of ["application/json", "text/plain"]) {
  Deno.test(`a program that reads ${accept} gets codes, and no token before its user approves`, async () => {
    using at = opened();
    const begun = await at.begin({ client_id: "tool" }, accept);
    assert.match(
      begun,
      accept === "text/plain" ? /^200 [\w-]{43}\n\n.*picture of /s : /^200 \{"device_code":/,
    );
    const [device_code = ""] = /[\w-]{43}/.exec(begun) ?? [];
    const fields = { grant_type: GRANT, device_code, client_id: "tool" };
    assert.match(await at.poll(fields, accept), /^400 .*authorization_pending/);
    assert.ok(await at.approve(/user_code=(\w{4}-\w{4})/.exec(begun)?.[1]));
  });

  Deno.test(`a program that reads ${accept} gets its token, unless its user's account is gone`, async () => {
    for (
      const [status, expected] of [
        [{ kind: "known" }, accept === "text/plain" ? /^200 [\w.-]+\n$/ : /^200 \{"access_token":"[\w.-]+"/],
        [{ kind: "gone" }, /^400 .*access_denied/],
      ] as const
    ) {
      using at = opened(status);
      const begun = await at.begin({ client_id: "tool" }, accept);
      assert.ok(await at.approve(/user_code=(\w{4}-\w{4})/.exec(begun)?.[1]));
      const [device_code = ""] = /[\w-]{43}/.exec(begun) ?? [];
      assert.match(await at.poll({ grant_type: GRANT, device_code, client_id: "tool" }, accept), expected);
    }
  });
}

Deno.test("an invalid request of a program gets the error of RFC 8628", async () => {
  using at = opened();
  const wrong: Fields[] = [
    {},
    { client_id: "a\nb" },
    { client_id: "x".repeat(101) },
    { client_id: "x", lifetime: "0" },
    { client_id: "x", lifetime: "3601" }, // nobody could get that token
  ];
  for (const fields of wrong) assert.match(await at.begin(fields), /^400 invalid_request: /);
  const fields = { device_code: "x", client_id: "tool" };
  assert.match(await at.poll({ ...fields, grant_type: "password" }), /^400 unsupported_grant_type/);
  assert.match(await at.poll({ ...fields, grant_type: GRANT }), /^400 invalid_grant/);
});

Deno.test("an oversized request fails with the service's error, not one of RFC 8628", async () => {
  using at = opened();
  await assert.rejects(at.begin({ client_id: "x".repeat(100_000) }), { code: "ERR_BODY_TOO_LARGE" });
});
