/** Worker of the edge: speaks TLS and HTTP and may do nothing else. It reaches a replaceable core by a port. */
import type { EdgeOptions } from "../edge/edge_options.ts";
import { HttpsEdge } from "../edge/https_edge.ts";
import type { Level, Logger } from "../logging/logger.ts";
import { addressGroup } from "../model/address.ts";
import type { Handler } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import { messageOf } from "../model/text.ts";
import { CoreChannel } from "./core_channel.ts";
import { Measurements, post, receive, surviveRejections, type WorkerLog, workerLog } from "./worker_scope.ts";
import { MetricsHandler } from "../metrics/exposition.ts";
import type { ToEdgeWorker } from "./worker_message.ts";

const cores = new Map<number, CoreChannel>();
let current = 0; // generation of the core in use; 0: none yet
let worker: WorkerLog | undefined;
let logLevel: Level = "info";
let measurements: Measurements | undefined;
let edge: Promise<HttpsEdge | undefined> | undefined;
let metricsEdge: Promise<HttpsEdge | undefined> | undefined;
const metrics = new MetricsHandler(() => post({ kind: "metrics-page" }));

const answer: Handler = (request, signal) =>
  cores.get(current)?.call(request, signal) ?? Promise.reject(httpError("ERR_SERVICE_STARTING"));

receive((message: ToEdgeWorker) => {
  switch (message.kind) {
    case "start":
      logLevel = message.logLevel;
      worker = workerLog((text) => post({ kind: "log", text }), () => logLevel);
      metricsEdge = message.metrics && listen(message.metrics, metrics.answer, worker.log);
      edge = start(message, worker.log);
      return surviveRejections(worker.log, () => measurements?.rejected());
    case "core":
      return replaceCore(message.generation, new CoreChannel(message.port));
    case "core-lost":
      cores.get(message.generation)?.abort();
      return void cores.delete(message.generation);
    case "tls":
      return void edge?.then((running) => running?.renewTls(message.tls));
    case "log-level":
      logLevel = message.level;
      return;
    case "leave":
      return void edge?.then((running) => running?.leave());
    case "metrics-page":
      return metrics.received(message.page);
    case "ping":
      return post({ kind: "pong" });
    case "sync":
      return void edge?.then(() => post({ kind: "synced" }));
    case "drain":
      return void drain(message.withinMs);
  }
});

/** Starts an edge; reports why it cannot listen, and then returns undefined. */
async function listen(options: EdgeOptions, answer: Handler, log: Logger): Promise<HttpsEdge | undefined> {
  return await HttpsEdge.start(options, { answer, log, groupOf: addressGroup }).catch((error) => {
    post({ kind: "failed", diagnostics: [listenDiagnostic(error, options.address, options.port)] });
    return undefined;
  });
}

async function start(
  { options, metrics }: ToEdgeWorker & { kind: "start" },
  log: Logger,
): Promise<HttpsEdge | undefined> {
  const [running, metricsPage] = await Promise.all([listen(options, answer, log), metricsEdge]);
  if (running === undefined || (metrics !== undefined && metricsPage === undefined)) return undefined;
  measurements = new Measurements(() => running.counted(), (report) => post({ kind: "measured", report }));
  post({ kind: "ready", port: running.port, metricsPort: metricsPage?.port });
  return running;
}

async function drain(withinMs: number): Promise<void> {
  await Promise.all([edge, metricsEdge].map(async (running) => (await running)?.drain(withinMs)));
  worker?.flush();
  measurements?.report();
  post({ kind: "closed" });
}

/** Lets the previous core finish, then closes its channel. */
function replaceCore(generation: number, channel: CoreChannel): void {
  const before = current;
  current = generation;
  cores.set(generation, channel);
  const old = cores.get(before);
  void old?.idle().then(() => {
    cores.delete(before);
    old.close();
    post({ kind: "core-idle", generation: before });
  });
}

function listenDiagnostic(error: unknown, address: string, port: number): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") return `port ${port} on ${address} is taken by another process`;
  if (code === "EACCES") return `port ${port} on ${address} needs a privilege (ports below 1024 do)`;
  return `cannot listen on ${address}, port ${port}: ${messageOf(error)}`;
}
