import assert from "node:assert/strict";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import type { AttributeSource } from "../../../src/attributes/attribute_source.ts";
import type { AskAccountStatus } from "../../../src/authentication/account_status.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { attributeValues } from "../../../src/model/attributes.ts";
import { httpError } from "../../../src/model/http_error.ts";
import { ShareOwners } from "../../../src/resource/share/share_owners.ts";
import type { Making, NamedOwner, Share } from "../../../src/sharing/share.ts";
import { DRAFT } from "../../sharing/store/conformance.ts";

const SHARE: Share = { ...DRAFT, server: "HPC", id: "x", accessCount: 0, created: 0 };

const MADE: Making = {
  owner: { dn: "CN=Alice, O=Example", via: "PASSWORD", login: "alice" },
  mappedAccount: true,
  mappedRole: true,
  atHome: false,
  limits: {},
};

interface Sources {
  readonly role?: string;
  readonly extra?: Record<string, string>;
  /** Accounts that they give, perhaps by the one of the login. */
  readonly accounts?: (uid: string | undefined) => readonly (string | undefined)[];
  readonly groups?: readonly string[];
}

const NEVER = new AbortController().signal;

function ownersWith(
  { role, extra = {}, accounts = () => [], groups = [] }: Sources,
  { accountStatus = () => Promise.resolve({ kind: "cannot tell" }), asked = [] }: {
    readonly accountStatus?: AskAccountStatus;
    readonly asked?: string[];
  } = {},
): ShareOwners {
  const source: AttributeSource = {
    name: "FILE",
    attributesOf: ({ dn, uid }) => {
      asked.push(dn);
      const xlogin = accounts(uid).filter((account) => account !== undefined);
      return Promise.resolve({
        standard: new Map([
          ...(role !== undefined ? [["role", attributeValues("role", [role])] as const] : []),
          ...(xlogin.length > 0 ? [["xlogin", attributeValues("xlogin", xlogin)] as const] : []),
          ...(groups.length > 0 ? [["group", attributeValues("group", groups)] as const] : []),
        ]),
        extra: new Map(Object.entries(extra).map(([name, value]) => [name, [value]])),
      });
    },
    close: () => {},
  };
  return new ShareOwners(source, accountStatus, SILENT);
}

const limits = (sources: Sources, made?: Making) =>
  ownersWith(sources).limits({ ...SHARE, ...(made && { made }) }, NEVER);

const mapped = (sources: Sources) => ownersWith(sources).mapped("CN=Alice, O=Example", SHARE, NEVER);

Deno.test("ShareOwners asks the sources about an owner who is not there", async () => {
  const extra = {
    "uftpd.HPC.includes": "/data/*",
    "uftpd.HPC.excludes": "/data/x",
    "uftpd.OTHER.excludes": "/y",
  };
  assertAlike(await limits({ role: "user", extra }), [{ includes: "/data/*", excludes: "/data/x" }]);
  assertAlike(await limits({ role: "user" }), [{}]);
});

Deno.test("ShareOwners gives no more than at the making of a share, and no more than now", async () => {
  const made = { ...MADE, mappedAccount: false, mappedRole: false, limits: { excludes: "secret/*" } };
  assertAlike(await limits({}, made), [{}, { excludes: "secret/*" }]);
  const extra = { "uftpd.HPC.includes": "/data/*" };
  assertAlike(await limits({ extra }, made), [{ includes: "/data/*" }, { excludes: "secret/*" }]);
});

Deno.test("ShareOwners ends the shares of a banned owner", async () => {
  await assert.rejects(limits({ role: "banned" }), { code: "ERR_SHARE_NOT_FOUND" });
  await assert.rejects(limits({ role: "banned", accounts: () => [SHARE.uid] }, MADE), {
    code: "ERR_SHARE_NOT_FOUND",
  });
});

Deno.test("ShareOwners ends the shares of an owner whose account is another one by now", async () => {
  await assert.rejects(limits({ role: "user", accounts: () => ["other"] }), { code: "ERR_SHARE_NOT_FOUND" });
  const extra = { "uftpd.HPC.xlogin": "other" };
  await assert.rejects(limits({ role: "user", extra }), { code: "ERR_SHARE_NOT_FOUND" });
  await assert.rejects(limits({ role: "user", extra, accounts: () => [SHARE.uid] }), {
    code: "ERR_SHARE_NOT_FOUND",
  });
});

