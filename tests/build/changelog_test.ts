import assert from "node:assert/strict";
import { changelogSection } from "../../bin/build/changelog.ts";
import { readProject, ROOT } from "../../bin/build/project.ts";
import { ToolFailed } from "../../bin/build/run_tool.ts";
import { runAuthserver } from "../system/service_process.ts";

Deno.test("the changelog has a section for the version in deno.json, which version --json prints", async () => {
  const { version } = await readProject();
  changelogSection(await Deno.readTextFile(`${ROOT}/CHANGELOG.md`), version);
  const process = runAuthserver(["version", "--json"]);
  assert.equal(await process.ended, 0, process.printed);
  assert.equal(JSON.parse(process.printed).version, version);
});

const TEXT = `# Changelog

## [Unreleased]

Will be out soon, to be 1.3.0: much is better.

### Added

- Something that was to be 1.4.0.

## [1.2.0] - 2030-01-31

## [1.1.0]
`;

Deno.test("changelogSection() finds released versions, and the next one", () => {
  assert.deepEqual(changelogSection(TEXT, "1.2.0"), { date: "2030-01-31" });
  assert.deepEqual(changelogSection(TEXT, "1.3.0"), {});
});

for (const version of ["1.1.0", "1.3", "1.3.0-rc1", "1.3.01", "1.4.0", "11.2.0", "1x2.0"]) {
  Deno.test(`changelogSection() finds no ${version}`, () => {
    assert.throws(
      () => changelogSection(TEXT, version),
      (error) =>
        error instanceof ToolFailed && error.message.includes(`found [Unreleased], [1.2.0] - 2030-01-31`),
    );
  });
}
