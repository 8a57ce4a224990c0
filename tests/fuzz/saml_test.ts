/** Responses of identity providers that were changed after they were signed. */
import assert from "node:assert/strict";
import { InvalidResponse, NAME_ID_FORMATS } from "../../src/authentication/unity/saml_names.ts";
import { readSamlResponse } from "../../src/authentication/unity/saml_response.ts";
import { pinnedSigners } from "../../src/authentication/unity/unity.ts";
import { samlMessage } from "../identity_provider/saml_message.ts";
import { createAuthority } from "../pki/authority.ts";
import { fuzz } from "./fuzz.ts";
import { hostileText } from "./hostile_text.ts";
import { asItIs, distinct, KIB, SAML_FORMS } from "./shapes.ts";

const NOW = 1_800_000_000_000;
const SERVICE = "https://auth.example";
const provider = createAuthority({ subject: "CN=IdP", keyType: "rsa-2048" });
const signer = provider.issue({ subject: "CN=unity", keyType: "rsa-2048" });
const MESSAGE = await samlMessage({ requestId: "_r1", url: SERVICE, now: NOW }, signer);
const EXPECTED = {
  requestId: "_r1",
  identifiers: [SERVICE],
  serverDn: undefined,
  nameIdFormat: NAME_ID_FORMATS.X509SubjectName,
  identityTemplate: undefined,
  now: NOW,
  strict: true,
  onSha1: () => {},
};
const ISSUERS = pinnedSigners([signer.certificate], NOW);
/** Puts a text into a signed assertion, which is canonicalized before its wrong signature is found. */
const signed = (shape: (length: number) => string) => (length: number) =>
  MESSAGE.replace("<saml:Subject>", (subject) => shape(length) + subject);
/** Numbers of 60 nested elements, each with a declaration. */
const LEVELS = Array.from({ length: 60 }, (_, level) => level);
const SIGNED_FORMS = [
  distinct(() => "<a/>"),
  distinct((n) => `<a ID="i${n}"/>`),
  distinct((n) => `<b xmlns:c${n}="d${n}"/>`),
  distinct((n) => `<c${n}:b xmlns:c${n}="d${n}"/>`),
  distinct((n) => `<a ${LEVELS.slice(30).map((i) => `b${i}="${n}"`).join(" ")}/>`),
  distinct((n) => LEVELS.map((i) => `<x xmlns:p${i}_${n}="u">`).join("") + "</x>".repeat(LEVELS.length)),
  (length: number) => `<a>${"&amp;".repeat(length / 5)}</a>`,
  (length: number) => `<a b="${"&lt;".repeat(length / 4)}"/>`,
].map(signed);

fuzz({
  name: "readSamlResponse()",
  input: hostileText(MESSAGE),
  parse: async (message) => {
    const { dn } = await readSamlResponse(message, EXPECTED, { pinned: ISSUERS, anchored: ISSUERS });
    assert.equal(dn, "CN=Ann Example,O=Site-A,C=DE", "whatever was spoiled, nobody else gets in");
  },
  throws: [InvalidResponse],
  growth: { longest: 16 * KIB, forms: [...SAML_FORMS, ...SIGNED_FORMS], input: asItIs },
});
