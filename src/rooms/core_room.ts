/**
 * The core's room: a worker that knows users, keys and daemons. It reads the configured files and reaches the configured
 * hosts; it does not listen. Requests come from the edge over a link.
 */
import type { Logger } from "../logging/logger.ts";
import { createService, type Service } from "../service/service.ts";
import { EdgeLink } from "./edge_link.ts";
import { answerWith, type Handle } from "./request_exchange.ts";
import { type RoomLog, roomLog } from "./room_log.ts";
import type { ServiceOptions } from "../service/assemble.ts";
import type { ToCoreRoom } from "./room_message.ts";
import { hear, tell } from "./worker_scope.ts";

let room: RoomLog | undefined;
let service: Promise<Service | undefined> | undefined;

hear((message: ToCoreRoom) => {
  switch (message.kind) {
    case "start":
      room = roomLog((lines) => tell({ kind: "log", lines }), message.options.config.logging.level);
      service = start(message.options, room.log);
      break;
    case "link":
      if (service && room) link(message.port, service, room.log);
      break;
    case "material":
      void service?.then((running) => running?.renewTls(message.material));
      break;
    case "ping":
      tell({ kind: "pong" });
      break;
    case "close":
      void service?.then((running) => running?.close()).then(() => {
        room?.flush();
        tell({ kind: "closed" });
      });
      break;
  }
});

async function start(options: ServiceOptions, log: Logger): Promise<Service | undefined> {
  try {
    const running = await createService(options, { log });
    tell({ kind: "ready", port: options.port });
    return running;
  } catch (error) {
    tell({ kind: "failed", problems: [error instanceof Error ? error.message : String(error)] });
    return undefined;
  }
}

function link(port: MessagePort, service: Promise<Service | undefined>, log: Logger): void {
  const handle: Handle = async (request, peer) => {
    const running = await service;
    if (running === undefined) throw new TypeError("a core that could not start was linked");
    return await running.answer(request, peer);
  };
  new EdgeLink(port, answerWith(handle), log);
}
