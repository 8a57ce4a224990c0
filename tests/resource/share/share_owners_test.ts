import assert from "node:assert/strict";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import { AttributeChain, withAutomaticSource } from "../../../src/attributes/attribute_chain.ts";
import type { AttributeSource } from "../../../src/attributes/attribute_source.ts";
import type { AccountLookup, AccountStatus } from "../../../src/authentication/account_status.ts";
import type { CombiningPolicy } from "../../../src/config/keys/attribute_keys.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { attributeValues } from "../../../src/model/attributes.ts";
import { httpError } from "../../../src/model/http_error.ts";
import type { Identity } from "../../../src/model/identity.ts";
import { ShareOwners } from "../../../src/resource/share/share_owners.ts";
import type { CreationRights, NamedOwner, Share } from "../../../src/sharing/share.ts";
import { DRAFT } from "../../sharing/store/conformance.ts";

const SHARE: Share = { ...DRAFT, server: "HPC", id: "x", accessCount: 0, created: 0 };

/** Creation rights of a share whose account, group and role came from the sources. */
const MADE: CreationRights = {
  owner: { dn: "CN=Alice, O=Example", via: "PASSWORD", login: "alice" },
  mappedGroup: true,
  mappedRole: true,
  atHome: false,
  limits: {},
};

/** Creation rights of a share whose account, group and role came with the login. */
const BY_LOGIN: CreationRights = {
  ...MADE,
  owner: { ...MADE.owner, uid: SHARE.uid },
  mappedGroup: false,
  mappedRole: false,
};

/** Attributes of the owner from a source. */
interface Told {
  readonly role?: string;
  readonly extra?: Readonly<Record<string, string>>;
  readonly accounts?: readonly string[];
  readonly groups?: readonly string[];
}

type Sources = Told | ((uid: string | undefined) => Told);

const NEVER = new AbortController().signal;

/** Returns owners with a chain of one source and the automatic source. */
function ownersWith(
  sources: Sources,
  {
    accountStatus = () => Promise.resolve({ kind: "cannot tell" }),
    asked = [],
    policy = "MERGE_LAST_OVERRIDES",
    outage,
  }: {
    readonly accountStatus?: AccountLookup;
    readonly asked?: string[];
    readonly policy?: CombiningPolicy;
    /** Of the source, which is optional. */
    readonly outage?: Error;
  } = {},
): ShareOwners {
  const source: AttributeSource = {
    name: "FILE",
    attributesOf: ({ dn, uid }) => {
      asked.push(dn);
      if (outage !== undefined) return Promise.reject(outage);
      const { role, extra = {}, accounts, groups } = typeof sources === "function" ? sources(uid) : sources;
      return Promise.resolve({
        standard: new Map([
          ...(role === undefined ? [] : [["role", attributeValues("role", [role])] as const]),
          ...(accounts === undefined ? [] : [["xlogin", attributeValues("xlogin", accounts)] as const]),
          ...(groups === undefined ? [] : [["group", attributeValues("group", groups)] as const]),
        ]),
        extra: new Map(Object.entries(extra).map(([name, value]) => [name, [value]])),
      });
    },
    close: () => {},
  };
  const links = withAutomaticSource([{ source, optional: outage !== undefined }], policy);
  const chain = new AttributeChain({ name: "all", links, policy, log: SILENT });
  return new ShareOwners(chain, accountStatus, SILENT);
}

const limits = (sources: Sources, made?: CreationRights) =>
  ownersWith(sources).limits({ ...SHARE, ...(made && { made }) }, NEVER);

const LOGIN: Identity = { dn: "CN=Alice, O=Example", method: "PASSWORD_FILE", via: "PASSWORD" };

const mapped = (sources: Sources, login: Partial<Identity> = {}, share: Share = SHARE) =>
  ownersWith(sources).mapped({ ...LOGIN, ...login }, share, NEVER);

const LOST = { code: "ERR_SHARE_NOT_FOUND" };

Deno.test("ShareOwners asks the sources about an absent owner", async () => {
  const extra = {
    "uftpd.HPC.includes": "/data/*",
    "uftpd.HPC.excludes": "/data/x",
    "uftpd.OTHER.excludes": "/y",
  };
  assertAlike(await limits({ role: "user", extra }), [{ includes: "/data/*", excludes: "/data/x" }]);
  assertAlike(await limits({ role: "user" }), [{}]);
});

Deno.test("ShareOwners applies the owner's limits at the creation of a share, and those of now", async () => {
  const made = { ...BY_LOGIN, limits: { excludes: "secret/*" } };
  assertAlike(await limits({}, made), [{}, { excludes: "secret/*" }]);
  const extra = { "uftpd.HPC.includes": "/data/*" };
  assertAlike(await limits({ extra }, made), [{ includes: "/data/*" }, { excludes: "secret/*" }]);
});

