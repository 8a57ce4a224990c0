import assert from "node:assert/strict";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import type { AttributeSource } from "../../../src/attributes/attribute_source.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { Sinks } from "../../../src/logging/sink.ts";
import { NO_ATTRIBUTES } from "../../../src/model/attributes.ts";
import { httpError } from "../../../src/model/http_error.ts";
import { openSharing } from "../../../src/resource/share/open_sharing.ts";
import { openUploads } from "../../../src/resource/share/open_uploads.ts";
import { SHARE_DATABASE } from "../../../src/sharing/store/schema.ts";
import { DRAFT } from "../../sharing/store/conformance.ts";
import { Site } from "../../sharing/site.ts";

const SOURCE: AttributeSource = {
  name: "NONE",
  attributesOf: () => Promise.resolve(NO_ATTRIBUTES),
  close: () => {},
};

Deno.test("openUploads() has a store that lasts, and openSharing() the limits of owners", async () => {
  await using site = await Site.open();
  const directory = await Deno.makeTempDir();
  const server = (name: string, sharing: boolean) => ({
    name,
    description: "",
    daemons: site.group,
    sharing,
    reservations: { limitFor: () => 0, descriptionsFor: () => [], list: () => [] },
  });
  const open = () => {
    const uploads = openUploads({
      ...{ place: directory, marks: undefined, recorder: undefined, sinks: new Sinks(SILENT), log: SILENT },
      ...{ sessions: new Map([["HPC", site.sessions]]), clock: Date.now },
    });
    const sharing = openSharing({
      ...uploads,
      accountStatus: () => Promise.resolve({ kind: "cannot tell" }),
      servers: new Map([["HPC", server("HPC", true)], ["OTHER", server("OTHER", false)]]),
      watch: () => () => {},
      guess: (_who, look) => look(),
      attributes: SOURCE,
      allowWriteAccess: false,
      maxLifetimeSeconds: 0,
      maxPerUser: 0,
      unauthenticated: () => httpError("ERR_UNAUTHENTICATED", { challenge: "Bearer", accepted: "x" }),
      log: SILENT,
    });
    const close = () => {
      sharing.close();
      uploads.close();
    };
    return { ...sharing, close };
  };
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
