import assert from "node:assert/strict";
import { credentialFingerprint, EntryFingerprints } from "../../src/authentication/credential_fingerprint.ts";

Deno.test("credentialFingerprint() differs by credential, by use and by login", () => {
  const made = [
    credentialFingerprint("hash", "password", "ann"),
    credentialFingerprint("hash", "password", "bob"),
    credentialFingerprint("hash", "key", "ann"),
    credentialFingerprint("other", "password", "ann"),
  ];
  assert.equal(new Set(made).size, made.length);
});

Deno.test("EntryFingerprints computes the fingerprint of an entry once for a login, and anew for each other login and entry", () => {
  let computed = 0;
  const prints = new EntryFingerprints<{ readonly hash: string }>("password", ({ hash }) => {
    computed++;
    return hash;
  });
  const [before, after] = [{ hash: "before" }, { hash: "after" }];
  for (const [entry, login] of [[before, "ann"], [before, "ann"], [before, "bob"], [after, "bob"]] as const) {
    assert.equal(prints.of(entry, login), credentialFingerprint(entry.hash, "password", login));
  }
  assert.equal(computed, 3);
});
