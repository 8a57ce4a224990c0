import assert from "node:assert/strict";
import { join } from "node:path";
import { PROOFS, ReplayCache } from "../../src/model/replay_cache.ts";
import {
  type AuthenticatorParts,
  createAuthenticators,
} from "../../src/authentication/authenticator_kind.ts";
import { AUTHENTICATORS } from "../../src/authentication/kinds.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { onlyHttp } from "../outgoing/only_http.ts";

const PARTS: AuthenticatorParts = {
  log: SILENT,
  clock: Date.now,
  sharedClock: Date.now,
  keySources: [],
  proofs: new ReplayCache(PROOFS, () => 0),
  records: () => undefined,
  clientTrust: () => undefined,
  serverName: () => "CN=auth",
  outgoing: onlyHttp(),
  assertions: { url: "https://localhost", additionalIdentifiers: [], issuers: () => [], anchors: () => [] },
  gateway: undefined,
};

const passwords = (name: string, file: string) => ({
  kind: "FilebasedAuthenticator",
  name,
  file,
});

Deno.test("createAuthenticators() creates the authenticators in their order", async () => {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "users.txt");
  await Deno.writeTextFile(file, "");
  const authenticators = await createAuthenticators(
    [passwords("PASSWORD", file), passwords("FILE", file)],
    AUTHENTICATORS,
    PARTS,
  );
  assert.deepEqual(authenticators.map(({ name }) => name), ["PASSWORD", "FILE"]);
  authenticators.forEach((authenticator) => authenticator.close());
  await Deno.remove(folder, { recursive: true });
});

Deno.test("createAuthenticators() creates no authenticator without configuration", async () => {
  assert.deepEqual(await createAuthenticators([], AUTHENTICATORS, PARTS), []);
});

Deno.test("createAuthenticators() reports every authenticator that cannot start", async () => {
  const missing = (name: string) => passwords(name, `/no/such/${name}`);
  await assert.rejects(createAuthenticators([missing("A")], AUTHENTICATORS, PARTS), Deno.errors.NotFound);
  await assert.rejects(
    createAuthenticators([missing("A"), missing("B")], AUTHENTICATORS, PARTS),
    (error: unknown) => {
      assert.ok(error instanceof AggregateError);
      assert.deepEqual(error.errors.map((each: unknown) => /\/(\w)$/.exec(String(each))?.[1]), ["A", "B"]);
      return true;
    },
  );
});
