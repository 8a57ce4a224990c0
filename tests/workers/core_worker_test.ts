/** Tests the core's worker in a worker thread, without a supervisor. */
import assert from "node:assert/strict";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import { CoreChannel } from "../../src/workers/core_channel.ts";
import type { FromWorker, ToCoreWorker } from "../../src/workers/worker_message.ts";
import { createSite } from "../system/running_service.ts";
import { HeaderList } from "../../src/model/http_message.ts";

Deno.test("a closing core sends all its log lines and counts before it reports its end", async () => {
  await using site = await createSite();
  const { snapshot } = await inspect(site.main);
  assert(snapshot);
  const worker = new Worker(new URL("../../src/workers/core_worker.ts", import.meta.url), { type: "module" });
  const heard: FromWorker[] = [];
  const until = (kind: FromWorker["kind"]) =>
    new Promise<void>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        heard.push(data);
        if (data.kind === kind) resolve();
      };
    });
  const tell = (message: ToCoreWorker, ports: MessagePort[]) => worker.postMessage(message, ports);
  const [published, edge] = [new MessageChannel(), new MessageChannel()];
  const ready = until("ready");
  const options = { ...snapshot, generation: 1, upSince: 0, port: 9000 };
  tell({ kind: "start", options, port: published.port1 }, [published.port1]);
  await ready;
  tell({ kind: "channel", port: edge.port1, edge: "one" }, [edge.port1]);
  const channel = new CoreChannel(edge.port2);
  try {
    const request = {
      method: "GET",
      path: "/rest/auth",
      query: "",
      headers: new HeaderList(),
      client: { address: "192.0.2.1" },
      body: null,
    };
    const { status } = await channel.call(request, new AbortController().signal);
    assert.equal(status, 200);
    const closed = until("closed");
    tell({ kind: "close", last: false }, []);
    await closed;
  } finally {
    channel.close();
    published.port2.close();
    worker.terminate();
  }
  const logged = heard.flatMap((message) => message.kind === "log" ? message.text : []).join("");
  assert.match(logged, /request answered .*method=GET route=\/rest\/auth status=200/);
  const counted = heard.flatMap((message) => message.kind === "measured" ? message.report.counts : []);
  assert(
    counted.some(({ family }) => family === "authserver_requests_total"),
    JSON.stringify(counted),
  );
});
