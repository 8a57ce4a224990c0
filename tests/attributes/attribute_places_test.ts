import assert from "node:assert/strict";
import { AttributeChain, withAutomaticSource } from "../../src/attributes/attribute_chain.ts";
import { fileAttributeSource } from "../../src/attributes/file/file_attribute_source.ts";
import { parsePreferences } from "../../src/attributes/preferences.ts";
import { attributesOnServer } from "../../src/attributes/server_attributes.ts";
import { userAttributes } from "../../src/attributes/user_attributes.ts";
import { SILENT } from "../../src/logging/logger.ts";
import type { Identity } from "../../src/model/identity.ts";
import { HttpError } from "../../src/model/http_error.ts";
import { identity } from "./conformance.ts";

const signal = new AbortController().signal;
const DN = "CN=Ann, O=Site";

interface Asked {
  readonly entry?: Readonly<Record<string, unknown>>;
  readonly found?: Partial<Identity>;
  readonly preferences?: string;
  readonly requestedGroup?: string;
}

/** Account and groups as a daemon is told them on server S, through the sources that a service has. */
async function toldToDaemon({ entry = {}, found = {}, preferences, requestedGroup }: Asked): Promise<string> {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  await Deno.writeTextFile(file, JSON.stringify({ [DN]: { role: "user", ...entry } }));
  const source = await fileAttributeSource({
    name: "FILE",
    file,
    matching: "strict",
    log: SILENT,
    intervalMs: 60_000,
  });
  try {
    const policy = "MERGE_LAST_OVERRIDES";
    const links = withAutomaticSource([{ source, optional: false }], policy);
    const chain = new AttributeChain({ name: "all", links, policy, log: SILENT });
    const user = await userAttributes(chain, { ...identity(DN), ...found }, {
      preferences: parsePreferences(preferences === undefined ? [] : [preferences]),
      signal,
    });
    const { uid, gid, furtherGroups } = attributesOnServer(user, "S", { requestedGroup, log: SILENT });
    return [uid, gid ?? "", ...furtherGroups].join(":");
  } catch (error) {
    if (error instanceof HttpError) return error.code;
    throw error;
  } finally {
    source.close();
    await Deno.remove(file);
  }
}

const WRONG = "ERR_USER_ATTRIBUTE";

/** Forms of a group, and what a daemon is told of each: first where several are a choice, then where they are a list. */
const GROUPS: readonly (readonly [form: unknown, chosen: string, listed: string])[] = [
  ["games", "ann:games", "ann:games"],
  ["games:users", "ann:games:users", "ann:games:users"],
  ["games:users:games", "ann:games:users", "ann:games:users"],
  [["games"], "ann:games", "ann:games"],
  [["games", "users"], "ann:games", "ann:games:users"],
  [["games:users", "users"], "ann:games:users", "ann:games:users"],
  [["games", "users:hpc"], "ann:games", "ann:games:users:hpc"],
  ["", WRONG, WRONG],
  [":", WRONG, WRONG],
  ["games:bad name", WRONG, WRONG],
];

const ANN = { xlogin: "ann" };

const PLACES: Readonly<Record<string, (form: unknown) => Asked>> = {
  "at the top of an entry": (group) => ({ entry: { ...ANN, group } }),
  "found by authentication": (form) => ({ found: { uid: "ann", groups: [form].flat().map(String) } }),
  "below uftpd.<server>": (form) => ({ entry: { ...ANN, "uftpd.S.group": form } }),
  "below daemon.<server>": (form) => ({ entry: { ...ANN, "daemon.S.group": form } }),
  "below uftpd.<server>, over one at the top": (form) => ({
    entry: { ...ANN, group: "hpc:all", "uftpd.S.group": form },
  }),
};

for (const [place, asked] of Object.entries(PLACES)) {
  for (const [form, chosen, listed] of GROUPS) {
    const expected = place.startsWith("below") ? listed : chosen;
    Deno.test(`group ${JSON.stringify(form)} ${place} is ${expected} to a daemon`, async () => {
      assert.equal(await toldToDaemon(asked(form)), expected);
    });
  }
}

for (
  const [what, asked, expected] of [
    ["the first of a list is preferred", { preferences: "group:games" }, "ann:games:users"],
    ["another of the list is preferred", { preferences: "group:users" }, "ann:users"],
    ["a further value is preferred", { preferences: "pgid:hpc" }, "ann:hpc"],
    ["one is preferred that is not there", { preferences: "group:lab" }, "ERR_PREFERENCE_NOT_ALLOWED"],
    ["the first of a list is asked for", { requestedGroup: "games" }, "ann:games:users"],
    ["another of the list is asked for", { requestedGroup: "users" }, "ann:users"],
    ["a supplementary one is asked for", { requestedGroup: "lab" }, "ann:lab"],
    ["one is asked for that is not there", { requestedGroup: "root" }, "ERR_GROUP_NOT_AVAILABLE"],
  ] as const
) {
  Deno.test(`of the groups ["games:users", "hpc"] at the top ${what}: ${expected}`, async () => {
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
  Deno.test(`xlogin ${JSON.stringify(form)} is ${top} at the top, ${below} below a server`, async () => {
    assert.equal(await toldToDaemon({ entry: { xlogin: form } }), top);
    for (const prefix of ["uftpd", "daemon"]) {
      assert.equal(await toldToDaemon({ entry: { xlogin: "else", [`${prefix}.S.xlogin`]: form } }), below);
    }
  });
}
