import { type EdgeOptions, LIMITS } from "../edge/edge_options.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import { CannotStart } from "./cannot_start.ts";
import type { ConnectionLimit } from "./connection_limit.ts";
import { edgeLimits, edgePolicy, edgeProxies, edgeTls, proxyPeers, sameEdge } from "./edge_snapshot.ts";
import { edgePermissions, type Resolve } from "./permissions.ts";
import type { Listening } from "./port_watch.ts";
import { workerModule, WorkerThread } from "./worker_thread.ts";
import type { FromWorker, ToEdgeWorker } from "./worker_message.ts";

/** Time for running requests to finish, in milliseconds. */
export const DRAIN_MS = 20_000;
/** Further time for the worker to confirm, in milliseconds. */
const CLOSE_MS = 10_000;

/** Most concurrent connections of scrapers. */
const MAX_SCRAPERS = 32;

const MODULE = workerModule(new URL("./edge_worker.ts", import.meta.url));

interface EdgeParts {
  readonly port: number; // port to use if the configuration leaves it to the system; 0: not chosen yet
  readonly metricsPort: number; // the same for the metrics page
  readonly connections: ConnectionLimit;
  readonly resolve: Resolve;
  readonly said: (message: FromWorker, edge: ServingEdge) => void;
  readonly died: (edge: ServingEdge, reason: string) => void;
}

/** Worker of a listening edge, for the supervisor. */
export class ServingEdge {
  readonly snapshot: Snapshot; // what it was started with: its address and limits hold for its life
  readonly address: string; // it listens on, looked up
  readonly #worker: WorkerThread<ToEdgeWorker>;
  #port = 0;
  #metrics: Listening | undefined;

  private constructor(
    snapshot: Snapshot,
    listening: readonly [EdgeOptions, ...EdgeOptions[]],
    { said, died }: EdgeParts,
  ) {
    this.snapshot = snapshot;
    this.address = listening[0].address;
    this.#worker = new WorkerThread(MODULE, "edge", edgePermissions(listening), {
      said: (message) => said(message, this),
      died: (reason) => died(this, reason),
    });
  }

  /** @throws {CannotStart} If it cannot listen. */
  static async start(snapshot: Snapshot, parts: EdgeParts): Promise<ServingEdge> {
    const { site, https, logging } = snapshot.config;
    const [address] = await parts.resolve(site.host);
    if (address === undefined) throw new CannotStart([`container.host = ${site.host}: no such host`]);
    const options: EdgeOptions = {
      address,
      port: site.port || parts.port,
      maxConnections: parts.connections.most(https.maxConnections),
      proxies: edgeProxies(snapshot),
      policy: edgePolicy(snapshot),
      limits: edgeLimits(snapshot),
      tls: edgeTls(snapshot),
      proxyPeers: proxyPeers(snapshot),
    };
    const metrics = await metricsOptions(snapshot, parts);
    const edge = new ServingEdge(snapshot, [options, ...(metrics === undefined ? [] : [metrics])], parts);
    edge.#worker.tell({ kind: "start", options, metrics, logLevel: logging.level });
    try {
      const { port, metricsPort } = await edge.#worker.ready();
      edge.#port = port;
      if (metrics && metricsPort !== undefined) {
        edge.#metrics = { address: metrics.address, port: metricsPort };
      }
    } catch (error) {
      edge.end();
      throw error;
    }
    return edge;
  }

  get port(): number {
    return this.#port;
  }

  /** Address of the metrics page; absent: none. */
  get metrics(): Listening | undefined {
    return this.#metrics;
  }

  /** Reports whether it can serve another setup. */
  canServe(snapshot: Snapshot): boolean {
    return sameEdge(this.snapshot, snapshot);
  }

  /** Reports whether another setup's edge needs its port; one of two addresses may include the other. */
  isInWayOf({ config: { site: { port }, metrics: { listen } } }: Snapshot): boolean {
    return port === 0 || port === this.#port ||
      (this.#metrics !== undefined && (listen?.port === 0 || listen?.port === this.#metrics.port));
  }

  /** Passes on the requested metrics page; absent after a failure. */
  showMetrics(page: string | undefined): void {
    this.#worker.tell({ kind: "metrics-page", page });
  }

  /** Directs new requests to the core behind the port; running ones stay. */
  channel(generation: number, port: MessagePort): void {
    this.#worker.tell({ kind: "core", generation, port }, [port]);
  }

  /** Removes a dead core. */
  unlink(generation: number): void {
    this.#worker.tell({ kind: "core-lost", generation });
  }

  /** Applies new certificates and log level. */
  follow(snapshot: Snapshot): void {
    const tls = edgeTls(snapshot);
    if (tls) this.#worker.tell({ kind: "tls", tls });
    this.#worker.tell({ kind: "log-level", level: snapshot.config.logging.level });
  }

  /** Ends connections with their next response, since the service stops soon. */
  leave(): void {
    this.#worker.tell({ kind: "leave" });
  }

  /** Refuses new connections, finishes running requests, then ends. */
  async drain(): Promise<void> {
    this.#worker.tell({ kind: "drain", withinMs: DRAIN_MS });
    await this.#worker.closed(DRAIN_MS + CLOSE_MS);
    this.end();
  }

  end(): void {
    this.#worker.end();
  }
}

/** @throws {CannotStart} If no host has the configured name. */
async function metricsOptions(
  { config: { metrics: { listen } } }: Snapshot,
  { metricsPort, resolve }: EdgeParts,
): Promise<EdgeOptions | undefined> {
  if (listen === undefined) return undefined;
  const { host, port } = listen;
  const [address] = await resolve(host);
  if (address === undefined) throw new CannotStart([`container.metrics.host = ${host}: no such host`]);
  return { address, port: port || metricsPort, maxConnections: MAX_SCRAPERS, limits: LIMITS };
}
