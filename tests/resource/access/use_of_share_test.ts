import { until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { SharingSite } from "../sharing_site.ts";

Deno.test("useShare() counts the bytes that pass through the service, apart by their direction", async () => {
  await using site = await SharingSite.open();
  const counted: [direction: string, bytes: number][] = [];
  site.parts = { ...site.parts, transferred: (...what) => counted.push(what) };
  const id = await site.share("d/", { access: "WRITE" });
  const at = `access/HPC/${id}/ten.txt`;
  assert.equal((await site.ask("anonymous", "PUT", at, { body: "seven !" })).status, 200);
  assert.equal(await (await site.ask("anonymous", "GET", at)).text(), "seven !");
  await until(() => counted.length >= 2, { everyMs: 1 }); // the service counts once the answer is read
  assert.deepEqual(counted, [["upload", 7], ["download", 7]]);
  const address = { body: { serverPath: `${site.root}/d/ten.txt`, send: "true" } };
  assert.equal((await site.ask("anonymous", "POST", "access/HPC", address)).status, 200);
  assert.equal(counted.length, 2, "what a daemon hands out itself is not known here");
});

Deno.test("useShare() refuses a request if another one takes the last use meanwhile", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE", maxUses: 1 });
  Object.defineProperty(site.parts.store, "claim", { value: () => Promise.resolve(undefined) });
  const at = `access/HPC/${id}/ten.txt`;
  assert.equal((await site.ask("anonymous", "PUT", at, { body: "seven !" })).status, 404);
  assert.equal((await site.ask("anonymous", "GET", at)).status, 404);
});
