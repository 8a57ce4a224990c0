import assert from "node:assert/strict";
import type { AttributeSource } from "../../../src/attributes/attribute_source.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { attributeValues } from "../../../src/model/attributes.ts";
import { ownerLimitsNow } from "../../../src/resource/share/owner_limits_now.ts";
import { ShareNotFound } from "../../../src/resource/share/sharing_errors.ts";
import { DRAFT } from "../../sharing/store/conformance.ts";

const SHARE = { ...DRAFT, server: "HPC", id: "x", accessCount: 0, created: 0 };

function limitsNow(role: string, extra: Record<string, string>) {
  const source: AttributeSource = {
    name: "FILE",
    attributesOf: ({ dn }) => {
      assert.equal(dn, SHARE.owner);
      return Promise.resolve({
        standard: new Map([["role", attributeValues("role", [role])]]),
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
