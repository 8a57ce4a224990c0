/**
 * Worker of the core: knows users, keys and daemons, reads the configured files, connects only to the configured hosts.
 * It receives requests from the edge over a channel, and admin requests from the supervisor. It does not listen.
 */
import type { Logger } from "../logging/logger.ts";
import { InvalidFile } from "../model/diagnostic.ts";
import { messageOf } from "../model/text.ts";
import { createService, type Service } from "../service/service.ts";
import { UnknownDatabase } from "../store/sqlite_database.ts";
import { EdgeChannel } from "./edge_channel.ts";
import { Measurements, post, receive, surviveRejections, WorkerAudit, workerLog } from "./worker_scope.ts";
import type { FromCore, ToCoreWorker } from "./worker_message.ts";

interface Core {
  readonly service: Service;
  readonly log: Logger;
  readonly publish: (message: FromCore) => void;
  close(last: boolean): Promise<void>;
}

let core: Promise<Core | undefined> | undefined;
const edges = new Map<string, EdgeChannel>();

receive((message: ToCoreWorker) => {
  switch (message.kind) {
    case "start":
      core = start(message);
      return;
    case "channel":
      return void core?.then((running) =>
        running && edges.set(message.edge, new EdgeChannel(message.port, running.service.answer, running.log))
      );
    case "edge-lost":
      return void core?.then(() => edges.get(message.edge)?.abort()).then(() => edges.delete(message.edge));
    case "admin":
      return void core?.then((running) => running && answerAdmin(message, running));
    case "adopt":
      return void core?.then((running) => running?.service.adopt(message.update));
    case "material":
      return void core?.then((running) => running?.service.renewTls(message.material));
    case "audit-state":
      return void core?.then((running) => running?.service.setAuditFailing(message.fails));
    case "leave":
      return void core?.then((running) => running?.service.drain());
    case "retire":
      return void core?.then((running) => running?.service.retire());
    case "ping":
      return post({ kind: "pong" });
    case "close":
      return void core?.then((running) => running?.close(message.last)).then(() => post({ kind: "closed" }));
  }
});

async function start({ options, port }: ToCoreWorker & { kind: "start" }): Promise<Core | undefined> {
  const { log, flush } = workerLog((text) => post({ kind: "log", text }), options.config.logging.level);
  const publish = (message: FromCore) => port.postMessage(message);
  const audit = new WorkerAudit((auditLines) => publish({ auditLines }));
  try {
    const service = await createService(options, {
      log,
      audit: audit.record,
      publish: (update) => publish({ update }),
    });
    const counted = () => service.counted();
    const measurements = new Measurements(counted, (report) => post({ kind: "measured", report }));
    surviveRejections(log, () => measurements.rejected());
    post({ kind: "ready", port: options.port });
    return {
      service,
      log,
      publish,
      async close(last) {
        if (last) await service.leave();
        await service.close();
        flush();
        audit.flush();
        measurements.report();
        publish({ closed: true });
      },
    };
  } catch (error) {
    flush();
    const permanent = error instanceof InvalidFile || error instanceof UnknownDatabase;
    post({ kind: "failed", diagnostics: [messageOf(error)], permanent });
    return undefined;
  }
}

async function answerAdmin(
  { id, request }: ToCoreWorker & { kind: "admin" },
  { service, publish }: Core,
): Promise<void> {
  try {
    publish({ id, answer: await service.admin.call(request) });
  } catch (error) {
    publish({ id, failed: messageOf(error) });
  }
}
