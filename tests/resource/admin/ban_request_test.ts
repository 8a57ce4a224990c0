/** Tests of bans by the form of the administrators' page. */
import assert from "node:assert/strict";
import { isHttpError } from "../../../src/model/http_error.ts";
import { changeBansByForm } from "../../../src/resource/admin/ban_request.ts";
import { call, USER } from "../sample_call.ts";

const OWN_ADDRESS = "192.0.2.1";

/** Sends a form of Ann, who signed in as `ann`, with the account `ann1` on one server. @returns The changes, or the error. */
async function done(fields: Readonly<Record<string, string>>) {
  const told: string[] = [];
  const audited: object[] = [];
  const asked = {
    ...call(),
    clientAddress: OWN_ADDRESS,
    user: { ...USER, uid: "staff", extra: new Map([["uftpd.HPC.xlogin", ["ann1"]]]) },
    caller: {
      kind: "authenticated",
      identity: { dn: "CN=Ann, O=Example", method: "", via: "", login: "ann" },
    },
    audit: (facts: object) => void audited.push(facts),
  } as const;
  const admin = {
    ban: ({ user, address }: Readonly<Record<string, unknown>>, seconds: number) => {
      told.push(`ban ${user} ${address} ${seconds}`);
      return Promise.resolve({ result: {}, change: { event: "ban" as const, facts: {}, seconds } });
    },
    lift: ({ user, address }: Readonly<Record<string, unknown>>) => {
      if (user === "nobody") return Promise.resolve({ result: { lifted: 0 } });
      told.push(`lift ${user} ${address}`);
      return Promise.resolve({ result: {}, change: { event: "lift" as const, facts: {}, lifted: 1 } });
    },
    namesOf: (user: string, anyCase = false) =>
      Promise.resolve((anyCase ? user.toLowerCase() : user) === "annie" ? ["cn=ann,o=example"] : []),
  };
  try {
    await changeBansByForm(asked, new Map(Object.entries(fields)), admin);
    return told.join();
  } catch (error) {
    assert.ok(isHttpError(error, "ERR_INVALID_REQUEST"), String(error));
    assert.deepEqual(told, []);
    return error.publicMessage;
  }
}

const ONESELF = "You cannot ban yourself";
const FORMS: readonly (readonly [fields: Record<string, string>, expected: string | RegExp])[] = [
  [{ user: "eve", for: "30m" }, "ban eve undefined 1800"],
  [{ user: " eve ", address: "192.0.2.77", for: "366d" }, "ban eve 192.0.2.77 31622400"],
  [{ user: "eve", for: "367d" }, /at most 366 days/],
  [{ user: "eve", for: "soon" }, /at most 366 days/],
  [{ user: "eve" }, /at most 366 days/],
  [{ for: "30m" }, /expected a user, an address, or both/],
  [{ do: "lift", user: "eve" }, "lift eve undefined"],
  [{ do: "lift", user: "ann", for: "30m" }, "lift ann undefined"],
  [{ do: "lift", user: "nobody" }, "No ban and no failed login of this user or address is known"],
  [{ user: "ann", for: "30m" }, ONESELF],
  [{ user: "annie", for: "30m" }, ONESELF],
  [{ user: "Annie", for: "30m" }, ONESELF],
  [{ user: "ANN", for: "30m" }, ONESELF],
  [{ user: "staff", for: "30m" }, ONESELF],
  [{ user: "ann1", for: "30m" }, ONESELF],
  [{ address: OWN_ADDRESS, for: "30m" }, ONESELF],
  [{ user: "ann", address: OWN_ADDRESS, for: "30m" }, ONESELF],
  [{ user: "ann", address: "192.0.2.77", for: "30m" }, "ban ann 192.0.2.77 1800"],
  [{ user: "eve", address: OWN_ADDRESS, for: "30m" }, `ban eve ${OWN_ADDRESS} 1800`],
];

for (const [fields, expected] of FORMS) {
  Deno.test(`changeBansByForm() of ${JSON.stringify(fields)}`, async () => {
    const found = await done(fields);
    if (typeof expected === "string") assert.equal(found, expected);
    else assert.match(found, expected);
  });
}
