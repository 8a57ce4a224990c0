import assert from "node:assert/strict";
import { relative } from "node:path";
import { undocumentedExports } from "./documented_exports.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function* files(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* files(`${folder}/${name}`);
    else if (name.endsWith(".ts")) yield `${folder}/${name}`;
  }
}

Deno.test("functions, classes and constants that src and bin export have doc comments", async () => {
  const missing: string[] = [];
  let looked = 0;
  for (const top of ["src", "bin"]) {
    for await (const file of files(ROOT + top)) {
      looked++;
      for (const { line, name } of undocumentedExports(await Deno.readTextFile(file))) {
        missing.push(`${relative(ROOT, file)}:${line}: ${name}`);
      }
    }
  }
  assert(looked > 300, `only ${looked} files are found`);
  assert.deepEqual(missing, []);
});

Deno.test("undocumentedExports() finds each kind of declaration, accepts one comment for overloads and groups, and requires none for types", () => {
  const source = [
    "/** A file. */",
    "export function told(a: string): void;",
    "export function told(a: unknown) {}",
    "export function untold() {}",
    "export const a = 1, b = 2;",
    "/** Told. */",
    "export class C {}",
    "// no doc comment",
    "export interface I {}",
    "export type T = string;",
    "function own() {}",
    "export { own };",
    'export * from "./x.ts";',
    "/** Two. */",
    "export const c = 1;",
    "export const d = 2;",
    "",
    "export const e = 3;",
  ].join("\n");
  assert.deepEqual(undocumentedExports(source).map(({ line, name }) => `${line} ${name}`), [
    "4 untold",
    "5 a",
    "5 b",
    "18 e",
  ]);
});
