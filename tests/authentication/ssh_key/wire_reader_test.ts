import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { UnusableKey, WireReader } from "../../../src/authentication/ssh_key/public_key.ts";

const reader = (hex: string) => new WireReader(Buffer.from(hex.replaceAll(" ", ""), "hex"));

Deno.test("WireReader reads strings and numbers one after the other, up to the end", () => {
  const values = reader("00000002 6162 00000000 00000002 00ff 00000001 7f");
  assert.equal(values.text(), "ab");
  assert.equal(values.string().length, 0);
  assert.equal(values.positiveInteger().toString("hex"), "ff");
  assert.throws(() => values.expectEnd(), new UnusableKey("bytes follow the key"));
  assert.equal(values.positiveInteger().toString("hex"), "7f");
  values.expectEnd();
});

for (const hex of ["", "000000", "00000001", "00000003 6162", "ffffffff 61"]) {
  Deno.test(`WireReader reports that "${hex}" is truncated`, () => {
    assert.throws(() => reader(hex).string(), new UnusableKey("key is cut off"));
  });
}

for (const hex of ["00000000", "00000001 00", "00000001 80", "00000002 007f"]) {
  Deno.test(`WireReader refuses "${hex}" as a positive number`, () => {
    assert.throws(() => reader(hex).positiveInteger(), new UnusableKey("number is not in its one form"));
  });
}
