import assert from "node:assert/strict";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import type { AttributeSource } from "../../../src/attributes/attribute_source.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { Sinks } from "../../../src/logging/sink.ts";
import { attributeValues } from "../../../src/model/attributes.ts";
import { openSharing } from "../../../src/resource/share/open_sharing.ts";
import { SHARE_DATABASE } from "../../../src/sharing/store/schema.ts";
import { DRAFT } from "../../sharing/store/conformance.ts";
import { Site } from "../../sharing/site.ts";

/** Attribute source that gives all users the account of their login. */
const SOURCE: AttributeSource = {
  name: "SAME",
  attributesOf: ({ uid = "" }) =>
    Promise.resolve({ standard: new Map([["xlogin", attributeValues("xlogin", [uid])]]), extra: new Map() }),
  close: () => {},
};

Deno.test("openSharing() keeps shares in a file", async () => {
  await using site = await Site.open();
  const directory = await Deno.makeTempDir();
  const open = () =>
    openSharing({
      accountStatus: () => Promise.resolve({ kind: "cannot tell" }),
      sessions: new Map([["HPC", site.sessions]]),
      place: directory,
      attributes: SOURCE,
      sinks: new Sinks(SILENT),
      log: SILENT,
      clock: Date.now,
    });
  const first = open();
  const share = await first.store.put("HPC", DRAFT);
  assertAlike(await first.owners.limits(share, new AbortController().signal), [{}]);
  first.close();
  const second = open();
  assert.equal((await second.store.get("HPC", share.id))?.path, DRAFT.path);
  second.close();
  assert.ok((await Deno.stat(`${directory}/${SHARE_DATABASE}`)).isFile);
  await Deno.remove(directory, { recursive: true });
});
