import assert from "node:assert/strict";
import { relative } from "node:path";
import { citationsIn, resolves, targetsOf } from "./citations.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function* files(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* files(`${folder}/${name}`);
    else if (/\.(?:ts|sh|py|properties)$/.test(name)) yield `${folder}/${name}`;
  }
}

async function targetsOfPages(names: Iterable<string>): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const pages = new Map<string, ReadonlySet<string>>();
  for (const name of new Set(names)) {
    const page = await Deno.readTextFile(`${ROOT}docs/${name}`).catch(() => "");
    pages.set(name, targetsOf(page));
  }
  return pages;
}

Deno.test("the documents have each section that comments and tests cite", async () => {
  const citations = [];
  for (const folder of ["src", "tests", "bin"]) {
    for await (const file of files(ROOT + folder)) {
      if (file.endsWith("/tests/docs/citations_test.ts") || file.endsWith("/tests/docs/citations.ts")) {
        continue;
      }
      for (const citation of citationsIn(await Deno.readTextFile(file))) {
        citations.push({ ...citation, file: relative(ROOT, file) });
      }
    }
  }
  assert(citations.length > 200, `only ${citations.length} citations are found`);
  const pages = await targetsOfPages(citations.map(({ page }) => page));
  const wrong = citations.filter(({ page, target }) => !resolves(target, pages.get(page) ?? new Set()));
  assert.deepEqual(
    wrong.map(({ file, line, text, page, target }) =>
      `${file}:${line}: "${text}": docs/${page} has no ${target}`
    ),
    [],
  );
});

Deno.test("citationsIn() finds every form of citation, with its line", () => {
  const source = [
    "/** A name (rest-api.md 2.6, steps 3 and 5). */",
    "/**",
    " * Text (specification 2.1, rule 3; protocol/credentials.md 5.1 to 5.3,",
    " * 10.15). More (daemon-protocol.md,",
    " * appendix), and rest-api.md",
    " * 1.7, right column; RFC 9110, 14.1.",
    " */",
    '// (D28), rest-api.md D34, design decisions "Anonymous" and "status", design notes 4 and 8',
    "const limit = credentials.md5(2.6);",
    "/** Elsewhere (design.md 7). */",
  ].join("\n");
  assert.deepEqual(
    citationsIn(source).map(({ line, page, target }) => `${line} ${page} ${target}`).sort(),
    [
      "1 protocol/rest-api.md 2.6",
      "1 protocol/rest-api.md 2.6/3",
      "1 protocol/rest-api.md 2.6/5",
      "10 design.md 7",
      "3 protocol/credentials.md 10.15",
      "3 protocol/credentials.md 5.1",
      "3 protocol/credentials.md 5.3",
      "3 protocol/specification.md 2.1",
      "3 protocol/specification.md 2.1/3",
      "4 protocol/daemon-protocol.md Appendix",
      "5 protocol/rest-api.md 1.7",
      "8 architecture.md Design notes/4",
      "8 architecture.md Design notes/8",
      "8 protocol/decisions.md Anonymous",
      "8 protocol/decisions.md status",
      "8 protocol/rest-api.md D28",
      "8 protocol/rest-api.md D34",
    ],
  );
});

Deno.test("targetsOf() finds numbered headings, table rows and list items, but none in code", () => {
  const targets = targetsOf(
    "# Page\n\n## 1. One\n\n### 1.1 Sub\n\n1. First\n2. Second\n\n```text\n## 9. No\n```\n\n" +
      "## Appendix: old\n\n| #   | Text |\n| --- | ---- |\n| D28 | x    |\n| status of an entry | y |\n",
  );
  for (const known of ["1", "1.1", "1.1/2", "Appendix", "D28", "status"]) {
    assert(resolves(known, targets), known);
  }
  for (const unknown of ["2", "1.2", "1.1/3", "9", "D2", "D", "Append", "stat"]) {
    assert(!resolves(unknown, targets), unknown);
  }
});
