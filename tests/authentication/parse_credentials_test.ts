import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import {
  LEGACY_SSH_HEADER,
  parseCredentials,
  passwordLogin,
} from "../../src/authentication/parse_credentials.ts";
import type { Authorization } from "../../src/model/credentials.ts";
import { CHARACTER } from "../fixtures/character.ts";
import { HeaderList } from "../../src/model/http_message.ts";

const FACTS = { clientAddress: "192.0.2.17" };

function parse(authorization?: string, signed?: string): Authorization {
  const headers = new HeaderList();
  if (authorization !== undefined) headers.set("authorization", authorization);
  if (signed !== undefined) headers.set(LEGACY_SSH_HEADER, signed);
  return parseCredentials(headers, FACTS).authorization;
}

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64");

/** Returns the parts of an authorization as plain text, with secrets. */
function plain(authorization: Authorization): unknown {
  switch (authorization.kind) {
    case "basic":
      return [authorization.user, authorization.password.reveal()];
    case "bearer":
      return authorization.token.reveal();
    case "ssh-legacy":
      return [authorization.user, authorization.signature.reveal(), [...authorization.signed]];
    default:
      return authorization.kind;
  }
}

const GOOD: [string, string | undefined, string | undefined, unknown][] = [
  ["nothing", undefined, undefined, "none"],
  ["Basic", `Basic ${base64("ann:sesame")}`, undefined, ["ann", "sesame"]],
  ["Basic without padding", `Basic ${base64("ann:x").replaceAll("=", "")}`, undefined, ["ann", "x"]],
  ["a scheme in any case", `bAsIc ${base64("ann:sesame")}`, undefined, ["ann", "sesame"]],
  ["several spaces", `Basic   ${base64("ann:sesame")}`, undefined, ["ann", "sesame"]],
  ["colons in the password", `Basic ${base64("ann:a:b::")}`, undefined, ["ann", "a:b::"]],
  ["an empty password", `Basic ${base64("ann:")}`, undefined, ["ann", ""]],
  ["UTF-8", `Basic ${base64("jürgen:Grüße:42")}`, undefined, ["jürgen", "Grüße:42"]],
  ["a byte order mark as part of the user", `Basic ${base64("\ufeffann:x")}`, undefined, ["\ufeffann", "x"]],
  ["blanks around user and password", `Basic ${base64(" ann : x ")}`, undefined, [" ann ", " x "]],
  ["the longest user", `Basic ${base64("a".repeat(256) + ":x")}`, undefined, ["a".repeat(256), "x"]],
  ["a bearer token", "Bearer 2YotnFZFEjr1zCsicMWpAA", undefined, "2YotnFZFEjr1zCsicMWpAA"],
  ["every character of a bearer token", "bearer aZ0-._~+/==", undefined, "aZ0-._~+/=="],
  ["the longest token", `Bearer ${"a".repeat(32_761)}`, undefined, "a".repeat(32_761)],
  ["a legacy SSH token", `Basic ${base64("ann:AQID")}`, "BAUG", ["ann", "AQID", [4, 5, 6]]],
];

for (const [what, authorization, signed, expected] of GOOD) {
  Deno.test(`parseCredentials() reads ${what}`, () => {
    assert.deepEqual(plain(parse(authorization, signed)), expected);
  });
}

