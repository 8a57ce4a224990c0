import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { HeaderList, type HttpRequest } from "../../src/model/http_message.ts";
import { createService } from "../../src/service/service.ts";
import { ALICE } from "../system/running_service.ts";
import { createSharingSite } from "../system/sharing/sharing_system.ts";

const LONG_LIST = 200; // shares, with long notes
/** More `HEAD` requests for the list than their answers would fit into the memory for unread answers. */
const MANY = 300;

Deno.test("the bodies that HEAD does not send take no memory from the answers that clients read", async () => {
  await using site = await createSharingSite();
  await Deno.mkdir(`${site.folder}/data`);
  const { snapshot } = await inspect(site.main);
  assert(snapshot !== undefined);
  const log = createLogger(() => {});
  const service = await createService({ ...snapshot, generation: 1, upSince: 0, port: 1 }, { log });
  try {
    const ask = (method: string, body?: unknown) => {
      const request: HttpRequest = {
        method,
        path: "/rest/share/HPC",
        query: "",
        headers: HeaderList.of({
          Authorization: `Basic ${Buffer.from(ALICE.join(":")).toString("base64")}`,
          "Content-Type": "application/json",
        }),
        client: { address: "127.0.0.1" },
        body: body === undefined ? null : new TextEncoder().encode(JSON.stringify(body)),
      };
      return service.answer(request, new AbortController().signal);
    };
    for (let i = 0; i < LONG_LIST; i++) {
      const note = "n".repeat(400);
      const { status } = await ask("POST", { path: `${site.data}/d/ten.txt`, user: `CN=user ${i}`, note });
      assert.equal(status, 201);
    }
    const { body } = await ask("GET");
    assert(body instanceof ReadableStream);
    const reader = body.getReader();
    let text = Buffer.from((await reader.read()).value ?? []).toString();
    for (let i = 0; i < MANY; i++) {
      const head = await ask("HEAD");
      assert.deepEqual([head.status, head.body], [200, null]);
    }
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += Buffer.from(value).toString();
    }
    assert.equal(JSON.parse(text).shares.length, LONG_LIST);
  } finally {
    await service.close();
  }
});