Deno.test("ShareOwners leaves an owner any account that is still theirs", async () => {
  assertAlike(await limits({ role: "user", accounts: () => ["other", SHARE.uid] }), [{}]);
  const extra = { "uftpd.HPC.xlogin": SHARE.uid };
  assertAlike(await limits({ role: "user", extra, accounts: () => ["other"] }), [{}]);
  // Found out by authentication, which is not there to be asked.
  assertAlike(await limits({ role: "user", accounts: (uid) => ["other", uid] }), [{}]);
});

const GONE: [string, Sources][] = [
  ["was taken out of the sources", {}],
  ["has another account", { role: "user", accounts: () => ["other"], groups: ["hpc"] }],
  ["lost the group of the share", { role: "user", accounts: () => [SHARE.uid], groups: ["users"] }],
  ["may not share any more", { role: "guest", accounts: () => [SHARE.uid], groups: ["hpc"] }],
  ["has a role by default alone", { accounts: () => [SHARE.uid], groups: ["hpc"] }],
  // As AUTO does: it would give back whatever account it is told.
  ["only has the account that is asked for", { role: "user", accounts: (uid) => [uid], groups: ["hpc"] }],
];

for (const [what, sources] of GONE) {
  Deno.test(`ShareOwners ends the shares of an owner who ${what}`, async () => {
    await assert.rejects(limits(sources, MADE), { code: "ERR_SHARE_NOT_FOUND" });
  });
}

Deno.test("ShareOwners holds the sources to what they said when the share was made, and to no more", async () => {
  const whole: Sources = { role: "user", accounts: () => ["first", SHARE.uid], groups: ["users", "hpc"] };
  assertAlike(await mapped(whole), { mappedAccount: true, mappedRole: true });
  assertAlike(await limits(whole, MADE), [{}, {}]);
  assertAlike(await mapped({ ...whole, role: "guest" }), { mappedAccount: true, mappedRole: false });
  assertAlike(await mapped({ role: "user" }), { mappedAccount: false, mappedRole: true });
  assertAlike(await mapped({ accounts: (uid) => [uid] }), { mappedAccount: false, mappedRole: false });
  // The role came with the login.
  assertAlike(await limits({ ...whole, role: "guest" }, { ...MADE, mappedRole: false }), [{}, {}]);
  assertAlike(await limits({ role: "user" }, { ...MADE, mappedAccount: false }), [{}, {}]);
});

Deno.test("ShareOwners asks by the name as it was proved, and for shares from before by the one that there is", async () => {
  const asked: string[] = [];
  const named: NamedOwner[] = [];
  const owners = ownersWith({ role: "user", accounts: () => [SHARE.uid], groups: ["hpc"] }, {
    asked,
    accountStatus: (owner) => {
      named.push(owner);
      return Promise.resolve({ kind: "known" });
    },
  });
  await owners.limits({ ...SHARE, made: MADE }, NEVER);
  await owners.limits(SHARE, NEVER);
  assertAlike(asked, [MADE.owner.dn, SHARE.owner]);
  assertAlike(named, [MADE.owner, { dn: SHARE.owner, uid: SHARE.uid }]);
});

Deno.test("ShareOwners ends the shares of owners whom their source does not know any more", async () => {
  const sources: Sources = { role: "user", accounts: () => [SHARE.uid], groups: ["hpc"] };
  const ask = (accountStatus: AskAccountStatus) =>
    ownersWith(sources, { accountStatus }).limits({ ...SHARE, made: MADE }, NEVER);
  await assert.rejects(ask(() => Promise.resolve({ kind: "gone" })), { code: "ERR_SHARE_NOT_FOUND" });
  await assert.rejects(ask(() => Promise.resolve({ kind: "known", servers: ["OTHER"] })), {
    code: "ERR_SHARE_NOT_FOUND",
  });
  assertAlike(await ask(() => Promise.resolve({ kind: "known", servers: ["OTHER", "HPC"] })), [{}, {}]);
  assertAlike(await ask(() => Promise.resolve({ kind: "cannot tell" })), [{}, {}]);
  const outOfOrder = httpError("ERR_TOO_MUCH_WORK");
  await assert.rejects(ask(() => Promise.reject(outOfOrder)), outOfOrder);
});
