import assert from "node:assert/strict";
import { PROOFS, SeenOnce } from "../../src/model/seen_once.ts";
import { join } from "node:path";
import type { MethodParts } from "../../src/authentication/authenticator_kind.ts";
import { AUTHENTICATORS } from "../../src/authentication/kinds.ts";
import { createMethods } from "../../src/authentication/registry.ts";
import { SILENT } from "../../src/logging/logger.ts";

const PARTS: MethodParts = {
  log: SILENT,
  clock: Date.now,
  keySources: [],
  proofs: new SeenOnce(PROOFS, () => 0),
  records: () => undefined,
  revocation: () => undefined,
  serverName: () => "CN=auth",
  outgoing: () => ({ send: () => Promise.reject(new Error("nobody is asked here")) }),
  assertions: { url: "https://localhost", additionalIdentifiers: [], issuers: () => [], anchors: () => [] },
  gateway: undefined,
};

const passwords = (name: string, file: string) => ({
  kind: "FilebasedAuthenticator",
  name,
  file,
});

Deno.test("createMethods() makes the methods in their order", async () => {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "users.txt");
  await Deno.writeTextFile(file, "");
  const methods = await createMethods(
    [passwords("PASSWORD", file), passwords("FILE", file)],
    AUTHENTICATORS,
    PARTS,
  );
  assert.deepEqual(methods.map(({ name }) => name), ["PASSWORD", "FILE"]);
  methods.forEach((method) => method.close());
  await Deno.remove(folder, { recursive: true });
});

Deno.test("createMethods() makes none of none", async () => {
  assert.deepEqual(await createMethods([], AUTHENTICATORS, PARTS), []);
});

Deno.test("createMethods() fails with every method that cannot start", async () => {
  const missing = (name: string) => passwords(name, `/no/such/${name}`);
  await assert.rejects(createMethods([missing("A")], AUTHENTICATORS, PARTS), Deno.errors.NotFound);
  await assert.rejects(
    createMethods([missing("A"), missing("B")], AUTHENTICATORS, PARTS),
    (error: unknown) => {
      assert.ok(error instanceof AggregateError);
      assert.deepEqual(error.errors.map((each: unknown) => /\/(\w)$/.exec(String(each))?.[1]), ["A", "B"]);
      return true;
    },
  );
});
