import assert from "node:assert/strict";
import { AttributeChain, withAutomaticSource } from "../../src/attributes/attribute_chain.ts";
import type { AttributeSource } from "../../src/attributes/attribute_source.ts";
import { type Preferences, selectAttributes, userAttributes } from "../../src/attributes/user_attributes.ts";
import { accountsOf, attributesOnServer, hasGroups } from "../../src/attributes/server_attributes.ts";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import { type AttributeSet, NO_ATTRIBUTES } from "../../src/model/attributes.ts";
import type { Identity } from "../../src/model/identity.ts";
import { HttpError, httpError, isHttpError } from "../../src/model/http_error.ts";
import { attributeSet, identity } from "./conformance.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";

const signal = new AbortController().signal;
const log = SILENT;

const ANN = attributeSet({
  role: ["user", "admin"],
  xlogin: ["a1001", "a1002"],
  group: ["proj1", "proj2"],
  supplementaryGroups: ["fast", "lab", "proj1"],
  queue: ["normal", "big"],
}, { note: ["x"] });

function source(attributes: AttributeSet): AttributeSource {
  return { name: "FILE", attributesOf: () => Promise.resolve(attributes), close: () => {} };
}

/** Returns a chain of one map and the automatic source. */
function mapped(attributes: AttributeSet): AttributeSource {
  const policy = "MERGE_LAST_OVERRIDES";
  const links = withAutomaticSource([{ source: source(attributes), optional: false }], policy);
  return new AttributeChain({ name: "chain", links, policy, log });
}

Deno.test("selectAttributes() uses the defaults", () => {
  assert.deepEqual(selectAttributes(ANN, {}), {
    role: "user",
    availableRoles: ["user", "admin"],
    uid: "a1001",
    availableUids: ["a1001", "a1002"],
    group: "proj1",
    furtherGroups: undefined,
    availableGroups: ["proj1", "proj2", "fast", "lab"],
    supplementaryGroups: ["fast", "lab", "proj1"],
    extra: ANN.extra,
  });
});

Deno.test("selectAttributes() uses the caller's preferences", () => {
  const preferences = { uid: "a1002", group: "lab", role: "admin", supplementaryGroups: ["proj2", "lab"] };
  const { uid, group, role, supplementaryGroups } = selectAttributes(ANN, preferences);
  assert.deepEqual({ uid, group, role, supplementaryGroups }, preferences);
});

Deno.test("selectAttributes() refuses a preference that is not among the caller's values", () => {
  const wrong: readonly Preferences[] = [
    { uid: "root" },
    { uid: "A1001" },
    { group: "other" },
    { role: "server" },
    { supplementaryGroups: ["fast", "other"] },
  ];
  for (const preferences of wrong) {
    assert.throws(
      () => selectAttributes(ANN, preferences),
      (error) => isHttpError(error, "ERR_PREFERENCE_NOT_ALLOWED") && error.status === 403,
    );
  }
});

Deno.test("selectAttributes() ignores a preference for an attribute of which the caller has no values", () => {
  const preferences = { uid: "a", group: "g", role: "admin", supplementaryGroups: ["s"] };
  assertAlike(selectAttributes(attributeSet({}), preferences), {
    role: "anonymous",
    availableRoles: ["anonymous"],
    availableUids: [],
    availableGroups: [],
    supplementaryGroups: [],
    extra: new Map(),
  });
  const { group, supplementaryGroups } = selectAttributes(attributeSet({ xlogin: ["a"] }), preferences);
  assert.deepEqual({ group, supplementaryGroups }, { group: undefined, supplementaryGroups: [] });
});

Deno.test("selectAttributes() gives groups only with an account", () => {
  const { uid, group, availableGroups } = selectAttributes(
    attributeSet({ role: ["user"], group: ["g"] }),
    {},
  );
  assert.deepEqual({ uid, group, availableGroups }, {
    uid: undefined,
    group: undefined,
    availableGroups: [],
  });
});

Deno.test("selectAttributes() uses the first value of group, else the first supplementary group", () => {
  assert.equal(
    selectAttributes(attributeSet({ xlogin: ["a"], supplementaryGroups: ["s1", "s2"] }), {}).group,
    "s1",
  );
});

Deno.test("selectAttributes() keeps a ban whatever role the caller prefers", () => {
  const merged = attributeSet({ role: ["user", "banned"] });
  assert.equal(selectAttributes(merged, {}).role, "banned");
  assert.equal(selectAttributes(merged, { role: "user" }).role, "banned");
});

