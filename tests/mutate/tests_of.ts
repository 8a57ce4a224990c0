import { type Imports } from "./imports.ts";
import { folderOf } from "./score.ts";

/** Tests are run in parts, so that the nearest can spare the rest; each part twice as large. */
const FIRST_PART = 4;
/** Of tests of other folders no more than the nearest are asked: those of the whole program load everything. */
const OTHERS = 28;
/** What tests of these folders are about is not the source alone, and they last. */
const NOT_ASKED = /^tests\/(?:bench|browser|build|demo|docs|mutate)\//;

/**
 * Tests of a folder that stand elsewhere, as the table of docs/architecture.md has them. Workers run in the whole
 * program, and what kills, replaces, permits and asks them is tried where that runs; so are commands and pages.
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
    "resource/access/file_page",
    "resource/access/drop/drop_upload",
  ].map((name) => `tests/${name}_test.ts`),
  workers: [
    "workers",
    "worker_deaths",
    "reload_again",
    "operator",
    "process",
    "certificates",
    "least_privilege",
  ]
    .map((name) => `tests/system/${name}_test.ts`),
  resource: ["tests/system/admin_test.ts"],
  service: ["openapi/api_description", "command/diagnosis/whoami_test_command"]
    .map((name) => `tests/${name}_test.ts`),
};

/** The tests to ask about a file, in the parts and in the order in which they are asked. */
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
