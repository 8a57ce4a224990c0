/** Owners of shares whose account or group was taken away in the map. */
import assert from "node:assert/strict";
import { ALICE, ALICE_DN } from "../system/running_service.ts";
import { SharingSystem } from "../system/sharing/sharing_system.ts";

for (const combiningPolicy of ["MERGE", "MERGE_LAST_OVERRIDES"]) {
  Deno.test(`a share of an account or group that its owner has lost is pointed at no other path (${combiningPolicy})`, async () => {
    await using sharing = await SharingSystem.open({
      properties: { "container.security.attributes.combiningPolicy": combiningPolicy },
    });
    const { system, data } = sharing;
    await Deno.mkdir(`${data}/outside`);
    await Deno.writeTextFile(`${data}/outside/x`, "content");
    const id = await sharing.share("d/sub/");
    const mapped = async (entry: Readonly<Record<string, unknown>>) => {
      const lines = system.log.length;
      await system.replace("conf/mapfile.json", JSON.stringify({ [ALICE_DN]: { role: "user", ...entry } }));
      await system.logged(/mapfile\.json/, lines);
    };
    const point = (path: string) =>
      system.ask(`/rest/share/HPC/${id}`, { as: ALICE, method: "PUT", body: { path: `${data}/${path}` } });
    for (const lost of [{ xlogin: "carol", group: "hpc" }, { xlogin: "alice", group: "users" }]) {
      await mapped(lost);
      const orders = system.daemon().requests.filter(({ values }) => values?.get("user") === "alice").length;
      assert.equal((await point("outside/")).status, 403);
      assert.equal((await sharing.fetch(`${id}/x`)).status, 404);
      const later = system.daemon().requests.filter(({ values }) => values?.get("user") === "alice").length;
      assert.equal(later, orders, "no session was opened");
    }
    await mapped({ xlogin: "alice", group: ["hpc", "users"] });
    assert.equal((await point("outside/")).status, 200);
    assert.equal((await sharing.fetch(`${id}/x`)).text, "content");
  });
}
