import assert from "node:assert/strict";
import { InvalidBanSubject, parseBanSubject } from "../../src/throttling/ban.ts";

const SUBJECTS: readonly (readonly [Parameters<typeof parseBanSubject>[0], object | RegExp])[] = [
  [{ user: "ann" }, { user: "ann", address: undefined }],
  [{ user: "x".repeat(256) }, { user: "x".repeat(256), address: undefined }],
  [{ address: "::FFFF:192.0.2.7" }, { user: undefined, address: "192.0.2.7" }],
  [{ user: "ann", address: "2001:DB8::0" }, { user: "ann", address: "2001:db8::" }],
  [{}, /expected a user, an address, or both/],
  [{ user: "" }, /user name of 1 to 256 characters/],
  [{ user: "x".repeat(257) }, /user name of 1 to 256 characters/],
  [{ user: 7 }, /user name of 1 to 256 characters/],
  [{ user: null }, /user name of 1 to 256 characters/],
  [{ user: "", address: "192.0.2.7" }, /user name of 1 to 256 characters/],
  [{ address: "" }, /expected an IP address such as/],
  [{ address: "host" }, /expected an IP address such as/],
  [{ user: "ann", address: 7 }, /expected an IP address such as/],
];
for (const [given, expected] of SUBJECTS) {
  Deno.test(`parseBanSubject() of ${JSON.stringify(given).slice(0, 50)}`, () => {
    if (!(expected instanceof RegExp)) return assert.deepEqual(parseBanSubject(given), expected);
    assert.throws(
      () => parseBanSubject(given),
      (error) => error instanceof InvalidBanSubject && expected.test(error.message),
    );
  });
}
