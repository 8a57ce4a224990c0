import assert from "node:assert/strict";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import fc from "fast-check";
import { isHttpError } from "../../../src/model/http_error.ts";
import { parseLifetime, parseShareFields, parseSources } from "../../../src/resource/share/share_fields.ts";

const FIELDS = { path: "/x", user: "CN=bob" };

Deno.test("parseShareFields() has the defaults of the Java service", () => {
  assertAlike(parseShareFields(FIELDS), {
    path: "/x",
    target: "cn=bob",
    targetName: "CN=bob",
    access: "READ",
    lifetime: 0,
    oneTime: false,
    sources: [],
    notify: false,
  });
});

Deno.test("parseShareFields() accepts what stock clients send", () => {
  const python = { ...FIELDS, access: "WRITE", onetime: "true", lifetime: "3600" };
  const java = { ...FIELDS, access: "MODIFY", onetime: true, lifetime: 3600, group: "hpc", unknown: {} };
  assertAlike([parseShareFields(python).oneTime, parseShareFields(python).lifetime], [true, 3600]);
  assertAlike([parseShareFields(java).oneTime, parseShareFields(java).group], [true, "hpc"]);
  assert.equal(parseShareFields({ ...FIELDS, onetime: "False", lifetime: -5 }).oneTime, false);
  assert.equal(parseShareFields({ ...FIELDS, onetime: null }).oneTime, false);
});

for (const onetime of ["yes", "1", 1, 0, [], {}]) {
  Deno.test(`parseShareFields() refuses onetime ${JSON.stringify(onetime)}`, () => {
    assert.throws(() => parseShareFields({ ...FIELDS, onetime }), { code: "ERR_INVALID_REQUEST" });
  });
}

const LIFETIMES: [unknown, number | undefined][] = [
  [undefined, undefined],
  [0, 0],
  [-1, 0],
  ["-1", 0],
  [" 60 ", 60],
  ["60.0", 60],
  [60, 60],
];

for (const [value, expected] of LIFETIMES) {
  Deno.test(`parseLifetime() of ${JSON.stringify(value)}`, () =>
    assert.equal(parseLifetime(value), expected));
}

for (const value of ["", "x", "1e9", 1.5, 1e15, Infinity, NaN, true, {}, []]) {
  Deno.test(`parseLifetime() refuses ${Deno.inspect(value)}`, () => {
    assert.throws(() => parseLifetime(value), { code: "ERR_INVALID_REQUEST" });
  });
}

Deno.test("parseSources() accepts lists and text of addresses and ranges", () => {
  assertAlike(parseSources("192.0.2.7, 10.0.0.0/8\n::1"), ["192.0.2.7", "10.0.0.0/8", "::1"]);
  assertAlike(parseSources(["2001:db8::/32"]), ["2001:db8::/32"]);
  assertAlike(parseSources(""), []);
  assert.equal(parseSources(undefined), undefined);
  for (const value of [7, {}, [7], ["host"], ["10.0.0.1/8"], "1.2.3", Array(33).fill("::1")]) {
    assert.throws(() => parseSources(value), { code: "ERR_INVALID_REQUEST" });
  }
});

Deno.test("parseShareFields() returns fields or throws its own error for any JSON", () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom("READ", "CN=x", "/x", "true", "10.0.0.0/8"));
  const keys = ["path", "user", "access", "lifetime", "onetime", "group", "maxUses", "sources", "__proto__"];
  const body = fc.dictionary(fc.constantFrom(...keys), value);
  fc.assert(fc.property(fc.oneof(body, fc.jsonValue()), (input) => {
    try {
      parseShareFields(input);
    } catch (error) {
      assert.ok(isHttpError(error, "ERR_INVALID_REQUEST"), String(error));
    }
  }));
});
