import assert from "node:assert/strict";
import { AttributeChain, withAutomaticSource } from "../../src/attributes/attribute_chain.ts";
import { fileAttributeSource } from "../../src/attributes/file/file_attribute_source.ts";
import { parsePreferences, userAttributes } from "../../src/attributes/user_attributes.ts";
import { attributesOnServer } from "../../src/attributes/server_attributes.ts";
import { XuudbSource } from "../../src/attributes/xuudb/xuudb_source.ts";
import { Assignments } from "../../src/authentication/assignments.ts";
import { type GroupRules, Groups } from "../../src/authentication/oauth/groups.ts";
import { SILENT } from "../../src/logging/logger.ts";
import type { Identity } from "../../src/model/identity.ts";
import { HttpError } from "../../src/model/http_error.ts";
import { assignments } from "../authentication/remote_subject.ts";
import { identity } from "./conformance.ts";
import { LOOPBACK_HTTP, startXuudb } from "./xuudb/xuudb_simulator.ts";

const signal = new AbortController().signal;
const DN = "CN=Ann, O=Site";

interface Asked {
  readonly entry?: Readonly<Record<string, unknown>>;
  readonly found?: Partial<Identity>;
  readonly projects?: string; // in the XUUDB
  readonly preferences?: string;
  readonly requestedGroup?: string;
}

/** Returns account and groups that server S's daemon gets, through the sources of a service. */
async function toldToDaemon(
  { entry = {}, found = {}, projects, preferences, requestedGroup }: Asked,
): Promise<string> {
  await using opened = new AsyncDisposableStack();
  const file = opened.adopt(await Deno.makeTempFile({ suffix: ".json" }), (file) => Deno.remove(file));
  await Deno.writeTextFile(file, JSON.stringify({ [DN]: { role: "user", ...entry } }));
  const source = await fileAttributeSource({
    name: "FILE",
    file,
    matching: "strict",
    log: SILENT,
    intervalMs: 60_000,
  });
  opened.defer(() => source.close());
  const links = [{ source, optional: false }];
  if (projects !== undefined) {
    const { address } = opened.use(startXuudb({ SITE: { [DN]: { xlogin: "ann", projects } } }));
    const options = { name: "XUUDB", form: "json", address, gcid: "SITE", cache: false } as const;
    const xuudb = new XuudbSource({ ...options, http: LOOPBACK_HTTP, log: SILENT, clock: () => 0 });
    opened.defer(() => xuudb.close());
    links.push({ source: xuudb, optional: false });
  }
  try {
    const policy = "MERGE_LAST_OVERRIDES";
    const chain = new AttributeChain({
      name: "all",
      links: withAutomaticSource(links, policy),
      policy,
      log: SILENT,
    });
    const user = await userAttributes(chain, { ...identity(DN), ...found }, {
      preferences: parsePreferences(preferences === undefined ? [] : [preferences]),
      signal,
    });
    const { uid, groups = "" } = attributesOnServer(user, "S", { requestedGroup, log: SILENT });
    return `${uid}:${groups}`;
  } catch (error) {
    if (error instanceof HttpError) return error.code;
    throw error;
  }
}

const WRONG = "ERR_USER_ATTRIBUTE";
const NO_GROUP = "ann:";

/**
 * Account and groups that a daemon gets for each form of a group: where several are a choice, where they are
 * a list, in the XUUDB, and where a provider's users could have written it.
 */
const GROUPS: readonly (readonly [form: unknown, told: Readonly<Record<Column, string>>])[] = [
  ["games", { chosen: "ann:games", listed: "ann:games", xuudb: "ann:games", foreign: "ann:games" }],
  ["games:users", {
    chosen: "ann:games:users",
    listed: "ann:games:users",
    xuudb: "ann:games",
    foreign: NO_GROUP,
  }],
  ["games:users:games", {
    chosen: "ann:games:users",
    listed: "ann:games:users",
    xuudb: "ann:games",
    foreign: NO_GROUP,
  }],
  [["games"], { chosen: "ann:games", listed: "ann:games", xuudb: "ann:games", foreign: "ann:games" }],
  [["games", "users"], {
    chosen: "ann:games",
    listed: "ann:games:users",
    xuudb: "ann:games",
    foreign: "ann:games",
  }],
  [["games:users", "users"], {
    chosen: "ann:games:users",
    listed: "ann:games:users",
    xuudb: "ann:games",
    foreign: "ann:users",
  }],
  [["games", "users:hpc"], {
    chosen: "ann:games",
    listed: "ann:games:users:hpc",
    xuudb: "ann:games",
    foreign: "ann:games",
  }],
  ["", { chosen: WRONG, listed: WRONG, xuudb: NO_GROUP, foreign: NO_GROUP }],
  [":", { chosen: WRONG, listed: WRONG, xuudb: NO_GROUP, foreign: NO_GROUP }],
  ["games:bad name", { chosen: WRONG, listed: WRONG, xuudb: "ann:games", foreign: NO_GROUP }],
];
type Column = "chosen" | "listed" | "xuudb" | "foreign";

const ANN = { xlogin: "ann" };
const texts = (form: unknown) => [form].flat().map(String);

/** Returns the identity that `groupsAssign` makes from an expression with a literal or the provider's claim. */
function assigned(expression: string, claim: readonly string[] = []): Asked {
  const made = new Assignments(assignments({ groups: expression }), SILENT);
  return { found: { ...made.attributes(new Map([["groups", claim]])), uid: "ann" } };
}

