import { ToolFailed } from "./run_tool.ts";

/** What the changelog says of a version. */
export interface ChangelogSection {
  /** `YYYY-MM-DD`; absent as long as the version is not out. */
  readonly date?: string;
}

/**
 * The section of a version in a changelog of the form of Keep a Changelog: `## [1.2.3] - 2030-01-31`, or before it is out
 * `## [Unreleased]` with the words "to be 1.2.3" in its first lines.
 * @throws {ToolFailed} If there is none: then version and changelog do not agree.
 */
export function changelogSection(text: string, version: string): ChangelogSection {
  const [, ...sections] = text.split(/^## /m);
  for (const section of sections) {
    const [, name, date] =
      /^\[([^\]\n]+)\](?: - (\d{4}-\d\d-\d\d))?[ \t]*$/m.exec(section.split("\n", 1)[0] ?? "") ?? [];
    if (name === version && date !== undefined) return { date };
    const [beginning = ""] = section.split(/^### /m, 1);
    if (name === "Unreleased" && RegExp(`\\bto be ${RegExp.escape(version)}(?![\\w.]*\\w)`).test(beginning)) {
      return {};
    }
  }
  const names = sections.map((section) => section.split("\n", 1)[0]);
  throw new ToolFailed(
    `CHANGELOG.md: expected a section "[${version}] - <date>", or "[Unreleased]" with "to be ${version}", ` +
      `as deno.json says version ${version}; found ${names.join(", ") || "none"}`,
  );
}
