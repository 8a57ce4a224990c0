import assert from "node:assert/strict";
import { hash, X509Certificate } from "node:crypto";
import {
  type Confirmation,
  PossessionCheck,
  readConfirmation,
} from "../../../src/authentication/oauth/confirmation.ts";
import { InvalidToken } from "../../../src/authentication/signed_token.ts";
import type { Credentials } from "../../../src/model/credentials.ts";
import { PROOFS, ReplayCache } from "../../../src/model/replay_cache.ts";
import { createDpopClient } from "../../identity_provider/dpop_client.ts";
import { createAuthority } from "../../pki/authority.ts";
import { bearer, bound, NO_CREDENTIALS } from "../sample_credentials.ts";

const [KEY, CERTIFICATE] = ["A".repeat(43), "B".repeat(43)];
const BOTH = { jkt: KEY, "x5t#S256": CERTIFICATE };

const READ: [cnf: Record<string, unknown>, confirmation: object][] = [
  [{ jkt: KEY }, { jkt: KEY }],
  [{ "x5t#S256": CERTIFICATE }, { certificate: CERTIFICATE }],
  [BOTH, { jkt: KEY, certificate: CERTIFICATE }],
  [{ ...BOTH, "kc-jkt-type": "DPoP" }, { jkt: KEY, certificate: CERTIFICATE }],
  [{ unknown: {}, jkt: KEY }, { jkt: KEY }],
];

Deno.test("readConfirmation() reads all bindings that are verified, in any order, and ignores members that bind nothing", () => {
  for (const [cnf, confirmation] of READ) {
    for (const members of [Object.entries(cnf), Object.entries(cnf).reverse()]) {
      assert.deepEqual(readConfirmation(Object.fromEntries(members)), confirmation);
      assert.deepEqual(readConfirmation(new Map(members)), confirmation);
    }
  }
  assert.deepEqual(readConfirmation(undefined), {});
});

Deno.test("readConfirmation() refuses a binding that is not verified here, whatever is beside it", () => {
  const bad: [string, unknown][] = [
    ...["jwk", "jwe", "kid", "jku", "x5c", "x5u", "osc"].map((name): [string, unknown] => [name, "x"]),
    ["jkt", 1],
    ["jkt", "short"],
    ["x5t#S256", undefined],
    ["x5t#S256", `${KEY}=`],
  ];
  for (const beside of [{}, { jkt: KEY }, { "x5t#S256": CERTIFICATE }, BOTH]) {
    for (const [name, value] of bad) {
      const all = Object.entries({ ...beside, [name]: value });
      for (const members of [all, all.toReversed()]) {
        for (const cnf of [Object.fromEntries(members), new Map(members)]) {
          assert.throws(() => readConfirmation(cnf), InvalidToken, `${name} beside ${Object.keys(beside)}`);
        }
      }
    }
  }
  for (const cnf of [{}, new Map(), { "kc-jkt-type": "DPoP" }, null, "x", []]) {
    assert.throws(() => readConfirmation(cnf), InvalidToken);
  }
});

const NOW = Date.UTC(2027, 0, 15, 8);
const REQUEST = {
  token: "opaque",
  method: "GET",
  url: "https://auth.example/rest/auth",
  seconds: NOW / 1000,
};
const AUTHORITY = createAuthority({ subject: "CN=Test CA" });
const [PEM, OTHER_PEM] = ["CN=ann", "CN=eve"].map((subject) => AUTHORITY.issue({ subject }).certificate);
const [client, other] = [await createDpopClient(), await createDpopClient()];

function shows(pem: string | undefined): Pick<Credentials, "certificate"> {
  return pem === undefined ? {} : { certificate: { subject: "CN=ann", pem, path: "" } };
}

/** Returns credentials of a token with a new proof of a client, and the certificate of the connection. */
function proved(by: typeof client, pem?: string): Credentials {
  return bound(REQUEST.token, { text: by.prove(REQUEST), ...REQUEST }, shows(pem));
}

Deno.test("PossessionCheck accepts a bound token only with every key and certificate that it is bound to", async () => {
  const certificate = hash("sha256", new X509Certificate(PEM ?? "").raw, "base64url");
  const check = new PossessionCheck(() => NOW, new ReplayCache(PROOFS, () => NOW));
  const { jkt } = client;
  const bare = bearer(REQUEST.token);
  const cases: [what: string, Confirmation, Credentials, refused: RegExp | undefined][] = [
    ["a token that is not bound", {}, bare, undefined],
    ["no token", {}, NO_CREDENTIALS, /no token/],
    ["its key", { jkt }, proved(client), undefined],
    ["another key", { jkt }, proved(other), /another key/],
    ["no proof", { jkt }, bare, /no proof was shown/],
    ["the DPoP scheme without a proof", { jkt }, bound(REQUEST.token, undefined), /no proof of possession/],
    ["a proof for a token that is not bound", {}, proved(client), /not bound to the key/],
    ["its certificate", { certificate }, { ...bare, ...shows(PEM) }, undefined],
    ["another certificate", { certificate }, { ...bare, ...shows(OTHER_PEM) }, /another certificate/],
    ["no certificate", { certificate }, bare, /the client showed none/],
    ["key and certificate", { jkt, certificate }, proved(client, PEM), undefined],
    ["its key, another certificate", { jkt, certificate }, proved(client, OTHER_PEM), /another certificate/],
    ["its certificate, another key", { jkt, certificate }, proved(other, PEM), /another key/],
    ["its certificate alone", { jkt, certificate }, { ...bare, ...shows(PEM) }, /no proof was shown/],
  ];
  for (const [what, confirmation, credentials, refused] of cases) {
    const checked = check.check("ann", confirmation, credentials);
    if (refused === undefined) await checked;
    else {
      await assert.rejects(
        checked,
        (error) => error instanceof InvalidToken && refused.test(error.message),
        what,
      );
    }
  }
});

Deno.test("PossessionCheck accepts each proof once", async () => {
  const check = new PossessionCheck(() => NOW, new ReplayCache(PROOFS, () => NOW));
  const shown = proved(client);
  await check.check("ann", { jkt: client.jkt }, shown);
  await assert.rejects(check.check("ann", { jkt: client.jkt }, shown), /was shown before/);
});