const BAD: [string, string | undefined, string | undefined, RegExp][] = [
  ["an empty header", "", undefined, /not one scheme/],
  ["a scheme alone", "Basic", undefined, /not one scheme/],
  ["a scheme alone and a blank", "Bearer ", undefined, /not one scheme/],
  ["no space after the scheme", `Basic${base64("ann:x")}`, undefined, /not one scheme/],
  ["a tab after the scheme", `Basic\t${base64("ann:x")}`, undefined, /not one scheme/],
  ["two parameters", "Bearer abc def", undefined, /not one scheme/],
  ["an unknown scheme", "Negotiate YII=", undefined, /neither Basic nor Bearer/],
  ["a digest", 'Digest username="ann"', undefined, /neither Basic nor Bearer/],
  ["base64 with too much padding", `Basic ${base64("ann:x")}=`, undefined, /base64/],
  ["base64 with stray bits", "Basic YTp=", undefined, /base64/],
  ["base64url", `Basic ${base64("a:ÿÿÿ").replace(/\+/g, "-").replace(/\//g, "_")}`, undefined, /base64/],
  ["characters outside base64", "Basic YW5u*nh4", undefined, /base64/],
  ["bytes that are not UTF-8", `Basic ${base64(new Uint8Array([0x61, 0x3a, 0xff]))}`, undefined, /UTF-8/],
  [
    "an encoded surrogate",
    `Basic ${base64(new Uint8Array([0x61, 0x3a, 0xed, 0xa0, 0x80]))}`,
    undefined,
    /UTF-8/,
  ],
  ["no colon", `Basic ${base64("ann")}`, undefined, /no colon/],
  ["an empty user", `Basic ${base64(":sesame")}`, undefined, /empty user/],
  ["a NUL in the user", `Basic ${base64("an\0n:x")}`, undefined, /NUL/],
  ["a line feed in the user", `Basic ${base64("ann\nuser=root:x")}`, undefined, /LF/],
  ["a CR in the password", `Basic ${base64("ann:x\ry")}`, undefined, /CR/],
  ["a long user", `Basic ${base64("a".repeat(257) + ":x")}`, undefined, /longer than 256/],
  ["a long password", `Basic ${base64("a:" + "x".repeat(4097))}`, undefined, /over 4096/],
  [
    "a password of many octets",
    `Basic ${base64("a:" + "\u20ac".repeat(1366))}`,
    undefined,
    /over 4096/,
  ],
  ["a long token", `Bearer ${"a".repeat(32_762)}`, undefined, /longer than 32768/],
  ["a comma in a token", "Bearer abc,def", undefined, /no bearer token/],
  ["a token of padding", "Bearer ==", undefined, /no bearer token/],
  ["signed text alone", undefined, "BAUG", /without Authorization/],
  ["signed text beside a token", "Bearer abc", "BAUG", /beside a bearer token/],
  ["empty signed text", `Basic ${base64("ann:AQID")}`, "", /signed text is not/],
  ["signed text that is not base64", `Basic ${base64("ann:AQID")}`, "B*", /signed text is not/],
  ["long signed text", `Basic ${base64("ann:AQID")}`, "A".repeat(1028), /longer than 1024/],
  ["an empty signature", `Basic ${base64("ann:")}`, "BAUG", /signature is not/],
  ["a signature that is not base64", `Basic ${base64("ann:sesame!")}`, "BAUG", /signature is not/],
];

for (const [what, authorization, signed, reason] of BAD) {
  Deno.test(`parseCredentials() finds ${what} malformed`, () => {
    const parsed = parse(authorization, signed);
    assert.equal(parsed.kind, "malformed");
    if (parsed.kind === "malformed") assert.match(parsed.reason, reason);
  });
}

for (
  const [what, first, second] of [
    ["Basic", `Basic ${base64("ann:sesame")}`, `Basic ${base64("bob:sesame")}`],
    ["Bearer", "Bearer abc", "Bearer def"],
    ["mixed", "Bearer abc", `Basic ${base64("bob:sesame")}`],
  ] as const
) {
  Deno.test(`parseCredentials() finds two Authorization headers malformed (${what})`, () => {
    const headers = new HeaderList();
    headers.append("authorization", first);
    headers.append("authorization", second);
    assert.equal(parseCredentials(headers, FACTS).authorization.kind, "malformed");
  });
}

Deno.test("parseCredentials() passes on the facts from the edge", () => {
  const facts = {
    clientAddress: "2001:db8::1",
    consignor: "DN=x",
    certificate: { subject: "CN=a", pem: "P", path: "" },
  };
  assert.deepEqual(parseCredentials(new HeaderList(), facts), { ...facts, authorization: { kind: "none" } });
});

Deno.test("passwordLogin() accepts passwords of 4,096 octets, and no longer ones", () => {
  assert.equal(passwordLogin("ann", "x".repeat(4096)).kind, "basic");
  assert.equal(passwordLogin("ann", "x".repeat(4097)).kind, "malformed");
});

Deno.test("parseCredentials() reads back any user and password", () => {
  const user = fc.string({ minLength: 1, maxLength: 40, unit: CHARACTER }).filter((text) =>
    !/[:\0\r\n]/.test(text)
  );
  const password = fc.string({ unit: CHARACTER }).filter((text) => !/[\0\r\n]/.test(text));
  fc.assert(fc.property(user, password, (user, password) => {
    assert.deepEqual(plain(parse(`Basic ${base64(`${user}:${password}`)}`)), [user, password]);
  }));
});

Deno.test("parseCredentials() never treats a header as anonymous, and never repeats it", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'Basic earBEAR:= +/aZ09,;"\t') }), (header) => {
    const parsed = parse(header);
    assert.notEqual(parsed.kind, "none");
    const shown = JSON.stringify(parsed);
    if (header.trim().length > 12) assert.ok(!shown.includes(header.trim()), shown);
  }));
});
