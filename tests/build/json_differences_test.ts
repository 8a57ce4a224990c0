import assert from "node:assert/strict";
import { jsonDifferences } from "./json_differences.ts";

const MEMBERS = { "bans[].until": "", "bans[].user?": "", "total": "", "lag.*": "" };

for (
  const [what, value, found] of [
    ["exactly the documented members", {
      bans: [{ until: "1", user: "a" }, { until: "2" }],
      total: 2,
      lag: { core: 1 },
    }, []],
    ["an empty list", { bans: [], total: 0, lag: {} }, []],
    ["an undocumented member", { bans: [{ until: "1", by: "a" }], total: 1, lag: {} }, [
      "not documented: bans.[].by",
    ]],
    ["a member missing in one element", { bans: [{ until: "1" }, { user: "b" }], total: 2, lag: {} }, [
      "not there: bans[].until",
    ]],
    ["a missing member", { bans: [], lag: {} }, ["not there: total"]],
    ["a number in place of a list", { bans: 3, total: 0, lag: {} }, [
      "not documented: bans",
      "not there: bans[].until",
    ]],
  ] as const
) {
  Deno.test(`jsonDifferences() of ${what}`, () => assert.deepEqual(jsonDifferences(value, MEMBERS), found));
}
