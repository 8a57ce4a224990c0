import assert from "node:assert/strict";
import { HeaderList } from "../../../src/model/http_message.ts";
import {
  announcedDigest,
  reprDigest,
  verifyDigest,
  wantedAlgorithm,
} from "../../../src/resource/dav/digests.ts";

const announced = (headers: Readonly<Record<string, string>>) => announcedDigest(HeaderList.of(headers));

Deno.test("announcedDigest() chooses the best digest that it knows, and refuses malformed ones", () => {
  assert.equal(announced({}), undefined);
  assert.equal(announced({ "Repr-Digest": "unixsum=:AA==:", "OC-Checksum": "ADLER32:00" }), undefined);
  const both = announced({ "Repr-Digest": "md5=:AAE=:, sha-512=:AAI=:" });
  assert.deepEqual(both, { algorithm: "SHA-512", hex: "0002" });
  const hex = "AB".repeat(20);
  assert.deepEqual(announced({ "OC-Checksum": `SHA1:${hex}` }), {
    algorithm: "SHA-1",
    hex: hex.toLowerCase(),
  });
  for (
    const [name, value] of [
      ["Repr-Digest", "sha-256=AAAA"],
      ["Repr-Digest", "sha-256=:A A:"],
      ["OC-Checksum", "SHA1"],
      ["OC-Checksum", "md5:xyz"],
    ] as const
  ) {
    assert.throws(() => announced({ [name]: value }), { code: "ERR_INVALID_REQUEST" }, value);
  }
});

Deno.test("verifyDigest() compares the digest with the daemon's, if there is one", async () => {
  const session = {
    checksum: (_path: string, algorithm: string) => Promise.resolve(algorithm === "MD5" ? "00" : "01"),
  };
  const never = { checksum: () => assert.fail("nothing is computed") };
  await verifyDigest(never, "/a", 1, undefined);
  await verifyDigest(session, "/a", 1, { algorithm: "MD5", hex: "00" });
  await assert.rejects(verifyDigest(session, "/a", 1, { algorithm: "MD5", hex: "01" }), {
    code: "ERR_DIGEST_MISMATCH",
  });
});

Deno.test("wantedAlgorithm() and reprDigest() choose the most wanted digest", () => {
  const wanted = (value: string) => wantedAlgorithm(HeaderList.of({ "Want-Repr-Digest": value }));
  assert.equal(wanted("sha-256=1, md5=5, unixsum=9"), "MD5");
  for (const value of ["", "md5=0", "unixsum=1"]) assert.equal(wanted(value), undefined, value);
  assert.equal(reprDigest("MD5", "00"), "md5=:AA==:");
  assert.equal(reprDigest("SHA-256", "01"), "sha-256=:AQ==:");
});
