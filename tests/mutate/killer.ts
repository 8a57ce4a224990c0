import type { Imports } from "./imports.ts";
import { folderOf, type KilledBy } from "./score_table.ts";
import type { Outcome, TreeCopy } from "./tree_copy.ts";

/** How long a part of the tests may take, and each test in it, in milliseconds: a mutant may wait for ever. */
const MAX_WAIT = { partMs: 30_000, testMs: 30_000 };
const UNHARMED_MS = 240_000;
const CHECK_MS = 120_000;
/** Tests are run in parts, so that the nearest can spare the rest; each part twice as large. */
const FIRST_PART = 4;
/** Of tests of other folders no more than the nearest are asked: those of the whole program load everything. */
const OTHERS = 28;
/** What tests of these folders are about is not the source alone, and they last. */
const NOT_ASKED = /^tests\/(?:bench|browser|build|demo|docs|mutate|broken)\//;

/** How a killer asks. */
interface KillerOptions {
  /** Whether tests of other folders are left out. */
  readonly onlyOwn: boolean;
  /** Those of a folder's own tests that are asked before all others, by their paths. */
  readonly first?: readonly string[];
}

/**
 * Asks tests about mutants: first the one that stands where the file stands, then others of its folder that load it, then
 * the compiler, then those of other folders, always the nearest first.
 */
export class Killer {
  /** How a test ends with the source as it is, by its path. */
  readonly #passes = new Map<string, Outcome>();

  constructor(readonly imports: Imports, readonly options: KillerOptions) {}

  /** Who notices that a file has another text; `undefined` if nobody does. */
  async kill(tree: TreeCopy, file: string, text: string): Promise<KilledBy | undefined> {
    const { own, others } = testsInOrder(this.imports, file);
    const { first = [], onlyOwn } = this.options;
    if (await this.#notice(tree, withFirst(own, first), file, text)) return "own";
    const restore = await tree.change(file, text);
    const checked = await tree.checks(file, CHECK_MS).finally(restore);
    if (!checked) return "types";
    if (onlyOwn) return undefined;
    return await this.#notice(tree, others, file, text) ? "others" : undefined;
  }

  async #notice(tree: TreeCopy, parts: readonly (readonly string[])[], file: string, text: string) {
    for (const part of parts) {
      const { passed, output } = await this.#run(tree, part, file, text);
      if (passed) continue;
      // Whoever fails without the mistake, too, has not noticed it; which one it was, if that can be told.
      const failed = part.filter((test) => output.includes(`=> ./${test}:`));
      if (await this.#pass(tree, failed.length > 0 ? failed : part)) return true;
    }
    return false;
  }

  /** How a part of the tests ends with the mistake. Who is late, and is so without it as well, gets more time. */
  async #run(tree: TreeCopy, part: readonly string[], file: string, text: string): Promise<Outcome> {
    const within = async (limit: number) => {
      const restore = await tree.change(file, text);
      return await tree.test(part, limit, { failFast: true }).finally(restore);
    };
    const limit = MAX_WAIT.partMs + MAX_WAIT.testMs * part.length;
    const outcome = await within(limit);
    if (!outcome.late) return outcome;
    const { ms } = await tree.test(part, UNHARMED_MS);
    return 4 * ms > limit ? await within(8 * ms) : outcome;
  }

  /** One after the other: they share a folder for temporary files. */
  async #pass(tree: TreeCopy, tests: readonly string[]): Promise<boolean> {
    for (const test of tests) {
      const known = this.#passes.get(test) ?? await tree.test([test], UNHARMED_MS);
      this.#passes.set(test, known);
      if (known.passed) continue;
      console.error(`fails on the source as it is: ${test}\n${known.output.slice(-1000)}`);
      return false;
    }
    return true;
  }
}

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

/** Parts of tests, with those in front that are to be asked first. */
export function withFirst(
  parts: readonly (readonly string[])[],
  first: readonly string[],
): readonly (readonly string[])[] {
  const isFirst = (test: string) => first.includes(test);
  const before = parts.flat().filter(isFirst);
  return [before, ...parts.map((part) => part.filter((test) => !isFirst(test)))].filter(({ length }) =>
    length > 0
  );
}
