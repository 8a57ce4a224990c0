import assert from "node:assert/strict";
import fc from "fast-check";
import { isHttpError } from "../../src/model/http_error.ts";
import { parseSessionRequest } from "../../src/resource/session_request.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";

Deno.test("parseSessionRequest() fills in the defaults", () => {
  assertAlike(parseSessionRequest({ serverPath: "" }), {
    serverPath: "",
    file: "",
    streamCount: 1,
    compress: false,
    persistent: false,
    send: true,
  });
});

const paths: [string, string][] = [
  ["", ""],
  ["/", "/"],
  ["/work", "/work/"],
  ["/work/", "/work/"],
  ["sub", "sub/"],
  ["___UFTP___MULTI___FILE___SESSION___MODE___", ""],
  ["/data/___UFTP___MULTI___FILE___SESSION___MODE___", "/data/"],
  ["___UFTP___MULTI___FILE___SESSION___MODE___/", "./"],
  ["/data/___UFTP___MULTI___FILE___SESSION___MODE___/", "/data/"],
  ["/data/x___UFTP___MULTI___FILE___SESSION___MODE___", "/data/x___UFTP___MULTI___FILE___SESSION___MODE___/"],
];
for (const [serverPath, file] of paths) {
  Deno.test(`parseSessionRequest() reads serverPath "${serverPath}" as base directory "${file}"`, () => {
    assert.equal(parseSessionRequest({ serverPath }).file, file);
  });
}

const accepted: [string, unknown, string, unknown][] = [
  ["streamCount", 4, "streamCount", 4],
  ["streamCount", "4", "streamCount", 4],
  ["streamCount", "4.0", "streamCount", 4],
  ["streamCount", 4.0, "streamCount", 4],
  ["streamCount", null, "streamCount", 1],
  ["compress", true, "compress", true],
  ["compress", "true", "compress", true],
  ["compress", "True", "compress", true],
  ["compress", "yes", "compress", false],
  ["compress", null, "compress", false],
  ["persistent", "true", "persistent", true],
  ["send", "false", "send", false],
  ["group", "hpc", "group", "hpc"],
  ["group", 17, "group", "17"],
  ["client", "192.0.2.1, 2001:db8::1 192.0.2.2", "client", ["192.0.2.1", "2001:db8::1", "192.0.2.2"]],
  ["client", " ", "client", undefined],
  ["sessionMode", { odd: 1 }, "streamCount", 1],
  ["__proto__", 3, "streamCount", 1],
];
for (const [name, value, member, expected] of accepted) {
  Deno.test(`parseSessionRequest() reads ${name} = ${JSON.stringify(value)}`, () => {
    const parsed = parseSessionRequest(JSON.parse(`{"serverPath":"/","${name}":${JSON.stringify(value)}}`));
    assert.deepEqual(Reflect.get(parsed, member), expected);
  });
}

Deno.test("parseSessionRequest() reads the key and the algorithm in any case", () => {
  const { encryption } = parseSessionRequest({
    serverPath: "",
    encryptionKey: "AAAA",
    encryptionAlgorithm: "aes",
  });
  assert.equal(encryption?.algorithm, "AES");
  assert.equal(encryption?.key.reveal(), "AAAA");
  assert.equal(
    parseSessionRequest({ serverPath: "", encryptionKey: "AAAA" }).encryption?.algorithm,
    "BLOWFISH",
  );
});

const refused: [string, unknown, RegExp][] = [
  ["no object", [], /JSON object/],
  ["no object", "x", /JSON object/],
  ["no object", null, /JSON object/],
  ["no serverPath", {}, /^serverPath is missing/],
  ["null as serverPath", { serverPath: null }, /^serverPath is missing/],
  ["a list as serverPath", { serverPath: ["/"] }, /^serverPath: expected text/],
  ["text as streamCount", { serverPath: "", streamCount: "four" }, /^streamCount: expected a whole number/],
  [
    "a fraction as streamCount",
    { serverPath: "", streamCount: 1.5 },
    /^streamCount: expected a whole number/,
  ],
  [
    "a boolean as streamCount",
    { serverPath: "", streamCount: true },
    /^streamCount: expected a whole number/,
  ],
  ["a streamCount of 0", { serverPath: "", streamCount: 0 }, /^streamCount: expected a number from 1/],
  [
    "a streamCount beyond 32 bits",
    { serverPath: "", streamCount: 4294967296 },
    /^streamCount: expected a number from 1/,
  ],
  ["a number as compress", { serverPath: "", compress: 1 }, /^compress: expected true or false/],
  ["an object as persistent", { serverPath: "", persistent: {} }, /^persistent: expected true or false/],
  [
    "a foreign algorithm",
    { serverPath: "", encryptionAlgorithm: "DES" },
    /^encryptionAlgorithm: expected AES or BLOWFISH/,
  ],
  ["a key that is not base64", { serverPath: "", encryptionKey: "a b" }, /^encryptionKey: expected base64/],
];
for (const [what, body, message] of refused) {
  Deno.test(`parseSessionRequest() refuses ${what}: ${JSON.stringify(body)}`, () => {
    assert.throws(() => parseSessionRequest(body), (error) => {
      assert(isHttpError(error, "ERR_INVALID_REQUEST"));
      assert.match(error.publicMessage, message);
      return true;
    });
  });
}

Deno.test("parseSessionRequest() accepts or refuses any JSON value, without other errors", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    try {
      const { file } = parseSessionRequest(value);
      assert(file === "" || file.endsWith("/"));
    } catch (error) {
      assert(isHttpError(error, "ERR_INVALID_REQUEST"));
    }
  }));
});

Deno.test("parseSessionRequest() keeps the path unchanged, without the tag of older clients", () => {
  const path = (serverPath: string) => parseSessionRequest({ serverPath }).serverPath;
  assert.equal(path("/work/file"), "/work/file");
  assert.equal(path("/work/___UFTP___MULTI___FILE___SESSION___MODE___"), "/work/");
  assert.equal(path("___UFTP___MULTI___FILE___SESSION___MODE___"), "");
});
