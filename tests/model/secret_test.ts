import assert from "node:assert/strict";
import { inspect } from "node:util";
import { Secret } from "../../src/model/secret.ts";

Deno.test("a Secret shows its text only to code that asks for it", () => {
  const secret = new Secret("s3cr3t");
  assert.equal(secret.reveal(), "s3cr3t");
  for (
    const shown of [
      String(secret),
      `${secret}`,
      secret + "",
      JSON.stringify({ secret }),
      Deno.inspect({ secret }, { depth: 10 }),
      inspect({ secret }, { depth: 10, showHidden: true }),
      Object.values(secret).join(),
      String(new Error("x", { cause: secret }).cause),
    ]
  ) assert.doesNotMatch(shown, /s3cr3t/);
  for (const shown of [String(secret), secret.toJSON(), Deno.inspect(secret)]) assert.equal(shown, "***");
});
