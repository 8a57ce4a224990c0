/**
 * Shares from the Java service belong to all servers: only callers whom each server accepts may change them.
 */
import assert from "node:assert/strict";
import { canonicalDn } from "../../src/model/distinguished_name.ts";
import { openShareStore } from "../../src/sharing/store/share_store.ts";
import { ALICE, ALICE_DN, createSite, runAt } from "../system/running_service.ts";
import { EVERYBODY } from "../../src/sharing/share.ts";

Deno.test("only logins that all its servers accept change, replace and end a share of several servers", async () => {
  const data = await Deno.realPath(await Deno.makeTempDir());
  await using _ = { [Symbol.asyncDispose]: () => Deno.remove(data, { recursive: true }) };
  const daemon = { users: { alice: { uid: 1000, home: data, groups: ["hpc"] } } };
  const site = await createSite({
    servers: { HPC: [daemon], TWO: [daemon] },
    properties: { "share.servers": "HPC TWO", "persistence.directory": "{folder}/data" },
  });
  await Deno.mkdir(`${site.folder}/data`);
  const id = "JavaShareOfTwoServers1";
  const store = openShareStore(`${site.folder}/data/shares.sqlite`, Date.now);
  const share = {
    id,
    path: `${data}/`,
    owner: canonicalDn(ALICE_DN),
    target: EVERYBODY,
    uid: "alice",
    access: "READ",
    expires: 0,
    oneTime: false,
    sources: [],
    accessCount: 0,
    created: 1,
  } as const;
  await store.addAll([{ ...share, server: "HPC" }, { ...share, server: "TWO" }]);
  store.close();
  await using system = await runAt(site);
  const text = await system.ask("/rest/auth/token?lifetime=600&server=HPC", {
    as: ALICE,
    headers: { Accept: "text/plain" },
  });
  const narrow = { Authorization: `Bearer ${text.text}` };
  const read = async () => (await system.ask(`/rest/share/TWO/${id}`, { as: ALICE })).status;
  assert.equal(await read(), 200);
  const change = (headers: Readonly<Record<string, string>>, method: string, path: string, body?: unknown) =>
    system.ask(`/rest/share/HPC${path}`, { method, headers, body }).then(({ status }) => status);
  assert.equal(await change(narrow, "GET", `/${id}`), 200);
  assert.equal(await change(narrow, "PUT", `/${id}`, { lifetime: 60 }), 403);
  assert.equal(await change(narrow, "DELETE", `/${id}`), 403);
  for (const access of ["READ", "NONE"]) {
    assert.equal(
      await change(narrow, "POST", "", { path: share.path, user: EVERYBODY, access }),
      403,
      access,
    );
  }
  const main = await Deno.readTextFile(system.main);
  await system.replace("conf/container.properties", `${main}authservice.server.TWO.networks=192.0.2.0/24\n`);
  await system.service.reload();
  const login = { Authorization: `Basic ${btoa(ALICE.join(":"))}` };
  assert.equal(await change(login, "DELETE", `/${id}`), 403);
  await system.replace("conf/container.properties", main);
  await system.service.reload();
  assert.equal(await change(login, "DELETE", `/${id}`), 200);
  assert.equal(await read(), 404);
});
