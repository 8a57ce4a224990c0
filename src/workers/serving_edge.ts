import { type EdgeOptions, LIMITS } from "../edge/edge_options.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import { CannotStart } from "./cannot_start.ts";
import type { ConnectionLimit } from "./connection_limit.ts";
import { edgeLimits, edgePolicy, edgeProxies, edgeTls, proxyPeers, sameEdge } from "./edge_snapshot.ts";
import { edgePermissions, type Resolve } from "./permissions.ts";
import type { Listening } from "./port_watch.ts";
import { workerModule, WorkerThread } from "./worker_thread.ts";
import type { FromWorker, ToEdgeWorker } from "./worker_message.ts";

/** Requests under way get so many milliseconds to finish. */
export const DRAIN_MS = 20_000;
/** And the worker as many more to say that they have. */
const CLOSE_MS = 10_000;

/** Connections of scrapers at a time. */
const MAX_SCRAPERS = 32;

const MODULE = workerModule(new URL("./edge_worker.ts", import.meta.url));

/** What an edge is started with, and who is told of it. */
interface EdgeParts {
  /** The port to listen on where the configuration leaves it to the system; 0 if that has not chosen one yet. */
  readonly port: number;
  readonly metricsPort: number; // the same for the metrics page
  readonly connections: ConnectionLimit;
  readonly resolve: Resolve;
  readonly said: (message: FromWorker, edge: ServingEdge) => void;
  readonly died: (edge: ServingEdge, reason: string) => void;
}

/** An edge's worker that listens, as the supervisor sees it. */
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

  /** Port it listens on. */
  get port(): number {
    return this.#port;
  }

  /** Where the metrics page is; absent: there is none. */
  get metrics(): Listening | undefined {
    return this.#metrics;
  }

  /** Whether it can serve another setup as it is. */
  canServe(snapshot: Snapshot): boolean {
    return sameEdge(this.snapshot, snapshot);
  }

  /** Whether an edge for another setup would want the port that this one has. Of two addresses one may hold the other. */
  isInWayOf({ config: { site: { port }, metrics: { listen } } }: Snapshot): boolean {
    return port === 0 || port === this.#port ||
      (this.#metrics !== undefined && (listen?.port === 0 || listen?.port === this.#metrics.port));
  }

  /** Hands over the metrics page for which the edge asked; absent: it could not be made. */
  showMetrics(page: string | undefined): void {
    this.#worker.tell({ kind: "metrics-page", page });
  }

  /** Requests go to the core behind the port from now on; those under way stay where they are. */
  channel(generation: number, port: MessagePort): void {
    this.#worker.tell({ kind: "core", generation, port }, [port]);
  }

  /** The core of that generation is dead. */
  unlink(generation: number): void {
    this.#worker.tell({ kind: "core-lost", generation });
  }

  /** Takes over what may change in its life: certificates and the level of its log. */
  follow(snapshot: Snapshot): void {
    const tls = edgeTls(snapshot);
    if (tls) this.#worker.tell({ kind: "tls", tls });
    this.#worker.tell({ kind: "log-level", level: snapshot.config.logging.level });
  }

  /** The service stops soon: connections end with their next answer, so that clients come back elsewhere. */
  leave(): void {
    this.#worker.tell({ kind: "leave" });
  }

  /** Refuses new connections; requests under way finish, then it ends. */
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
