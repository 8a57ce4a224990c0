import assert from "node:assert/strict";
import type { AttributeSource } from "../../../src/attributes/attribute_source.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { attributeValues } from "../../../src/model/attributes.ts";
import { ownerLimitsNow } from "../../../src/resource/share/owner_limits_now.ts";
import { ShareNotFound } from "../../../src/resource/share/sharing_errors.ts";
import { DRAFT } from "../../sharing/store/conformance.ts";

const SHARE = { ...DRAFT, server: "HPC", id: "x", accessCount: 0, created: 0 };

function limitsNow(
  role: string,
  extra: Record<string, string>,
  accounts: (uid: string | undefined) => readonly (string | undefined)[] = () => [],
) {
  const source: AttributeSource = {
    name: "FILE",
    attributesOf: ({ dn, uid }) => {
      assert.equal(dn, SHARE.owner);
      const xlogin = accounts(uid).filter((account) => account !== undefined);
      return Promise.resolve({
        standard: new Map([
          ["role", attributeValues("role", [role])],
          ...(xlogin.length > 0 ? [["xlogin", attributeValues("xlogin", xlogin)] as const] : []),
        ]),
        extra: new Map(Object.entries(extra).map(([name, value]) => [name, [value]])),
      });
    },
    close: () => {},
  };
  return ownerLimitsNow(source, SILENT)(SHARE, new AbortController().signal);
}

Deno.test("ownerLimitsNow() asks the sources about an owner who is not there", async () => {
  const extra = {
    "uftpd.HPC.includes": "/data/*",
    "uftpd.HPC.excludes": "/data/x",
    "uftpd.OTHER.excludes": "/y",
  };
  assert.deepEqual(await limitsNow("user", extra), { includes: "/data/*", excludes: "/data/x" });
  assert.deepEqual(await limitsNow("user", {}), {});
});

Deno.test("ownerLimitsNow() ends the shares of a banned owner", async () => {
  await assert.rejects(limitsNow("banned", {}), ShareNotFound);
});

Deno.test("ownerLimitsNow() ends the shares of an owner whose account is another one by now", async () => {
  await assert.rejects(limitsNow("user", {}, () => ["other"]), ShareNotFound);
  await assert.rejects(limitsNow("user", { "uftpd.HPC.xlogin": "other" }), ShareNotFound);
  await assert.rejects(limitsNow("user", { "uftpd.HPC.xlogin": "other" }, () => [SHARE.uid]), ShareNotFound);
});

Deno.test("ownerLimitsNow() leaves an owner any account that is still theirs", async () => {
  assert.deepEqual(await limitsNow("user", {}, () => ["other", SHARE.uid]), {});
  assert.deepEqual(await limitsNow("user", { "uftpd.HPC.xlogin": SHARE.uid }, () => ["other"]), {});
  // Found out by authentication, which is not there to be asked.
  assert.deepEqual(await limitsNow("user", {}, (uid) => ["other", uid]), {});
});
