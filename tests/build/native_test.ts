import assert from "node:assert/strict";
import { compileNative } from "../../bin/build/native.ts";
import { ToolFailed } from "../../bin/build/run_tool.ts";

Deno.test("compileNative() refuses a program that does not print its version, since DENORT_BIN may name anything", async () => {
  const folder = await Deno.makeTempDir();
  const before = Deno.env.get("DENORT_BIN");
  Deno.env.set("DENORT_BIN", "/bin/true");
  try {
    const output = `${folder}/authserver`;
    const made = compileNative({
      output,
      target: Deno.build.target === "aarch64-unknown-linux-gnu"
        ? Deno.build.target
        : "x86_64-unknown-linux-gnu",
      version: "1.2.3",
      program: new Map([["main.js", 'console.log("authserver 1.2.3 (Deno 0.0.0, x)")']]),
      flags: [],
    });
    await assert.rejects(
      made,
      (error) =>
        error instanceof ToolFailed && /DENORT_BIN=\/bin\/true is not the runtime/.test(error.message),
    );
    await assert.rejects(Deno.stat(output), Deno.errors.NotFound);
  } finally {
    if (before === undefined) Deno.env.delete("DENORT_BIN");
    else Deno.env.set("DENORT_BIN", before);
    await Deno.remove(folder, { recursive: true });
  }
});
