import { type Imports } from "./imports.ts";
import { folderOf } from "./score.ts";

/** Files in the first part of the tests. Each further part is twice as large; a failure saves the rest. */
const FIRST_PART = 4;
/** Most test files of other folders, nearest first: tests of the whole program load every file. */
const OTHERS = 28;
/** Folders with slow tests, which do not test the source alone. */
const NOT_ASKED = /^tests\/(?:bench|browser|build|demo|docs|mutate)\//;

/**
 * Tests of a folder of `src` that are in other folders of `tests` (see the table in docs/architecture.md).
 * Workers, commands and pages run in the whole program, so system tests cover them.
 */
const OWN_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  command: ["every_command", "check", "operator", "process", "tokens"]
    .map((name) => `tests/system/${name}_test.ts`),
  pages: [
    "service/mount",
    "system/sign_in",
    "system/token_pages",
    "system/admin_page",
    "system/sharing/share_pages",
    "system/sharing/upload_by_page",
    "resource/access/file_page",
    "resource/access/drop/drop_upload",
  ].map((name) => `tests/${name}_test.ts`),
  workers: [
    "workers",
    "worker_deaths",
    "reload_again",
    "operator",
    "process",
    "files",
    "least_privilege",
  ]
    .map((name) => `tests/system/${name}_test.ts`),
  resource: ["tests/system/admin_test.ts"],
  service: ["openapi/api_description", "command/diagnosis/whoami_test_command"]
    .map((name) => `tests/${name}_test.ts`),
};

/** Returns the tests that run for a file, in parts and in the order in which they run. */
export function testsInOrder(
  imports: Pick<Imports, "testsOf">,
  file: string,
): { readonly own: readonly (readonly string[])[]; readonly others: readonly (readonly string[])[] } {
  const near = imports.testsOf(file).map(([path]) => path);
  const elsewhere = OWN_ELSEWHERE[folderOf(file)] ?? [];
  const isOwn = (path: string) => path.startsWith(`tests/${folderOf(file)}/`) || elsewhere.includes(path);
  const mirrored = file.replace(/^src\//, "tests/").replace(/\.ts$/, "_test.ts");
  const first = near.filter((path) => path === mirrored);
  const own = near.filter((path) => isOwn(path) && path !== mirrored);
  const others = near.filter((path) => !isOwn(path) && !NOT_ASKED.test(path)).slice(0, OTHERS);
  return { own: [...(first.length > 0 ? [first] : []), ...inParts(own)], others: inParts(others) };
}

function inParts(tests: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (let rest = tests, size = FIRST_PART; rest.length > 0; rest = rest.slice(size), size *= 2) {
    parts.push(rest.slice(0, size));
  }
  return parts;
}
