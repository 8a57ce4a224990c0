import assert from "node:assert/strict";
import { SILENT } from "../../../../src/logging/logger.ts";
import { deleteDue } from "../../../../src/resource/access/drop/delete_part.ts";
import { SharingSite } from "../../sharing_site.ts";

Deno.test("deleteDue() ends when there is nothing more to delete", async () => {
  await using site = await SharingSite.open();
  const { store } = site.parts.uploads.unfinished;
  const due = store.due.bind(store);
  let asked = 0;
  store.due = () => ++asked > 3 ? Promise.reject(new Error("asked again and again")) : due();
  await deleteDue(site.parts, SILENT);
  assert.equal(asked, 1);
});
