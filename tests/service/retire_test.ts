/** Tests which work a service passes to its successor while its own requests continue. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import { createService, type Service } from "../../src/service/service.ts";
import { inTime, until } from "../fixtures/deadline.ts";
import { POSTGRES, TestPostgres } from "../fixtures/postgres.ts";
import { startHttpsServer } from "../identity_provider/https_server.ts";
import { createAuthority } from "../pki/authority.ts";
import { createSite, type Site } from "../system/running_service.ts";
import { databaseProperties } from "../system/several_instances.ts";
import { createSharingSite } from "../system/sharing/sharing_system.ts";

async function open({ main }: Site, generation: number, id: string): Promise<Service> {
  const { snapshot, diagnostics } = await inspect(main);
  assert(snapshot !== undefined, JSON.stringify(diagnostics));
  const instance = { id, host: "localhost" };
  const options = { ...snapshot, generation, upSince: Date.now(), port: 9000, instance };
  return await createService(options, { log: SILENT });
}

async function statusOf(service: Service): Promise<number> {
  const client = { address: "192.0.2.1" };
  const request = { method: "GET", path: "/rest/auth", query: "", headers: new HeaderList(), client };
  return (await service.answer({ ...request, body: null }, new AbortController().signal)).status;
}

Deno.test("Service.retire() passes notifications to the successor, even one whose delivery is under way", async () => {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const credential = authority.issue({ subject: "CN=receiver", names: ["localhost"] });
  const held = Promise.withResolvers<ServerResponse>();
  await using receiver = await startHttpsServer(credential, ({ path }, response) => {
    if (path === "/old") held.resolve(response);
    else response.writeHead(204).end();
  });
  await using site = await createSharingSite({
    authority,
    properties: {
      "notify.webhook.url": `${receiver.origin}/old`,
      "notify.webhook.secretFile": "{folder}/conf/webhook-secret",
    },
    files: { "conf/webhook-secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n" },
  });
  await Deno.mkdir(`${site.folder}/data`);
  const first = await open(site, 1, "one");
  await first.admin.call({ command: "ban add", subject: { user: "eve" }, seconds: 60 });
  const closed = once(await inTime(held.promise, "the first attempt"), "close");
  first.retire();
  await inTime(closed, "the end of the attempt", 10_000); // the attempt has fifteen seconds
  assert.equal(await statusOf(first), 200);

  const main = await Deno.readTextFile(site.main);
  await site.replace("conf/container.properties", main.replace("/old", "/new"));
  const second = await open(site, 2, "one");
  await until(() => receiver.seen.some(({ path }) => path === "/new"));
  const ids = receiver.seen.map(({ path, headers }) => `${path} ${headers["webhook-id"]}`);
  assert.deepEqual(ids.map((id) => id.slice(0, 4)), ["/old", "/new"]);
  assert.equal(ids[0]?.slice(4), ids[1]?.slice(4));
  await Promise.all([first.close(), second.close()]);
});

Deno.test({
  name: "Service.retire() stops announcing the instance, while requests continue",
  ignore: POSTGRES === undefined,
  async fn() {
    await using server = await TestPostgres.start();
    const database = await server.database();
    await using site = await createSite({ properties: databaseProperties(server, database) });
    const retired = await open(site, 1, "retired");
    const other = await open(site, 1, "other");
    retired.retire();
    await server.sql(database, "DELETE FROM authserver.instance");
    // Both would announce themselves at the same interval: wait for two announcements of the other one.
    const seen = new Set<string>();
    const connection = await server.connect(database);
    await until(async () => {
      const rows = await connection.run("SELECT id, seen FROM authserver.instance");
      for (const { id, seen: last } of rows) seen.add(`${id} ${last}`);
      return [...seen].filter((row) => row.startsWith("other")).length >= 2;
    }, { longestPauseMs: 1000 });
    connection.destroy();
    assert.deepEqual([...seen].filter((row) => row.startsWith("retired")), []);
    assert.equal(await statusOf(retired), 200);
    await Promise.all([retired.close(), other.close()]);
  },
});
