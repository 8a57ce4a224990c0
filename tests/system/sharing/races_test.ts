import assert from "node:assert/strict";
import { ALICE } from "../running_service.ts";
import { BOB, SharingSystem } from "./sharing_system.ts";

const sharing = await SharingSystem.open();
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

const { system } = sharing;

/** Downloads a share by its link. @returns Whether it was there. */
async function byLink(id: string): Promise<boolean> {
  const { status, text } = await sharing.fetch(id);
  assert.ok(status === 404 || (status === 200 && text === "0123456789"), `${status} ${text}`);
  return status === 200;
}

/** Uses a share by a session. @returns Whether it was there. */
async function bySession(id: string): Promise<boolean> {
  const body = { serverPath: `${sharing.data}/d/ten.txt`, send: true };
  const { status, text } = await system.ask(`/rest/access/HPC/${id}`, { as: BOB, method: "POST", body });
  assert.ok(status === 404 || status === 200, `${status} ${text}`);
  return status === 200;
}

/** Changes the end of a share, as its owner may at any time. */
async function change(id: string, lifetime: number): Promise<void> {
  const { status, text } = await system.ask(`/rest/share/HPC/${id}`, {
    as: ALICE,
    method: "PUT",
    body: { lifetime },
  });
  assert.ok(status < 300 || status === 404, `${status} ${text}`);
}

Deno.test("a one-time share is used once, by link or by session, whatever its owner changes meanwhile", async () => {
  for (let round = 0; round < 5; round++) {
    const id = await sharing.share("d/ten.txt", { onetime: true });
    const taken = await Promise.all(Array.from({ length: 24 }, async (_, i) => {
      if (i % 3 === 0) await change(id, 1000 + i);
      else return await (i % 3 === 1 ? byLink(id) : bySession(id));
    }));
    assert.equal(taken.filter((had) => had === true).length, 1, `round ${round}`);
  }
});
