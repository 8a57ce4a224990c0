/** The metrics page's room: a worker that listens for scrapers and may do nothing else. The page comes from the supervisor. */
import { HttpsEdge } from "../edge/https_edge.ts";
import { addressGroup } from "../model/address_group.ts";
import { listenProblem } from "./listen_problem.ts";
import { metricsAnswer } from "./metrics_answer.ts";
import { PageCaller } from "./page_link.ts";
import { roomLog } from "./room_log.ts";
import type { ToMetricsRoom } from "./room_message.ts";
import { surviveRejections } from "./survive_rejections.ts";
import { hear, tell } from "./worker_scope.ts";

let edge: Promise<HttpsEdge | undefined> | undefined;

hear((message: ToMetricsRoom) => {
  switch (message.kind) {
    case "start":
      edge = start(message);
      break;
    case "ping":
      tell({ kind: "pong" });
      break;
    case "drain":
      void edge?.then((running) => running?.drain(message.withinMs)).then(() => tell({ kind: "closed" }));
      break;
  }
});

async function start(
  { options, page, logLevel }: ToMetricsRoom & { kind: "start" },
): Promise<HttpsEdge | undefined> {
  const { log } = roomLog((text) => tell({ kind: "log", text }), logLevel);
  surviveRejections(log, () => {}); // the line is enough
  const caller = new PageCaller(page);
  try {
    const answer = metricsAnswer(() => caller.page());
    const running = await HttpsEdge.start(options, { answer, log, groupOf: addressGroup });
    tell({ kind: "ready", port: running.port });
    return running;
  } catch (error) {
    tell({ kind: "failed", problems: [listenProblem(error, options.address, options.port)] });
    return undefined;
  }
}