Deno.test("ShareOwners ends the shares of a banned owner", async () => {
  await assert.rejects(limits({ role: "banned" }), LOST);
  await assert.rejects(limits({ role: "banned" }, BY_LOGIN), LOST);
  await assert.rejects(limits({ role: "banned", accounts: [SHARE.uid] }, MADE), LOST);
});

Deno.test("ShareOwners ends the shares of an owner whose account has changed", async () => {
  const extra = { "uftpd.HPC.xlogin": "other" };
  for (const made of [undefined, BY_LOGIN]) {
    await assert.rejects(limits({ role: "user", accounts: ["other"] }, made), LOST);
    await assert.rejects(limits({ role: "user", accounts: [] }, made), LOST);
    await assert.rejects(limits({ role: "user", extra }, made), LOST);
    await assert.rejects(limits({ role: "user", extra, accounts: [SHARE.uid] }, made), LOST);
  }
});

Deno.test("ShareOwners keeps the shares of an owner who still has the account among others", async () => {
  assertAlike(await limits({ role: "user", accounts: ["other", SHARE.uid] }), [{}]);
  const extra = { "uftpd.HPC.xlogin": SHARE.uid };
  assertAlike(await limits({ role: "user", extra, accounts: ["other"] }), [{}]);
  // The account came from authentication, which is not available now.
  assertAlike(await limits((uid = "") => ({ role: "user", accounts: ["other", uid] })), [{}]);
});

const GONE: [string, Sources][] = [
  ["was removed from the sources", {}],
  ["has another account", { role: "user", accounts: ["other"], groups: ["hpc"] }],
  ["lost the group of the share", { role: "user", accounts: [SHARE.uid], groups: ["users"] }],
  ["may no longer share", { role: "guest", accounts: [SHARE.uid], groups: ["hpc"] }],
  ["has only a default role", { accounts: [SHARE.uid], groups: ["hpc"] }],
  ["has no account", { role: "user", groups: ["hpc"] }],
];

for (const [what, sources] of GONE) {
  Deno.test(`ShareOwners ends the shares of an owner who ${what}`, async () => {
    await assert.rejects(limits(sources, MADE), LOST);
  });
}

Deno.test("ShareOwners requires from the sources only what they gave when the share was created", async () => {
  const whole: Told = { role: "user", accounts: ["first", SHARE.uid], groups: ["users", "hpc"] };
  assertAlike(await mapped(whole), { mappedGroup: true, mappedRole: true });
  assertAlike(await limits(whole, MADE), [{}, {}]);
  assertAlike(await mapped({ ...whole, role: "guest" }), { mappedGroup: true, mappedRole: false });
  assertAlike(await mapped({ ...whole, groups: ["users"] }), { mappedGroup: false, mappedRole: true });
  // Group and role came with the login.
  const login = { uid: SHARE.uid, role: "user", groups: ["hpc"] };
  assertAlike(await mapped({}, login), { mappedGroup: false, mappedRole: false });
  assertAlike(await limits({ ...whole, role: "guest" }, { ...MADE, mappedRole: false }), [{}, {}]);
  assertAlike(await limits({ ...whole, groups: ["users"] }, { ...MADE, mappedGroup: false }), [{}, {}]);
  assertAlike(await limits({}, BY_LOGIN), [{}, {}]);
});

Deno.test("ShareOwners compares each group of a list", async () => {
  const share = { ...SHARE, gid: "hpc:lab" };
  const whole: Told = { role: "user", accounts: [SHARE.uid], groups: ["users", "lab", "hpc"] };
  assertAlike(await mapped(whole, {}, share), { mappedGroup: true, mappedRole: true });
  const now = (groups: readonly string[]) =>
    ownersWith({ ...whole, groups }).limits({ ...share, made: MADE }, NEVER);
  assertAlike(await now(["lab:hpc"]), [{}, {}]);
  for (const groups of [["hpc"], ["lab"], []]) await assert.rejects(now(groups), LOST);
});

const MERGED = ["MERGE_LAST_OVERRIDES", "MERGE"] as const;

/** Combining policies, attributes of the login, and those of the sources when a share is made and later. */
const LOSSES: [
  string,
  readonly CombiningPolicy[],
  Partial<Identity>,
  then: Sources,
  now: readonly Sources[],
][] = [
  [
    "the account of the sources, in a group of the login",
    [...MERGED, "FIRST_APPLICABLE"],
    { role: "user", groups: ["hpc"] },
    { accounts: [SHARE.uid] },
    [{}, { accounts: ["other"] }],
  ],
  [
    "the group of the sources, in the account of the login",
    MERGED,
    { uid: SHARE.uid },
    { groups: ["hpc", "users"] },
    [{}, { groups: ["users"] }],
  ],
  [
    "the account of the login, which the sources remove",
    ["MERGE_LAST_OVERRIDES", "FIRST_APPLICABLE"],
    { uid: SHARE.uid },
    {},
    [{ accounts: [] }],
  ],
  [
    "the account that a source gives for that of the login",
    [...MERGED, "FIRST_APPLICABLE"],
    { uid: "ann" },
    (uid) => uid === "ann" ? { role: "user", accounts: [SHARE.uid] } : {},
    [
      (uid) => uid === "ann" ? {} : { role: "user", accounts: [SHARE.uid] },
      (uid) => uid === "ann" ? { role: "user", accounts: ["other"] } : {},
      (uid) => uid === "ann" ? { role: "guest", accounts: [SHARE.uid] } : {},
      (uid) => uid === "ann" ? { role: "banned", accounts: [SHARE.uid] } : {},
    ],
  ],
];

