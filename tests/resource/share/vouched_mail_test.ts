import assert from "node:assert/strict";
import type { UserAttributes } from "../../../src/attributes/user_attributes.ts";
import type { Identity } from "../../../src/model/identity.ts";
import { ownerMail, verifiedMail } from "../../../src/resource/share/vouched_mail.ts";
import { call } from "../sample_call.ts";

const attributes = (mail?: string): UserAttributes => ({
  ...{
    role: "user",
    availableRoles: ["user"],
    availableUids: [],
    availableGroups: [],
    supplementaryGroups: [],
  },
  extra: new Map(mail === undefined ? [] : [["mail", [mail]]]),
});
const caller = (mail?: string) => {
  const identity: Identity = { dn: "CN=Ann", method: "OAUTH", via: "OAUTH", mail };
  return { kind: "authenticated", identity } as const;
};
const ANN = "ann@example.org";

Deno.test("ownerMail() refuses shares without uploads, services without mail, and callers without an address", () => {
  const ann = { ...call(), caller: caller(ANN) };
  assert.equal(ownerMail(ann, "HPC", "DROP", { mails: true }), ANN);
  for (
    const [access, mails, asked] of [["READ", true, ann], ["DROP", false, ann], [
      "DROP",
      true,
      call(),
    ]] as const
  ) {
    assert.throws(() => ownerMail(asked, "HPC", access, { mails }), { code: "ERR_INVALID_REQUEST" });
  }
});

Deno.test("verifiedMail() prefers the address of the login to that of attribute sources", () => {
  assert.equal(verifiedMail({ caller: caller(ANN), user: attributes("other@example.org") }, "HPC"), ANN);
  assert.equal(verifiedMail({ caller: caller(), user: attributes(ANN) }, "HPC"), ANN);
  assert.equal(verifiedMail({ caller: caller(), user: attributes() }, "HPC"), undefined);
  assert.equal(verifiedMail({ caller: { kind: "anonymous" }, user: attributes() }, "HPC"), undefined);
});

Deno.test("verifiedMail() ignores text that is not a plain address, from login and attributes", () => {
  for (
    const bad of ["ann", "ann@example.org\r\nBcc: x@example.org", "Ann <ann@example.org>", "a b@example.org"]
  ) {
    assert.equal(verifiedMail({ caller: caller(bad), user: attributes() }, "HPC"), undefined);
    assert.equal(verifiedMail({ caller: caller(), user: attributes(bad) }, "HPC"), undefined);
  }
});

Deno.test("verifiedMail() reads attributes of an account only for the server for which it is proven", () => {
  const user = { ...attributes(ANN), restricted: { servers: ["HPC"], elsewhere: attributes() } };
  assert.equal(verifiedMail({ caller: caller(), user }, "HPC"), ANN);
  assert.equal(verifiedMail({ caller: caller(), user }, "OTHER"), undefined);
});
