import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { relative } from "node:path";
import project from "../deno.json" with { type: "json" };
import { LONG } from "./long/results.ts";

/*
 * No regular expression of the service may take more than linear time for any input: `recheck` checks
 * each. If one fails, we rewrite it, or cut the text by index.
 */

const SRC = new URL("../src/", import.meta.url).pathname;

/** Expressions that the service builds at run time, by file, with the bound of the work of each. */
const CONSTRUCTED: ReadonlyMap<string, string> = new Map([
  [
    "attributes/file/linear_pattern.ts",
    "one class or escape, of a pattern of the operator, tried on one character",
  ],
  [
    "command/files/migration/converted_text.ts",
    "a constant path, and one character before and behind it",
  ],
  [
    "pages/messages.ts",
    "a text of a constant table with at most two gaps, for the service's own messages, which are short",
  ],
  [
    "service/http/router.ts",
    "the pattern of a route: each placeholder takes what is between two slashes, the last one the rest",
  ],
  [
    "sharing/import/sql_dump.ts",
    "one of two constant forms of a quoted text, whose repetitions exclude each other",
  ],
]);

/**
 * Digests of the expressions that `recheck` found safe in a long test, which writes them. To check all takes
 * minutes: daily tests check only unlisted expressions, `deno task test:long growth` checks all.
 */
const JUDGED = new URL("reports/linear_expressions.json", import.meta.url);

/** Part of each digest: with another release of `recheck`, the tests check all expressions again. */
const JUDGE = project.imports.recheck;

interface Expression {
  /** File below `src`, and line. */
  readonly place: string;
  readonly pattern: string;
  readonly flags: string;
}

/**
 * Returns the literals in the syntax trees of all files, and the files that build an expression from text.
 */
async function expressions(): Promise<{ literals: Expression[]; constructed: Set<string> }> {
  const literals: Expression[] = [];
  const constructed = new Set<string>();
  for await (const path of sources(SRC)) {
    const source = await Deno.readTextFile(path);
    const file = relative(SRC, path);
    const construction = (node: Deno.lint.NewExpression | Deno.lint.CallExpression) => {
      if (node.callee.type === "Identifier" && node.callee.name === "RegExp") constructed.add(file);
      // `match`, `matchAll` and `search` turn a text into an expression.
      const [argument] = node.arguments;
      const isText = argument?.type === "TemplateLiteral" ||
        (argument?.type === "Literal" && typeof argument.value === "string");
      if (
        isText && node.callee.type === "MemberExpression" && node.callee.property.type === "Identifier" &&
        ["match", "matchAll", "search"].includes(node.callee.property.name)
      ) constructed.add(file);
    };
    const collect: Deno.lint.LintVisitor = {
      Literal(node) {
        if (!("regex" in node) || node.regex === undefined) return; // every literal has the field
        const line = source.slice(0, node.range[0]).split("\n").length;
        literals.push({ place: `${file}:${line}`, ...node.regex });
      },
      NewExpression: construction,
      CallExpression: construction,
    };
    Deno.lint.runPlugin({ name: "all", rules: { expressions: { create: () => collect } } }, path, source);
  }
  return { literals, constructed };
}

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* sources(`${folder}${name}/`);
    else if (name.endsWith(".ts")) yield `${folder}${name}`;
  }
}

const { literals, constructed } = await expressions();

/** Limits by the number of steps only: on a busy machine, harmless expressions take long, too. */
const BY_STEPS = { attackTimeout: null, incubationTimeout: null, seedingTimeout: null };

async function recheck() {
  Deno.env.set("RECHECK_BACKEND", "pure");
  Deno.env.set("RECHECK_SYNC_BACKEND", "pure");
  const { checkSync } = await import("recheck");
  return ({ pattern, flags }: Pick<Expression, "pattern" | "flags">) =>
    // Limit in wall-clock time, sufficient for a busy machine.
    checkSync(pattern, flags, { timeout: LONG ? 1_800_000 : 120_000, ...BY_STEPS });
}

function digestOf(text: string): string {
  return createHash("sha256").update(`${JUDGE} ${text}`).digest("hex").slice(0, 32);
}

/**
 * @param judged Digests of expressions that need no check. @returns Unsafe expressions, with their status.
 */
async function unsafe(expressions: readonly Expression[], judged: ReadonlySet<string>): Promise<string[]> {
  const judge = await recheck();
  const known = new Map<string, string>();
  const wrong: string[] = [];
  for (const { place, pattern, flags } of expressions) {
    const text = `/${pattern}/${flags}`;
    if (judged.has(digestOf(text))) continue;
    const status = known.get(text) ?? judge({ pattern, flags }).status;
    known.set(text, status);
    if (status !== "safe") wrong.push(`${place}: ${text} is ${status}`);
  }
  return wrong;
}

Deno.test("regular expressions in src take linear time", async () => {
  assert(literals.length > 200, "the literals are not found any more");
  const judged: string[] = JSON.parse(await Deno.readTextFile(JUDGED));
  assert.deepEqual(await unsafe(literals, new Set(LONG ? [] : judged)), []);
  if (!LONG) return;
  const digests = new Set(literals.map(({ pattern, flags }) => digestOf(`/${pattern}/${flags}`)));
  await Deno.writeTextFile(JUDGED, `${JSON.stringify([...digests].sort(), null, 2)}\n`);
});

Deno.test("a regular expression is checked unless it is listed as linear with the same flags", async () => {
  const place = "new.ts:1";
  const [pattern, flags] = ["(?:a+)+b", "u"];
  const listed = new Set([digestOf(`/${pattern}/i`), digestOf("/^a+$/u")]);
  assert.deepEqual(await unsafe([{ place, pattern, flags }, { place, pattern: "^a+$", flags }], listed), [
    "new.ts:1: /(?:a+)+b/u is vulnerable",
  ]);
});

Deno.test("regular expressions are built at run time only where the work is bounded", () => {
  assert.deepEqual([...constructed].sort(), [...CONSTRUCTED.keys()].sort());
});

Deno.test("recheck reports trailing blanks and nested repetitions as vulnerable, and ^a+$ as safe", async () => {
  const judge = await recheck();
  for (
    const [pattern, status] of [["[ \\t]+$", "vulnerable"], ["(?:a+)+b", "vulnerable"], ["^a+$", "safe"]]
  ) {
    assert.equal(judge({ pattern: pattern ?? "", flags: "" }).status, status, pattern);
  }
});
