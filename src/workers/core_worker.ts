/**
 * Worker of the core: knows users, keys and daemons, reads the configured files, connects to the configured hosts only.
 * Requests come from the edge over a channel, admin requests from the supervisor. It does not listen.
 */
import type { Logger } from "../logging/logger.ts";
import { InvalidFile } from "../model/diagnostic.ts";
import { messageOf } from "../model/text.ts";
import { createService, type Service } from "../service/service.ts";
import { UnknownDatabase } from "../store/sqlite_database.ts";
import { EdgeChannel } from "./edge_channel.ts";
import { hear, Measurements, surviveRejections, tell, WorkerAudit, workerLog } from "./worker_scope.ts";
import type { FromCore, ToCoreWorker } from "./worker_message.ts";

interface Core {
  readonly service: Service;
  readonly log: Logger;
  readonly post: (message: FromCore) => void;
  close(last: boolean): Promise<void>;
}

let core: Promise<Core | undefined> | undefined;
const edges = new Map<string, EdgeChannel>();

hear((message: ToCoreWorker) => {
  switch (message.kind) {
    case "start":
      core = start(message);
      break;
    case "channel":
      void core?.then((running) =>
        running && edges.set(message.edge, new EdgeChannel(message.port, running.service.answer, running.log))
      );
      break;
    case "edge-lost":
      void core?.then(() => edges.get(message.edge)?.lose()).then(() => edges.delete(message.edge));
      break;
    case "admin":
      void core?.then((running) => running && answerAdmin(message, running));
      break;
    case "adopt":
      void core?.then((running) => running?.service.adopt(message.update));
      break;
    case "material":
      void core?.then((running) => running?.service.renewTls(message.material));
      break;
    case "audit-state":
      void core?.then((running) => running?.service.tellAudit(message.fails));
      break;
    case "leave":
      void core?.then((running) => running?.service.drain());
      break;
    case "retire":
      void core?.then((running) => running?.service.retire());
      break;
    case "ping":
      tell({ kind: "pong" });
      break;
    case "close":
      void core?.then((running) => running?.close(message.last)).then(() => tell({ kind: "closed" }));
      break;
  }
});

async function start({ options, port }: ToCoreWorker & { kind: "start" }): Promise<Core | undefined> {
  const { log, flush } = workerLog((text) => tell({ kind: "log", text }), options.config.logging.level);
  const post = (message: FromCore) => port.postMessage(message);
  const audit = new WorkerAudit((auditLines) => post({ auditLines }));
  try {
    const service = await createService(options, {
      log,
      audit: audit.record,
      publish: (update) => post({ update }),
    });
    const counted = () => service.counted();
    const measurements = new Measurements(counted, (report) => tell({ kind: "measured", report }));
    surviveRejections(log, () => measurements.rejected());
    tell({ kind: "ready", port: options.port });
    return {
      service,
      log,
      post,
      async close(last) {
        if (last) await service.leave();
        await service.close();
        flush();
        audit.flush();
        measurements.report();
        post({ closed: true });
      },
    };
  } catch (error) {
    flush();
    const permanent = error instanceof InvalidFile || error instanceof UnknownDatabase;
    tell({ kind: "failed", diagnostics: [messageOf(error)], permanent });
    return undefined;
  }
}

async function answerAdmin(
  { id, request }: ToCoreWorker & { kind: "admin" },
  { service, post }: Core,
): Promise<void> {
  try {
    post({ id, answer: await service.admin.call(request) });
  } catch (error) {
    post({ id, failed: messageOf(error) });
  }
}
