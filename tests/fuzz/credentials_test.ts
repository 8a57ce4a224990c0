/** Credentials of callers, what providers report about callers, and the names that both lead to. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { compileExpression } from "../../src/authentication/expression/expression.ts";
import { InvalidExpression } from "../../src/authentication/expression/tokenizer.ts";
import { parseJsonObject } from "../../src/model/json_object.ts";
import { InvalidReply, parseReply } from "../../src/authentication/claims.ts";
import { parseCredentials } from "../../src/authentication/parse_credentials.ts";
import { presentedToken } from "../../src/authentication/issued_token/registered_token.ts";
import { InvalidToken, parseSignedToken } from "../../src/authentication/signed_token.ts";
import { parseKeyLine } from "../../src/authentication/ssh_key/authorized_keys.ts";
import { readLegacyToken } from "../../src/authentication/ssh_key/key_trial.ts";
import { decodePublicKey, isSshKeyType, UnusableKey } from "../../src/authentication/ssh_key/public_key.ts";
import { parseConsignor } from "../../src/authentication/x509.ts";
import { canonicalDn, InvalidName, parseName } from "../../src/model/distinguished_name.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import { publicKeyWords, publicLine } from "../authentication/ssh_key/user_keys.ts";
import { fuzz } from "./fuzz.ts";
import { hostileBytes, hostileText } from "./hostile_text.ts";
import { asItIs, FILE, JSON_FORMS, KIB, latin1, NAME_FORMS } from "./shapes.ts";

const DN = 'CN=Ann Example+OU=Lab 2, O=Site\\, A, UID=ann@site-a.example, 2.5.4.3="x, y", DC=DE, CN=#0c0141';
const TOKEN =
  "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbm4iLCJpc3MiOiJhbm4iLCJpYXQiOjE4MDAwMDAwMDAsImV4cCI6MTgwMDAwMDMwMH0.im2vsrndG95IXhSH6fGzqDbtyQS1Ib1CYHJ6DTHAZJWYDFa1VZrOws_pG77MZCVuo0U_Gb59_NLIt6odFWFlBg";

const KEY_LINE = publicLine("user_ed25519");
/** Returns a token whose claims grow with `length`. */
const longToken = (length: number) =>
  `eyJhbGciOiJFZERTQSJ9.${Buffer.from(`{"sub":"${"a".repeat(length / 2)}"}`).toString("base64url")}.AAAA`;