for (const [what, policies, login, then, now] of LOSSES) {
  for (const policy of policies) {
    Deno.test(`ShareOwners ends the shares of an owner who lost ${what}, by ${policy}`, async () => {
      const { dn, via, uid } = { ...LOGIN, ...login };
      const owner = { dn, via, uid };
      const facts = await ownersWith(then, { policy }).mapped({ ...LOGIN, ...login }, SHARE, NEVER);
      const share = { ...SHARE, made: { ...MADE, ...facts, owner } };
      assertAlike(await ownersWith(then, { policy }).limits(share, NEVER), [{}, {}]);
      for (const sources of now) {
        await assert.rejects(ownersWith(sources, { policy }).limits(share, NEVER), LOST);
      }
    });
  }
}

Deno.test("ShareOwners applies the limits of the login's account, not of the share's", async () => {
  const made = { ...BY_LOGIN, owner: { ...LOGIN, uid: "ann" } };
  const sources = (uid: string | undefined) => ({
    accounts: [SHARE.uid],
    extra: { "uftpd.HPC.excludes": uid === "ann" ? "/secret/*" : "/other/*" },
  });
  assertAlike(await limits(sources, made), [{ excludes: "/secret/*" }, {}]);
});

Deno.test("ShareOwners looks up the name as the login proved it, and for older shares the stored name", async () => {
  const asked: string[] = [];
  const named: NamedOwner[] = [];
  const owners = ownersWith({ role: "user", accounts: [SHARE.uid], groups: ["hpc"] }, {
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

Deno.test("ShareOwners ends the shares of owners whom their source no longer knows", async () => {
  const ask = (accountStatus: AccountLookup) =>
    ownersWith({}, { accountStatus }).limits({ ...SHARE, made: BY_LOGIN }, NEVER);
  await assert.rejects(ask(() => Promise.resolve({ kind: "gone" })), LOST);
  await assert.rejects(ask(() => Promise.resolve({ kind: "known", servers: ["OTHER"] })), LOST);
  assertAlike(await ask(() => Promise.resolve({ kind: "known", servers: ["OTHER", "HPC"] })), [{}, {}]);
  assertAlike(await ask(() => Promise.resolve({ kind: "cannot tell" })), [{}, {}]);
  const outOfOrder = httpError("ERR_TOO_MUCH_WORK");
  await assert.rejects(ask(() => Promise.reject(outOfOrder)), outOfOrder);
});

Deno.test("ShareOwners does not end shares while an optional source of account and role is out of order", async () => {
  const outage = httpError("ERR_ATTRIBUTE_SOURCE", "Attribute source LDAP: it cannot be reached");
  const owners = ownersWith({}, { outage });
  for (const made of [MADE, { ...MADE, mappedRole: false }, { ...BY_LOGIN, mappedRole: true }]) {
    await assert.rejects(owners.limits({ ...SHARE, made }, NEVER), outage);
  }
  assertAlike(await owners.limits({ ...SHARE, made: BY_LOGIN }, NEVER), [{}, {}]);
});

Deno.test("ShareOwners ignores an account that the login proves only for another server", async () => {
  const elsewhere: AccountStatus = { kind: "known", servers: ["OTHER"] };
  const login = { uid: SHARE.uid, uidServers: ["OTHER"] };
  const named: Told = { role: "user", accounts: ["first", SHARE.uid], groups: ["hpc"] };
  const ask = (sources: Sources, made: CreationRights) =>
    ownersWith(sources, { accountStatus: () => Promise.resolve(elsewhere) })
      .limits({ ...SHARE, made }, NEVER);
  assertAlike(await mapped(named, login), { mappedGroup: true, mappedRole: true });
  assertAlike(await ask(named, { ...BY_LOGIN, mappedGroup: true }), [{}, {}]);
  const extra = { "uftpd.HPC.xlogin": SHARE.uid };
  assertAlike(await ask({ extra }, BY_LOGIN), [{}, {}]);
  const proved = (uid: string | undefined) => uid === undefined ? {} : named;
  assertAlike(await mapped(proved, login), { mappedGroup: false, mappedRole: true });
  await assert.rejects(ask(proved, BY_LOGIN), LOST);
});
