import assert from "node:assert/strict";
import { type PathLimits, withinLimits } from "../../src/files/path_limits.ts";

const FACTS: [PathLimits, string, boolean][] = [
  [{}, "/any/thing", true],
  [{ includes: "" }, "/any/thing", true],
  [{ includes: "/data/*" }, "/data/x", true],
  [{ includes: "/data/*" }, "/data/", true],
  [{ includes: "/data/*" }, "/data", false],
  [{ includes: "/data/*" }, "/", true],
  [{ includes: "/data/*" }, "/etc/passwd", false],
  [{ includes: "/data/*" }, "/etc/", false],
  [{ includes: "/a/*: /b/* :" }, "/b/x", true],
  [{ includes: "data/*" }, "/data/x", false],
  [{ includes: "data/*" }, "/", false],
  [{ includes: "*/data/*" }, "/a/data/x", false],
  [{ includes: "./*.txt" }, "/data/x.txt", false],
  [{ includes: "./" }, "/data/x", false],
  [{ includes: "data/*:/work/*" }, "/work/x", true],
  [{ includes: "*.txt" }, "/data/x.txt", true],
  [{ excludes: "/data/secret/*" }, "/data/secret/x", false],
  [{ excludes: "/data/secret/*" }, "/data/secret/", false],
  [{ excludes: "/data/secret/" }, "/data/secret/", false],
  [{ excludes: "/data/secret/*" }, "/data/", true],
  [{ excludes: "/data/secret/*" }, "/data/secret2", true],
  [{ excludes: ".ssh/*" }, "/home/alice/.ssh/id", false],
  [{ excludes: "*.key" }, "/home/alice/x.key", false],
  [{ excludes: "./*.key" }, "/home/alice/x.key", false],
  [{ excludes: "./" }, "/", true],
  [{ includes: "/data/*", excludes: "/data/*" }, "/data/x", false],
];

for (const [limits, path, expected] of FACTS) {
  Deno.test(`withinLimits() of ${JSON.stringify(limits)} for ${path} is ${expected}`, () => {
    assert.equal(withinLimits(limits, path), expected);
  });
}