Deno.test("userAttributes() uses the preferences in a token instead of those of the request", async () => {
  const token = { issuer: "CN=x", renewable: false, preferences: "uid:a1002" };
  const user = await userAttributes(source(ANN), identity("CN=Ann", { issuedToken: token }), {
    preferences: { uid: "a1001", role: "admin" },
    signal,
  });
  assert.deepEqual([user.uid, user.role], ["a1002", "user"]);
});

const OUT_OF_ORDER = httpError("ERR_ATTRIBUTE_SOURCE", "out of order");

/** Returns the error code for a token that `CN=Boss` issued for `CN=Ann`, or the accounts whose bans concern it. */
async function tokenOfBoss(
  boss: AttributeSet | HttpError,
  { byUid, byRole, optional = false }: { byUid?: string; byRole?: string; optional?: boolean } = {},
) {
  const file: AttributeSource = {
    name: "FILE",
    attributesOf: ({ dn }) => {
      if (dn === "CN=Ann") return Promise.resolve(ANN);
      return boss instanceof HttpError ? Promise.reject(boss) : Promise.resolve(boss);
    },
    close: () => {},
  };
  const policy = "MERGE_LAST_OVERRIDES";
  const links = withAutomaticSource([{ source: file, optional }], policy);
  const chain = new AttributeChain({ name: "chain", links, policy, log });
  const issuedToken = { issuer: "CN=x", renewable: false, by: "CN=Boss", byUid, byRole };
  try {
    const user = await userAttributes(chain, identity("CN=Ann", { issuedToken }), {
      preferences: {},
      signal,
    });
    assert.deepEqual([user.role, user.uid], ["user", "a1001"]);
    return accountsOf(user);
  } catch (error) {
    assert.ok(error instanceof HttpError, String(error));
    return error.code;
  }
}

Deno.test("userAttributes() refuses tokens that a banned administrator issued", async () => {
  const ban = attributeSet({ role: ["banned"], xlogin: ["b1"] });
  for (const byRole of [undefined, "anonymous", "user", "admin"]) {
    assert.equal(await tokenOfBoss(ban, { byRole }), "ERR_FORBIDDEN");
    assert.equal(await tokenOfBoss(ban, { byRole, byUid: "boss" }), "ERR_FORBIDDEN");
  }
});

Deno.test("userAttributes() refuses tokens of an administrator whom no source knows any more, except tokens of an earlier version", async () => {
  assert.equal(await tokenOfBoss(NO_ATTRIBUTES, { byRole: "anonymous" }), "ERR_FORBIDDEN");
  assert.deepEqual(await tokenOfBoss(NO_ATTRIBUTES), ["a1001"], "of an earlier version");
  assert.deepEqual(
    await tokenOfBoss(NO_ATTRIBUTES, { byRole: "admin" }),
    ["a1001"],
    "the login gave the role",
  );
  assert.deepEqual(await tokenOfBoss(NO_ATTRIBUTES, { byRole: "user", byUid: "boss" }), ["a1001", "boss"]);
  const demoted = attributeSet({ role: ["user"] });
  assert.deepEqual(await tokenOfBoss(demoted, { byRole: "anonymous" }), ["a1001"]);
});

Deno.test("userAttributes() also returns the accounts of the administrator, which a ban may concern", async () => {
  const accounts = attributeSet({ role: ["admin"], xlogin: ["b1"] }, { "uftpd.HPC.xlogin": ["b2"] });
  assert.deepEqual(await tokenOfBoss(accounts, { byRole: "anonymous" }), ["a1001", "b1", "b2"]);
});

Deno.test("userAttributes() does not treat an outage of a source as the end of the administrator", async () => {
  assert.equal(await tokenOfBoss(OUT_OF_ORDER, { byRole: "anonymous" }), "ERR_ATTRIBUTE_SOURCE");
  assert.equal(await tokenOfBoss(OUT_OF_ORDER, { byRole: "admin" }), "ERR_ATTRIBUTE_SOURCE");
  const optional = true;
  assert.equal(await tokenOfBoss(OUT_OF_ORDER, { byRole: "anonymous", optional }), "ERR_ATTRIBUTE_SOURCE");
  assert.deepEqual(await tokenOfBoss(OUT_OF_ORDER, { byRole: "admin", optional }), ["a1001"]);
});

