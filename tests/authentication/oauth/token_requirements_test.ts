import assert from "node:assert/strict";
import { requirementChecks, unmetRequirement } from "../../../src/authentication/oauth/token_requirements.ts";
import { OAUTH_CONFIG } from "./oauth_config.ts";

const NOW = 1_800_000_000;
const CLAIMS = {
  aud: ["uftp", "other"],
  azp: "portal",
  scope: "a b",
  acr: "mfa",
  auth_time: `${NOW - 60}`,
  email_verified: "true",
};
const MET = {
  requiredAudience: ["uftp"],
  requiredClient: ["portal"],
  requiredScope: ["a", "b"],
  requiredAcr: ["mfa"],
  maxAuthAge: 60,
  emailVerified: true,
};
const saidIn = (claims: Readonly<Record<string, string | string[] | undefined>>) => (name: string) =>
  claims[name];
const unmet = (claims: Parameters<typeof saidIn>[0], required = {}) =>
  unmetRequirement({ ...OAUTH_CONFIG, ...MET, ...required }, saidIn(claims), NOW * 1000)?.reason;

const UNMET: readonly [what: string, claims: Parameters<typeof saidIn>[0], reason: RegExp][] = [
  ["no audience", { aud: undefined }, /^the token lacks .*requiredAudience/],
  ["another audience", { aud: "other" }, /required audience/],
  ["no client", { azp: undefined }, /^the token lacks .*requiredClient/],
  ["another client beside the required one", { client_id: "other" }, /required client/],
  ["only some of the required scopes", { scope: "a" }, /required scope/],
  ["an e-mail address that is not verified", { email_verified: "false" }, /not verified/],
  ["another class", { acr: "pwd" }, /required class/],
  ["two classes", { acr: ["mfa", "pwd"] }, /required class/],
  ["a login too long ago", { auth_time: `${NOW - 61}` }, /too long ago/],
  ["a login in the future", { auth_time: `${NOW + 86_400}` }, /too long ago/],
];
for (const [what, claims, reason] of UNMET) {
  Deno.test(`unmetRequirement() reports ${what}`, () => {
    assert.match(unmet({ ...CLAIMS, ...claims }) ?? "", reason);
  });
}

Deno.test("unmetRequirement() returns undefined if all configured requirements are met", () => {
  assert.equal(unmet(CLAIMS), undefined);
  const nothing = { requiredAudience: [], requiredClient: [], requiredScope: [], requiredAcr: [] };
  assert.equal(unmet({}, { ...nothing, maxAuthAge: undefined, emailVerified: false }), undefined);
});

Deno.test("requirementChecks() checks each configured requirement separately", () => {
  const required = { ...OAUTH_CONFIG, requiredAudience: ["uftp"], requiredScope: ["a", "c"], maxAuthAge: 60 };
  assert.deepEqual(requirementChecks(required, saidIn(CLAIMS), NOW * 1000), [
    { what: "requiredAudience", found: "uftp other", expected: "uftp", ok: true },
    { what: "requiredScope", found: "a b", expected: "a c", ok: false },
    { what: "maxAuthAge", found: `${NOW - 60}`, expected: "60", ok: true },
  ]);
});
