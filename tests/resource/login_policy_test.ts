import assert from "node:assert/strict";
import type { Caller, Identity } from "../../src/model/identity.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import { checkLogin, loginPolicy, type LoginRequirements } from "../../src/resource/login_policy.ts";

const NOW = 1_800_000_000;
const ANY: LoginRequirements = { methods: [], requiredAcr: [], maxAuthAge: undefined, networks: [] };
const ANN: Identity = { dn: "CN=Ann", method: "SSHKEY", via: "SSHKEY" };
const TOKEN = { issuer: "CN=auth", renewable: false };
const CLIENT = "192.0.2.7";

function missing(required: Partial<LoginRequirements>, login: Partial<Identity>, addresses = [CLIENT]) {
  const policy = loginPolicy({ ...ANY, ...required }, () => NOW * 1000);
  return policy?.missing({ kind: "authenticated", identity: { ...ANN, ...login } }, addresses);
}

Deno.test("loginPolicy() is undefined without requirements", () => {
  assert.equal(loginPolicy(ANY, Date.now), undefined);
});

Deno.test("loginPolicy() judges a token by the login that it came from, and refuses one of an unknown login", () => {
  const required = { methods: ["SSHKEY", "OAUTH"] };
  const words = "a login by SSHKEY or OAUTH";
  for (
    const [login, lacks] of [
      [{}, undefined],
      [{ via: "OAUTH" }, undefined],
      [{ via: "PASSWORD" }, words],
      [{ via: "sshkey" }, words],
      [{ via: "ETD", issuedToken: { ...TOKEN, identifiedBy: "SSHKEY" } }, undefined],
      [{ via: "ETD", issuedToken: { ...TOKEN, identifiedBy: "PASSWORD" } }, words],
      [{ via: "ETD", issuedToken: { ...TOKEN, identifiedBy: "ETD" } }, words],
      [{ via: "ETD", issuedToken: TOKEN }, words],
      [{ via: "SSHKEY", issuedToken: TOKEN }, words],
    ] as const
  ) {
    assert.equal(missing(required, login), lacks, JSON.stringify(login));
  }
});

Deno.test("loginPolicy() requires authentication class and age of the login", () => {
  const acr = { requiredAcr: ["mfa", "card"] };
  assert.equal(missing(acr, { acr: "card" }), undefined);
  for (const login of [{}, { acr: "" }, { acr: "MFA" }, { acr: "mfa card" }]) {
    assert.equal(missing(acr, login), "a login with authentication context class (acr) mfa or card");
  }
  const age = { maxAuthAge: 600 };
  for (const authTime of ["now", NOW, NOW - 600, NOW + 60] as const) {
    assert.equal(missing(age, { authTime }), undefined);
  }
  for (const authTime of [undefined, 0, NOW - 601, NOW + 61, NaN]) {
    assert.equal(missing(age, { authTime }), "a login at most 600 seconds old", String(authTime));
  }
});

Deno.test("loginPolicy() requires every address to be in one of the networks", () => {
  const networks = { networks: ["192.0.2.0/28", "2001:db8::/32"] };
  assert.equal(missing(networks, {}), undefined);
  assert.equal(missing(networks, {}, ["2001:db8::1", "192.0.2.15"]), undefined);
  const words = "a client address in the networks of this server";
  assert.equal(missing(networks, {}, [CLIENT, "192.0.2.16"]), words);
  assert.equal(missing(networks, {}, ["198.51.100.1"]), words);
});

Deno.test("checkLogin() reports everything that is missing; anonymous callers lack every login", () => {
  const required = {
    methods: ["OAUTH"],
    requiredAcr: ["mfa"],
    maxAuthAge: 60,
    networks: ["198.51.100.0/24"],
  };
  const policy = loginPolicy(required, () => NOW * 1000);
  const all =
    "a login by OAUTH; a login with authentication context class (acr) mfa; a login at most 60 seconds old; " +
    "a client address in the networks of this server";
  assert.equal(policy?.summary, all);
  for (const caller of [{ kind: "anonymous" }, { kind: "authenticated", identity: ANN }] satisfies Caller[]) {
    assert.throws(
      () => checkLogin({ caller, clientAddress: CLIENT }, { logins: policy }),
      (error) =>
        isHttpError(error, "ERR_STRONGER_LOGIN_NEEDED") &&
        error.publicMessage === `This server requires another login: ${all}`,
    );
  }
  checkLogin({ caller: { kind: "anonymous" }, clientAddress: CLIENT }, {});
});

Deno.test("checkLogin() asks callers without credentials to log in where that may help, and others for a stronger login", () => {
  const logins = { summary: "", missing: () => "a login by SSHKEY" };
  const unauthenticated = (reason: string) => new TypeError(reason);
  const check = (caller: Caller, options = {}) =>
    checkLogin({ caller, clientAddress: CLIENT }, { logins }, options);
  const authenticated: Caller = { kind: "authenticated", identity: ANN };
  assert.throws(() => check({ kind: "anonymous" }, { unauthenticated }), new TypeError("a login by SSHKEY"));
  assert.throws(() => check({ kind: "anonymous" }), { code: "ERR_STRONGER_LOGIN_NEEDED" });
  assert.throws(() => check(authenticated, { unauthenticated }), { code: "ERR_STRONGER_LOGIN_NEEDED" });
});