// An account proven by the key of daemon ALPHA only (design decision "Account names across daemons").
const PROVEN = identity("CN=ann, OU=ssh-local-users", {
  uid: "ann",
  role: "user",
  groups: ["g"],
  uidServers: ["ALPHA"],
});

async function accountOn(
  server: string,
  attributes: AttributeSet,
  who: Identity = PROVEN,
  preferences: Preferences = {},
) {
  const user = await userAttributes(mapped(attributes), who, { preferences, signal });
  try {
    return attributesOnServer(user, server, { log }).uid;
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
}

Deno.test("userAttributes() gives an account proven on some servers only there", async () => {
  assert.equal(await accountOn("ALPHA", attributeSet({})), "ann");
  assert.equal(await accountOn("BETA", attributeSet({})), "NoAccount");
  assert.equal(
    await accountOn("BETA", attributeSet({}), { ...PROVEN, uidServers: ["ALPHA", "BETA"] }),
    "ann",
  );
  const { uidServers: _, ...everywhere } = PROVEN;
  assert.equal(await accountOn("BETA", attributeSet({}), everywhere), "ann");
});

Deno.test("userAttributes() gives on other servers the account that a source assigns", async () => {
  assert.equal(await accountOn("BETA", attributeSet({ xlogin: ["ann"] })), "ann");
  assert.equal(await accountOn("BETA", attributeSet({ xlogin: ["a7"] })), "a7");
  assert.equal(await accountOn("BETA", attributeSet({}, { "uftpd.BETA.xlogin": ["b7"] })), "b7");
  assert.equal(await accountOn("GAMMA", attributeSet({}, { "uftpd.BETA.xlogin": ["b7"] })), "NoAccount");
});

Deno.test("userAttributes() gives on other servers no account but the preferred one", async () => {
  const attributes = attributeSet({ xlogin: ["a7", "a8"] });
  assert.equal(await accountOn("BETA", attributes, PROVEN, { uid: "a8" }), "a8");
  const merged = new AttributeChain({
    name: "chain",
    links: withAutomaticSource([{ source: source(attributes), optional: false }], "MERGE"),
    policy: "MERGE",
    log,
  });
  const user = await userAttributes(merged, PROVEN, { preferences: { uid: "ann" }, signal });
  assert.equal(attributesOnServer(user, "ALPHA", { log }).uid, "ann");
  assert.throws(() => attributesOnServer(user, "BETA", { log }), { code: "ERR_NO_ACCOUNT" });
});

/** Returns the attributes on server S of a user with these extra attributes. */
const onS = (extra: Record<string, string[]>, standard = ANN.standard, requestedGroup?: string) =>
  attributesOnServer(selectAttributes({ standard, extra: new Map(Object.entries(extra)) }, {}), "S", {
    log,
    ...(requestedGroup === undefined ? {} : { requestedGroup }),
  });

Deno.test("attributesOnServer() without attributes for the server gives the user's selection", () => {
  assertAlike(
    onS({ "uftpd.T.xlogin": ["t"], "uftpd.s.xlogin": ["t"], "UFTPD.S.xlogin": ["t"], "uftpd.S.other": [] }),
    {
      uid: "a1001",
      gid: "proj1",
      groups: "proj1",
      availableGroups: ["proj1", "proj2", "fast", "lab"],
      rateLimit: 0,
    },
  );
});

Deno.test("attributesOnServer() uses the server's own attributes", () => {
  assert.deepEqual(
    onS({
      "uftpd.S.xlogin": ["first", "s7"],
      "uftpd.S.group": ["sgroup"],
      "uftpd.S.rateLimit": ["200M"],
      "uftpd.S.includes": ["/data/*:/scratch/*"],
      "uftpd.S.excludes": ["/data/secret/*"],
    }),
    {
      uid: "s7",
      gid: "sgroup",
      groups: "sgroup",
      availableGroups: ["proj1", "proj2", "fast", "lab", "sgroup"],
      rateLimit: 209715200,
      includes: "/data/*:/scratch/*",
      excludes: "/data/secret/*",
    },
  );
});

Deno.test("attributesOnServer() gives a requested group, unless the server has its own", () => {
  assert.equal(onS({}, ANN.standard, "fast").gid, "fast");
  assert.equal(onS({ "uftpd.S.group": ["own"] }, ANN.standard, "fast").gid, "own");
  for (const group of ["other", "", "Fast"]) {
    assert.throws(() => onS({ "uftpd.S.group": ["own"] }, ANN.standard, group), {
      code: "ERR_GROUP_NOT_AVAILABLE",
      status: 400,
    });
  }
});

Deno.test("attributesOnServer() needs an account, of the user or of the server", () => {
  const none = attributeSet({ role: ["user"], group: ["g"] }).standard;
  assert.throws(() => onS({}, none), { code: "ERR_NO_ACCOUNT", status: 401 });
  assert.throws(() => onS({ "uftpd.T.xlogin": ["t"] }, none), { code: "ERR_NO_ACCOUNT" });
  assert.throws(() => onS({}, none, "g"), { code: "ERR_GROUP_NOT_AVAILABLE" });
  assertAlike(onS({ "uftpd.S.xlogin": ["s"] }, none), {
    uid: "s",
    availableGroups: [],
    rateLimit: 0,
  });
});

Deno.test("attributesOnServer() never gives a privileged account", () => {
  for (const account of ["root", "toor", "0", "00"]) {
    assert.throws(() => onS({ "uftpd.S.xlogin": [account] }), { code: "ERR_ACCOUNT_REFUSED", status: 403 });
    assert.throws(() => onS({}, attributeSet({ xlogin: [account] }).standard), {
      code: "ERR_ACCOUNT_REFUSED",
    });
  }
});

/** Bad values, which must refuse the session: any other reading would lift a limit or name somebody else. */
const UNUSABLE: readonly (readonly [string, readonly string[]])[] = [
  ...["-5", "1.5M", "100 Tera", "fast", "99999999999999999999", ""].map((rate) =>
    ["rateLimit", [rate]] as const
  ),
  ["rateLimit", []],
  ["includes", [":"]],
  ["excludes", ["::", ""]],
  ["xlogin", []],
  ["xlogin", [""]],
  ["xlogin", ["a b"]],
  ["xlogin", ["a\nuser=root"]],
  ["xlogin", ["-a"]],
  ["group", ["g1:-g2"]],
  ["group", [":"]],
  ["group", []],
  ["group", ["g\n"]],
];

Deno.test("attributesOnServer() refuses a session for a value that it cannot use", () => {
  for (const [suffix, values] of UNUSABLE) {
    assert.throws(
      () => onS({ [`uftpd.S.${suffix}`]: [...values] }),
      { code: "ERR_USER_ATTRIBUTE", status: 500 },
      `${suffix} ${values}`,
    );
  }
});

Deno.test("attributesOnServer() reads several groups from one text or several, and lists them as available", () => {
  for (const values of [["games:users"], ["games:users", "games"], ["games", "users"]]) {
    const { gid, groups, availableGroups } = onS({ "uftpd.S.group": values });
    assert.deepEqual([gid, groups], ["games", "games:users"], `${values}`);
    assert.deepEqual(availableGroups.slice(-2), ["games", "users"]);
  }
});

Deno.test("hasGroups() requires each group of a list, chosen or available", () => {
  const account = onS({ "uftpd.S.group": ["games:users"] });
  for (const list of [undefined, "games", "games:users", "users:games", "proj1:users"]) {
    assert.ok(hasGroups(account, list), list);
  }
  for (const list of ["", "other", "games:other"]) assert.ok(!hasGroups(account, list), list);
});

Deno.test("attributesOnServer() joins lists of paths, so that no exclusion is lost", () => {
  const { includes, excludes } = onS({
    "uftpd.S.includes": ["/a/*", "/b/*"],
    "uftpd.S.excludes": ["x", "y"],
  });
  assert.deepEqual([includes, excludes], ["/a/*:/b/*", "x:y"]);
});

Deno.test("attributesOnServer() treats an empty list of paths as none, and logs it", () => {
  for (const suffix of ["includes", "excludes"] as const) {
    const lines: string[] = [];
    const user = selectAttributes(
      { standard: ANN.standard, extra: new Map([[`uftpd.S.${suffix}`, [""]]]) },
      {},
    );
    const found = attributesOnServer(user, "S", { log: createLogger((line) => lines.push(line)) });
    assert.equal(found[suffix], undefined);
    assert.match(lines.join(), /an empty list of paths limits nothing/);
  }
});

Deno.test("attributesOnServer() does not reveal a bad value to the caller", () => {
  assert.throws(() => onS({ "uftpd.S.rateLimit": ["secret7"] }), (error) => {
    assert.ok(error instanceof Error && "publicMessage" in error);
    assert.ok(!String(error.publicMessage).includes("secret7") && !error.message.includes("secret7"));
    return true;
  });
});