/** Returns the identity that `groupsClaim` makes from the claim `groups`, mapped or not. */
function claimed(claim: readonly string[], groupsMap: GroupRules["groupsMap"] = []): Asked {
  const rules = { groupsClaim: ["groups"], groupsPrefix: undefined, groupsMap, requiredGroups: [] };
  const groups = new Groups(rules, SILENT).unixGroups(() => claim);
  return { found: { uid: "ann", ...(groups.length > 0 && { groups }) } };
}

const PLACES: Readonly<Record<string, readonly [Column, (form: unknown) => Asked]>> = {
  "at the top of an entry": ["chosen", (group) => ({ entry: { ...ANN, group } })],
  "found by authentication": ["chosen", (form) => ({ found: { uid: "ann", groups: texts(form) } })],
  "below uftpd.<server>": ["listed", (form) => ({ entry: { ...ANN, "uftpd.S.group": form } })],
  "below daemon.<server>": ["listed", (form) => ({ entry: { ...ANN, "daemon.S.group": form } })],
  "below uftpd.<server>, overriding one at the top": ["listed", (form) => ({
    entry: { ...ANN, group: "hpc:all", "uftpd.S.group": form },
  })],
  "in the XUUDB": ["xuudb", (form) => ({ projects: texts(form).join(":") })],
  "assigned from a claim": ["foreign", (form) => assigned("attr['groups']", texts(form))],
  "in a claim": ["foreign", (form) => claimed(texts(form))],
};

for (const [place, [column, asked]] of Object.entries(PLACES)) {
  for (const [form, { [column]: expected }] of GROUPS) {
    Deno.test(`group ${JSON.stringify(form)} ${place} gives a daemon ${expected}`, async () => {
      assert.equal(await toldToDaemon(asked(form)), expected);
    });
  }
}

for (const [form, { chosen }] of GROUPS) {
  const expected = chosen === WRONG ? NO_GROUP : chosen;
  Deno.test(`group ${JSON.stringify(form)} assigned by the operator's text gives a daemon ${expected}`, async () => {
    const literal = texts(form).map((text) => `'${text}'`).join(", ");
    assert.equal(await toldToDaemon(assigned(Array.isArray(form) ? `[${literal}]` : literal)), expected);
  });
  if (chosen === WRONG || Array.isArray(form)) continue; // the configuration has neither: a value is one text
  Deno.test(`group ${JSON.stringify(form)} of groupsMap gives a daemon ${expected}`, async () => {
    assert.equal(await toldToDaemon(claimed(["/lab"], [{ name: "/lab", value: String(form) }])), expected);
  });
}

Deno.test("a group below an instance of a server is not used", async () => {
  assert.equal(
    await toldToDaemon({ entry: { ...ANN, group: "hpc", "uftpd.S-1.group": "games" } }),
    "ann:hpc",
  );
});

for (
  const [what, asked, expected] of [
    ["the first of a list is preferred", { preferences: "group:games" }, "ann:games:users"],
    ["another group of the list is preferred", { preferences: "group:users" }, "ann:users"],
    ["a further value is preferred", { preferences: "pgid:hpc" }, "ann:hpc"],
    ["two groups are preferred", { preferences: "group:games:users" }, "ERR_INVALID_PREFERENCES"],
    ["an unavailable group is preferred", { preferences: "group:lab" }, "ERR_PREFERENCE_NOT_ALLOWED"],
    ["the first of a list is requested", { requestedGroup: "games" }, "ann:games:users"],
    ["another group of the list is requested", { requestedGroup: "users" }, "ann:users"],
    ["the whole list is requested", { requestedGroup: "games:users" }, "ann:games:users"],
    ["two of the groups are requested", { requestedGroup: "hpc:games" }, "ann:hpc:games"],
    ["a list with an absent group is requested", { requestedGroup: "games:root" }, "ERR_GROUP_NOT_AVAILABLE"],
    ["an empty group is requested", { requestedGroup: "" }, "ERR_GROUP_NOT_AVAILABLE"],
    ["an empty list is requested", { requestedGroup: ":" }, "ERR_GROUP_NOT_AVAILABLE"],
    ["a supplementary group is requested", { requestedGroup: "lab" }, "ann:lab"],
    ["an unavailable group is requested", { requestedGroup: "root" }, "ERR_GROUP_NOT_AVAILABLE"],
  ] as const
) {
  Deno.test(`with the groups ["games:users", "hpc"] at the top of an entry, ${what}: ${expected}`, async () => {
    const supplementaryGroups = what.startsWith("a supplementary") ? "fast:lab" : undefined;
    const entry = {
      ...ANN,
      group: ["games:users", "hpc"],
      ...(supplementaryGroups && { supplementaryGroups }),
    };
    assert.equal(await toldToDaemon({ entry, ...asked }), expected);
  });
}

for (
  const [form, top, below] of [
    ["ann", "ann:", "ann:"],
    [["ann", "ben"], "ann:", "ben:"],
    ["ann:ben", WRONG, WRONG],
    ["", WRONG, WRONG],
    ["root", "ERR_ACCOUNT_REFUSED", "ERR_ACCOUNT_REFUSED"],
  ] as const
) {
  Deno.test(`xlogin ${JSON.stringify(form)} gives ${top} at the top of an entry, ${below} below a server`, async () => {
    assert.equal(await toldToDaemon({ entry: { xlogin: form } }), top);
    for (const prefix of ["uftpd", "daemon"]) {
      assert.equal(await toldToDaemon({ entry: { xlogin: "else", [`${prefix}.S.xlogin`]: form } }), below);
    }
  });
}
