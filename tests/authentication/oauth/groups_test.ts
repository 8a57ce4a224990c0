import assert from "node:assert/strict";
import fc from "fast-check";
import { claimAt, parseReply } from "../../../src/authentication/claims.ts";
import { type GroupRules, Groups, namesOfGroup } from "../../../src/authentication/oauth/groups.ts";
import { createLogger } from "../../../src/logging/logger.ts";

const URN = "urn:geant:example.org:group:";

const NAMES: readonly [value: string, prefix: string | undefined, names: readonly string[]][] = [
  ["hpc", undefined, ["hpc"]],
  ["/hpc", undefined, ["/hpc", "hpc"]],
  ["/hpc/projA", undefined, ["/hpc/projA", "hpc/projA"]],
  ["/hpc/projA", "/hpc/", ["/hpc/projA", "projA"]],
  ["/hpc/projA", "hpc/", ["/hpc/projA", "projA"]],
  ["/hpc", "/hpc/", []],
  ["/hpc/", "/hpc/", []],
  ["/bio/projA", "/hpc/", []],
  ["/hpcx/projA", "/hpc/", []],
  // AARC-G069
  [`${URN}hpc`, undefined, [`${URN}hpc`]],
  [`${URN}hpc`, URN, [`${URN}hpc`, "hpc"]],
  [`${URN}hpc:projA`, URN, [`${URN}hpc:projA`, "hpc/projA"]],
  [`${URN}hpc:projA`, `${URN}hpc:`, [`${URN}hpc:projA`, "projA"]],
  [`${URN}hpc:role=member#aai.example.org`, URN, [
    `${URN}hpc:role=member#aai.example.org`,
    "hpc:role=member#aai.example.org",
    "hpc#aai.example.org",
    "hpc:role=member",
    "hpc",
  ]],
  [`${URN}hpc:role=manager`, URN, [`${URN}hpc:role=manager`, "hpc:role=manager"]],
  [`${URN}hpc%20users`, URN, [`${URN}hpc%20users`, "hpc users"]],
  [`${URN}hpc%2Fadmin`, URN, [`${URN}hpc%2Fadmin`]],
  [`${URN}hpc%3Arole=manager`, URN, [`${URN}hpc%3Arole=manager`]],
  [`${URN}hpc::x`, URN, [`${URN}hpc::x`]],
  [`${URN}hpc%`, URN, [`${URN}hpc%`]],
  [`${URN}role=member`, URN, [`${URN}role=member`]],
  ["urn:mace:other.org:group:hpc", URN, []],
  [URN, URN, []],
];
for (const [value, prefix, names] of NAMES) {
  Deno.test(`namesOfGroup() of ${value}${prefix === undefined ? "" : ` behind ${prefix}`}`, () => {
    assert.deepEqual(namesOfGroup(value, prefix), names);
  });
}

Deno.test("namesOfGroup() accepts any text, and finds groups only in text that begins with the prefix", () => {
  fc.assert(fc.property(fc.string(), fc.string({ minLength: 1 }), (value, prefix) => {
    const names = namesOfGroup(value, prefix);
    assert.ok(names.length === 0 || value.startsWith(prefix) || value.slice(1).startsWith(prefix));
  }));
});

const RULES: GroupRules = {
  groupsClaim: ["groups", "realm_access.roles", "wlcg.groups"],
  groupsPrefix: undefined,
  groupsMap: [],
  requiredGroups: [],
};
const CLAIMS = parseReply(JSON.stringify({
  groups: ["/hpc/projA", "/staff", "root", "0", "staff"],
  realm_access: { roles: ["uma_authorization", "physics"] },
  "wlcg.groups": "/cms",
}));
const said = (path: string) => claimAt(CLAIMS, path);

function groups(rules: Partial<GroupRules>) {
  const lines: string[] = [];
  return { lines, subject: new Groups({ ...RULES, ...rules }, createLogger((line) => lines.push(line))) };
}

Deno.test("Groups makes Unix groups of names without their slash, and logs once that some names are unusable", () => {
  const { subject, lines } = groups({});
  const expected = ["staff", "uma_authorization", "physics", "cms"];
  assert.deepEqual([subject.unixGroups(said), subject.unixGroups(said)], [expected, expected]);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /warn .*map them by groupsMap.* example=hpc\/projA left=3/);
});

Deno.test("Groups gives only mapped groups if a map is configured", () => {
  const { subject, lines } = groups({
    groupsMap: [{ name: "hpc/projA", value: "proja" }, { name: "/cms", value: "cms" }, {
      name: "x",
      value: "y",
    }],
  });
  assert.deepEqual(subject.unixGroups(said), ["proja", "cms"]);
  assert.deepEqual(lines, []);
});

Deno.test("Groups admits users who are in one of the required groups", () => {
  const admits = (requiredGroups: readonly string[], more: Partial<GroupRules> = {}) =>
    groups({ requiredGroups, ...more }).subject.admit(said);
  assert.equal(admits([]), true);
  assert.equal(admits(["other", "hpc/projA"]), true);
  assert.equal(admits(["/hpc/projA"]), true);
  assert.equal(admits(["projA"]), false);
  assert.equal(admits(["projA"], { groupsPrefix: "/hpc/" }), true);
  assert.equal(admits(["staff"], { groupsPrefix: "/hpc/" }), false);
  assert.equal(admits(["hpc"]), false);
});
