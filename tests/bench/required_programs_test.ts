import assert from "node:assert/strict";
import { ProgramMissing, requirePrograms } from "./required_programs.ts";

Deno.test("requirePrograms() names a missing program, and how to install it", async () => {
  await requirePrograms([Deno.execPath()]);
  await assert.rejects(
    requirePrograms([Deno.execPath(), "no-such-client"]),
    (error) =>
      error instanceof ProgramMissing && /no-such-client is not installed.*apt-get/.test(error.message),
  );
});
