/** Documents of issuers, claims of foreign tokens, and restrictions that callers request for their tokens. */
import { Buffer } from "node:buffer";
import { InvalidToken, readForeignToken } from "../../src/authentication/signed_token.ts";
import { readRestrictions } from "../../src/authentication/issued_token/restrictions.ts";
import { readConfirmation } from "../../src/authentication/oauth/confirmation.ts";
import { InvalidReply } from "../../src/authentication/claims.ts";
import { readKeys, readMetadata } from "../../src/authentication/oauth/provider.ts";
import { fuzz } from "./fuzz.ts";
import { hostileText } from "./hostile_text.ts";
import { asItIs, FILE, JSON_FORMS, KIB } from "./shapes.ts";

const ISSUER = "https://idp.example.org/realms/hpc";
const KEY = { kty: "EC", crv: "P-256", kid: "one", use: "sig", x: "A".repeat(43), y: "B".repeat(43) };
const base64url = (text: string) => Buffer.from(text).toString("base64url");
const HEAD = base64url('{"alg":"ES256","kid":"one"}');

/** Returns the value of a JSON text, and any other text unchanged. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

fuzz({
  name: "readMetadata()",
  input: hostileText(
    JSON.stringify({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys`, userinfo_endpoint: ISSUER }),
  ),
  parse: (text) => readMetadata(text, ISSUER),
  throws: [InvalidReply],
  growth: {
    longest: FILE,
    forms: [...JSON_FORMS, `{"issuer":"${ISSUER}","jwks_uri":"https://…"}`],
    input: asItIs,
  },
});
fuzz({
  name: "readKeys()",
  input: hostileText(JSON.stringify({ keys: [KEY, { kty: "RSA", n: "A".repeat(342), e: "AQAB" }] })),
  parse: readKeys,
  throws: [InvalidReply],
  growth: {
    longest: FILE,
    forms: [...JSON_FORMS, '{"keys":[…]}', '{"keys":[{"kty":"RSA","n":"…"}]}'],
    input: asItIs,
  },
});
fuzz({
  name: "readConfirmation()",
  input: hostileText(JSON.stringify({ jkt: "A".repeat(43) }), JSON.stringify({ "x5t#S256": "B".repeat(43) })),
  parse: (text) => readConfirmation(asJson(text)),
  throws: [InvalidToken],
  growth: { longest: 32 * KIB, forms: JSON_FORMS, input: asItIs },
});
fuzz({
  name: "readForeignToken()",
  input: hostileText(`${HEAD}.${base64url(`{"iss":"${ISSUER}","sub":"ann"}`)}.AAAA`),
  parse: readForeignToken,
  throws: [InvalidToken],
  growth: {
    longest: 32 * KIB,
    forms: ["…", `${HEAD}.…`, `${HEAD}.…AAAA.AAAA`, `…AAAA.${HEAD}.AAAA`, `${HEAD}.${HEAD}.…`],
    input: asItIs,
  },
});
fuzz({
  name: "readBounds()",
  input: hostileText(
    "path=/data/run7/&path=/data/run8/&activity=read&server=HPC&address=192.0.2.0/24&name=a",
  ),
  parse: (text) => readRestrictions(new URLSearchParams(text)),
  throws: ["ERR_INVALID_TOKEN_REQUEST"],
  growth: {
    longest: 16 * KIB,
    forms: ["…", "path=/…", "path=/a/&…", "server=…", "address=…"],
    input: asItIs,
  },
});
