import assert from "node:assert/strict";
import { call } from "../resource/sample_call.ts";
import { acceptedLogins } from "../../src/authentication/accepted_logins.ts";
import type { Authenticator } from "../../src/authentication/authenticator.ts";
import { authenticate } from "../../src/authentication/chain.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { HttpError } from "../../src/model/http_error.ts";
import { helpPage } from "../../src/pages/help_page.ts";

const refusing = (name: string, more: Partial<Authenticator>): Authenticator => ({
  name,
  challenges: ["Bearer"],
  authenticate: () => Promise.resolve({ kind: "refused", reason: "wrong" }),
  close: () => {},
  ...more,
});
const ISSUER = { url: "https://idp.example", scopes: [], asked: false };

/** Authenticator of each kind, with the words and the option that only its hints contain. */
const KINDS: readonly (readonly [Authenticator, string, string | undefined])[] = [
  [refusing("PASSWORD", { challenges: ["Basic"] }), "a user name with password", "-u USER -P"],
  [refusing("SSHKEY", { acceptsSshKeys: true }), "an SSH key", "-u USER -i ~/.ssh/id_ed25519"],
  [refusing("OAUTH", { issuer: ISSUER }), "an access token of https://idp.example", "-O ACCOUNT"],
  [refusing("UNITY", {}), "an access token", "-A TOKEN"],
  [refusing("X509", { challenges: [], acceptsCertificates: true }), "a client certificate", undefined],
];

Deno.test("hints name exactly what is configured, for every set of authenticators, with and without our tokens", async () => {
  const { signal } = new AbortController();
  for (let set = 0; set < 2 ** KINDS.length * 2; set++) {
    const chosen = KINDS.filter((_, i) => set & (1 << i));
    const authenticators = chosen.map(([authenticator]) => authenticator);
    const issuedTokens = set >= 2 ** KINDS.length ? refusing("ETD", {}) : undefined;
    const words = [...chosen.map(([, words]) => words), ...(issuedTokens ? ["a token of this service"] : [])];
    const accepted = acceptedLogins({ authenticators, issuedTokens });
    assert.deepEqual(accepted.map(({ words }) => words), words);
    const { caller } = await authenticate(
      { authenticators, issuedTokens, failOnMissingCredentials: true, realm: "AUTH" },
      { authorization: { kind: "malformed", reason: "x" }, clientAddress: "192.0.2.1" },
      { log: SILENT, signal },
    );
    assert(caller instanceof HttpError);
    assert.equal(caller.publicMessage, `Authentication failed. This service accepts: ${words.join(", ")}`);
    const page = String(
      helpPage({ ...call(), base: "https://auth.example" }, { accepted, hasDeviceLogin: false }).body,
    );
    for (const [authenticator, words, option] of KINDS) {
      const isShown = authenticators.includes(authenticator);
      assert.equal(
        page.includes(`<li>${words}${option === undefined ? "<" : `: <code>pyuftp ls ${option}`}`),
        isShown,
        words,
      );
    }
    assert.doesNotMatch(page, /login\.sh/);
  }
});

Deno.test("the help page shows the login script where there is one", () => {
  const page = String(
    helpPage({ ...call(), base: "https://auth.example" }, { accepted: [], hasDeviceLogin: true }).body,
  );
  assert.match(page, /curl -fsSO https:\/\/auth\.example\/login\.sh &amp;&amp; sh login\.sh/);
});
