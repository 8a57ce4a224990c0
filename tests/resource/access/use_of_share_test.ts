import { until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { SharingSite } from "../sharing_site.ts";

Deno.test("useShare() counts the bytes that pass through the service, by direction", async () => {
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

Deno.test("useShare() refuses a caller if the terms changed between check and use", async () => {
  await using site = await SharingSite.open();
  const at = (id: string) => `access/HPC/${id}/ten.txt`;
  const requests: readonly ((id: string) => Promise<Response>)[] = [
    (id) => site.ask("anonymous", "GET", at(id)),
    (id) => site.ask("anonymous", "PUT", at(id), { body: "x" }),
    (id) => site.ask("anonymous", "PUT", `${at(id)}?upload=0123456789abcdefghij`, { body: "x" }),
    (id) =>
      site.ask("anonymous", "POST", `access/HPC/${id}`, {
        body: { serverPath: `${site.root}/d/`, send: true },
      }),
  ];
  for (const [i, request] of requests.entries()) {
    for (const change of [{ password: "another" }, { sources: ["192.0.2.0/24"] }, { note: "other" }]) {
      const id = await site.share("d/", { access: "WRITE" });
      const { owners } = site.parts;
      const limits: typeof owners.limits = async (share, signal) => {
        site.parts = { ...site.parts, owners };
        await site.parts.store.change("HPC", id, change);
        return await owners.limits(share, signal);
      };
      site.parts = { ...site.parts, owners: { mapped: owners.mapped, limits } };
      const response = await request(id);
      await response.text();
      const what = `${i} ${JSON.stringify(change)}`;
      assert.equal(response.ok, "note" in change, `${what}: ${response.status}`);
      const { accessCount } = await site.parts.store.get("HPC", id) ?? {};
      assert.equal(accessCount, "note" in change ? 1 : 0, what);
      await site.parts.store.remove("HPC", id);
      await Deno.writeTextFile(`${site.root}/d/ten.txt`, "0123456789");
    }
  }
});