const KEYS = [
  publicKeyWords("user_rsa2048"),
  publicKeyWords("user_ecdsa256"),
  publicKeyWords("user_ed25519"),
];
fuzz({
  name: "parseKeyLine()",
  input: hostileText(
    publicLine("user_ecdsa256"),
    `from="10.0.0.0/8,!10.1.*",expiry-time="20300101",restrict,command="a \\"b\\"" ${
      publicLine("user_ed25519")
    }`,
  ),
  parse: parseKeyLine,
  growth: {
    longest: 16 * KIB,
    forms: [
      "…",
      `${KEY_LINE}…x`,
      `from="…" ${KEY_LINE}`,
      `environment="A=…" ${KEY_LINE}`,
      `permitopen="…" ${KEY_LINE}`,
      `…${KEY_LINE}`,
      `no-pty,…`,
      `no-pty,… ${KEY_LINE}`,
      `ssh-ed25519…AAAA`,
    ],
    input: asItIs,
  },
});
fuzz({
  name: "decodePublicKey()",
  input: fc.tuple(
    fc.constantFrom(...KEYS.map(([type]) => type)),
    hostileBytes(...KEYS.map(([, key]) => Buffer.from(key, "base64"))),
  ),
  parse: ([type, bytes]) => {
    assert(isSshKeyType(type));
    decodePublicKey(type, Buffer.from(bytes).toString("base64"));
  },
  throws: [UnusableKey],
  growth: {
    longest: 16 * KIB,
    forms: ["…", "\0\0\0\x07ssh-rsa\0\0\0\x03\x01\0\x01\0\0\x10\0…"],
    input: (text): [string, Uint8Array] => ["ssh-rsa", latin1(text)],
  },
});
fuzz({
  name: "parseCredentials()",
  input: fc.tuple(
    hostileText("Basic YWxpY2U6d29uZGVy", `Bearer ${TOKEN}`, "bearer x", "Digest a=b"),
    fc.option(hostileText("AAAAAA==")),
  ),
  parse: ([authorization, signed]) => {
    const printable = (text: string) => text.replace(/[\0\r\n]/g, " ");
    const headers = new HeaderList(["Authorization", printable(authorization)]);
    if (signed !== null) headers.set("X-UNICORE-SSHKEY-AUTH-PLAINTEXT", printable(signed));
    const { authorization: { kind } } = parseCredentials(headers, { clientAddress: "127.0.0.1" });
    assert.notEqual(kind, "none", "credentials that cannot be read are never none");
  },
  growth: {
    longest: 16 * KIB,
    forms: ["…", "Basic …", "Basic …:", "Bearer …", "Bearer …=x", "Bearer e30.…", "…Bearer x"],
    input: (text): [string, string] => [text, text.slice(0, 2 * KIB)],
  },
});
fuzz({
  name: "parseSignedToken()",
  input: hostileText(TOKEN, TOKEN.replace(/[^.]+$/, "")),
  parse: parseSignedToken,
  throws: [InvalidToken],
  growth: {
    longest: 16 * KIB,
    forms: ["…", "eyJhbGciOiJFZERTQSJ9.….AAAA", "eyJhbGciOiJFZERTQSJ9.e30.…", ".….", longToken],
    input: asItIs,
  },
});
fuzz({
  name: "presentedToken()",
  input: hostileText(
    '{"sub":"ann","jti":"2","since":1,"root":"1","line":[["1",2]],"restrictions":{"path":["/a/"]}}',
    // Well-formed JSON that is no token of ours: random changes hardly ever produce that.
    '{"jti":"2","since":1,"root":"1"}',
    '{"sub":"ann","jti":"2","since":1,"root":"1","restrictions":{"path":7}}',
  ),
  parse: (text) => {
    const claims = parseJsonObject(new TextEncoder().encode(text));
    return claims && presentedToken({ text, digest: "d", algorithm: "ES256", claims, expires: 1 });
  },
  throws: [InvalidToken],
  growth: {
    longest: 8 * KIB,
    forms: ["…", "[1]", '["1",2]'],
    input: (text) => `{"sub":"ann","jti":"2","since":1,"line":[${text.slice(0, 8 * KIB)}]}`,
  },
});
fuzz({
  name: "parseJsonObject()",
  input: hostileBytes(
    Buffer.from('{"sub":"ann","iss":"ann","iat":1800000000,"exp":1.8e9,"etd":false,"x":{"y":[1]}}'),
  ),
  parse: parseJsonObject,
  growth: { longest: 64 * KIB, forms: JSON_FORMS, input: latin1 },
});
fuzz({
  name: "readLegacyToken()",
  input: fc.tuple(hostileText("XiYaw8LEsI6VuobhwccV+g=="), hostileBytes(Buffer.from("0123456789abcdefghij"))),
  parse: ([signature, signed]) => readLegacyToken("ann", signature, signed),
  growth: { longest: 16 * KIB, input: (text): [string, Uint8Array] => [text, latin1(text)] },
});
fuzz({
  name: "compileExpression()",
  input: hostileText(
    `"UID=" + email.toLowerCase().replace("@", "_")`,
    `groups.contains("hpc") ? ["a", "b"] : (sub != null && sub.length() > 3) ? 'x' : null`,
    "a.b.c[0].substring(1, 2)",
  ),
  parse: (source) => {
    const variables = new Map<string, string | string[]>([["email", "Ann@x"], ["groups", ["hpc"]], [
      "sub",
      "s",
    ]]);
    const expression = compileExpression(source);
    expression.text(variables);
    expression.name(variables);
    expression.list(variables);
  },
  throws: [InvalidExpression],
  growth: {
    longest: 64 * KIB,
    forms: [
      "…",
      '"…"',
      "a…",
      "[…]",
      "(…)",
      "(…",
      "a[…]",
      "a ? … : b",
      "a + …",
      "a.toLowerCase(…)",
      (length) => `a${" + a".repeat(length / 4)}`,
      (length) => `a${" ? a : a".repeat(length / 8)}`,
      (length) => `[${"a,".repeat(length / 2)}a]`,
      (length) => `email${".toLowerCase()".repeat(length / 14)}`,
      (length) => `"${"a@".repeat(length / 2)}".replace("@", "${"b".repeat(9)}")`,
    ],
    input: asItIs,
  },
});
fuzz({
  name: "parseReply() of identity providers",
  input: hostileText(
    '{"sub":"1","email":"a@b","groups":["x",{"y":1}],"n":12345678901234567890,"t":true,"z":null}',
  ),
  parse: parseReply,
  throws: [InvalidReply],
  growth: { longest: FILE, forms: JSON_FORMS, input: asItIs },
});
fuzz({
  name: "parseConsignor()",
  input: hostileText('DN="CN=Ann,C=DE";DSIG=QUJD', 'DSIG="";DN=CN\\=x'),
  parse: parseConsignor,
  growth: { longest: 8 * KIB, forms: ['DN="…";DSIG=QUJD', "…", 'DSIG=…;DN="CN=a"'], input: asItIs },
});
fuzz({
  name: "parseName()",
  input: hostileText(DN, "CN=a,C=DE"),
  parse: parseName,
  throws: [InvalidName],
  growth: { longest: 4 * KIB, forms: NAME_FORMS, input: asItIs },
});
fuzz({
  name: "canonicalDn()",
  input: hostileText(DN),
  parse: canonicalDn,
  throws: [InvalidName],
  growth: { longest: 4 * KIB, forms: NAME_FORMS, input: asItIs },
});
