/** Users of a provider and holders of certificates choose names that look or compare like another user's. */
import assert from "node:assert/strict";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "../system/every_method.ts";
import { runService } from "../system/running_service.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const oidc = await startOidcProvider(authority.issue({ subject: "CN=idp", names: ["localhost"] }));
const NAME = "kim@boss.x";
const system = await runService({
  authority,
  map: JSON.stringify({
    [`UID=${NAME}`]: { role: "user", xlogin: "alice" },
    "CN=Kim,O=Demo": { role: "user", xlogin: "alice" },
  }),
  properties: {
    "container.security.rest.authentication.order": "OAUTH UPPER X509",
    ...authenticatorProperties("OAUTH", {
      class: "OAuthAuthenticator",
      address: oidc.userinfo,
      identityAssign: '"UID="+email',
    }),
    ...authenticatorProperties("UPPER", {
      class: "OAuthAuthenticator",
      address: oidc.userinfo,
      identityAssign: '"UID="+email.trim().toUpperCase()',
    }),
    "container.httpServer.wantClientAuthn": "true",
    "container.security.throttling.enable": "false",
  },
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await oidc[Symbol.asyncDispose]();
});

/**
 * Returns the account of the user with this address at the provider; `undefined` if the service refuses them.
 */
async function accountOf(email: string): Promise<unknown> {
  const token = `t${encodeURIComponent(email).replaceAll(/[%.]/g, "-")}`; // with dots it would look like a JWT

  oidc.tokens.set(token, { email });
  const reply = await system.ask("/rest/auth", { headers: { Authorization: `Bearer ${token}` } });
  oidc.tokens.delete(token);
  return reply.status === 200 ? JSON.parse(reply.text).client.xlogin.UID : undefined;
}

/** Invisible characters and blanks to put before, into or after a name. */
const ADDED = [
  ..." \t\n\v\f\r\0\x7f\x85\u00A0\u1680\u2000\u2003\u2007\u2009\u200A\u2028\u2029\u202F\u205F\u3000", // blanks and controls
  ..."\u00AD\u034F\u061C\u115F\u1160\u17B4\u180E\u200B\u200C\u200D\u200E\u202E\u2060\u2066\u3164\uFE0F\uFEFF\uFFA0",
  ..."\u{1D173}\u{E0001}\u{E0061}\u{E007F}\u{E0100}\u0345\u0307\u0301\uE000\u0378",
];

/** Characters that look like a letter of the name, or are equal to it in some comparison. */
const REPLACED: Readonly<Record<string, string>> = {
  k: "\u212A\uFF4B\uFF2B\u{1D424}\u24DA\u1D4F\u043A",
  i: "\u0131\u0130\uFF49\u2170\u1D62\u2071\u0456\u00EC",
  m: "\uFF4D\u217F\u{1D426}\u1D50",
  "@": "\uFF20\uFE6B",
  ".": "\uFF0E\u2024\uFE52\u3002",
  ss: "\u00DF\u1E9E",
  s: "\u017F\uFF53\u02E2\u{1D42C}\u0455",
  x: "\u2179\uFF58\u02E3\u00D7",
};

Deno.test("only its own name reaches an account through a provider", async () => {
  assert.equal(await accountOf(NAME), "alice");
  assert.equal(await accountOf("KIM@boss.X"), "alice", "names have no case");
  const variants = ADDED.flatMap((
    added,
  ) => [added + NAME, NAME + added, `kim${added}@boss.x`, `kim@${added}boss.x`]);
  for (const [letter, others] of Object.entries(REPLACED)) {
    for (const other of others) variants.push(NAME.replace(letter, other));
  }
  for (const variant of variants) assert.notEqual(await accountOf(variant), "alice", escape(variant));
});

Deno.test("only its own name reaches an account with a certificate", async () => {
  const accountWith = async (subject: string) => {
    const certificate = authority.issue({ subject, extendedKeyUsage: ["clientAuth"] });
    const reply = await system.ask("/rest/auth", { certificate });
    return reply.status === 200 ? JSON.parse(reply.text).client.xlogin.UID : undefined;
  };
  assert.equal(await accountWith("CN=Kim,O=Demo"), "alice");
  const others = [
    "K\u0131m",
    "\u212Aim",
    "\\20Kim",
    "Kim\\C2\\A0",
    "Kim\\E2\\80\\83",
    "\\EF\\BB\\BFKim",
    "K\u200Bim",
    "\uFF2Bim",
    "Kim\u3164",
  ];
  for (const name of others) {
    assert.notEqual(await accountWith(`CN=${name},O=Demo`), "alice", escape(name));
  }
});
