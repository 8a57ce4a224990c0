import type { ServiceConfig } from "../config/service_config.ts";
import { type EdgeOptions, type EdgeTls, LIMITS } from "../edge/edge_options.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import { CannotStart } from "./worker_lifecycle.ts";
import { edgePermissions, type Resolve } from "./permissions.ts";
import type { Listening } from "./port_watch.ts";
import { workerModule, WorkerThread } from "./worker_thread.ts";
import type { FromWorker, ToEdgeWorker } from "./worker_message.ts";
import { isDeepStrictEqual } from "node:util";
import { closeSync, openSync } from "node:fs";

/** Time for running requests to finish when the service stops, in milliseconds. */
export const DRAIN_MS = 20_000;
const CLOSE_MS = 10_000; // further time for the worker to confirm, in milliseconds

const MAX_SCRAPERS = 32;

const MODULE = workerModule(new URL("./edge_worker.ts", import.meta.url));

interface EdgeParts {
  readonly port: number; // port to use if the configuration leaves it to the system; 0: not chosen yet
  readonly metricsPort: number; // the same for the metrics page
  readonly connections: ConnectionLimit;
  readonly resolve: Resolve;
  readonly onMessage: (message: FromWorker, edge: ServingEdge) => void;
  readonly died: (edge: ServingEdge, reason: string) => void;
}

/** Worker of a listening edge, for the supervisor. */
export class ServingEdge {
  readonly id = crypto.randomUUID();
  readonly address: string; // of the listener, resolved
  readonly #worker: WorkerThread<ToEdgeWorker>;
  port = 0;
  metrics: Listening | undefined; // address of the metrics page; absent: none

  /** @param snapshot Configuration at its start: its address and limits never change. */
  private constructor(
    readonly snapshot: Snapshot,
    listening: readonly [EdgeOptions, ...EdgeOptions[]],
    { onMessage, died }: EdgeParts,
  ) {
    this.address = listening[0].address;
    this.#worker = new WorkerThread(MODULE, "edge", edgePermissions(listening), {
      onMessage: (message) => onMessage(message, this),
      died: (reason) => died(this, reason),
    });
  }

  static async start(snapshot: Snapshot, parts: EdgeParts): Promise<ServingEdge> {
    const { site, https: { maxConnections, maxIdleMs, hsts, frames, cors, proxyPeers }, logging } =
      snapshot.config;
    const [address] = await parts.resolve(site.host);
    if (address === undefined) throw new CannotStart([`container.host = ${site.host}: no such host`]);
    const options: EdgeOptions = {
      address,
      port: site.port || parts.port,
      maxConnections: parts.connections.most(maxConnections),
      proxies: proxiesOf(snapshot.config),
      policy: { hsts, frames, cors },
      limits: { ...LIMITS, keepAliveMs: Math.min(LIMITS.keepAliveMs, maxIdleMs), silentMs: maxIdleMs },
      tls: edgeTls(snapshot),
      proxyPeers: proxyPeers.length === 0 ? undefined : proxyPeers,
    };
    const metrics = await metricsOptions(snapshot, parts);
    const edge = new ServingEdge(snapshot, [options, ...(metrics === undefined ? [] : [metrics])], parts);
    edge.#worker.post({ kind: "start", options, metrics, logLevel: logging.level });
    try {
      const { port, metricsPort } = await edge.#worker.ready();
      edge.port = port;
      if (metrics && metricsPort !== undefined) {
        edge.metrics = { address: metrics.address, port: metricsPort };
      }
    } catch (error) {
      edge.end();
      throw error;
    }
    return edge;
  }

  matches(snapshot: Snapshot): boolean {
    return isDeepStrictEqual(fixed(this.snapshot), fixed(snapshot));
  }

  /** Reports whether the edge of another snapshot needs a port of this one; one of two addresses may include the other. */
  conflictsWith({ config: { site: { port }, metrics: { listen } } }: Snapshot): boolean {
    const own = [0, this.port, this.metrics?.port];
    return own.includes(port) || (listen !== undefined && own.includes(listen.port));
  }

  post(message: ToEdgeWorker): void {
    this.#worker.post(message);
  }

  /** Directs new requests to the core behind the port; running ones continue at theirs. */
  channel(generation: number, port: MessagePort): void {
    this.#worker.post({ kind: "core", generation, port }, [port]);
  }

  follow(snapshot: Snapshot): void {
    const tls = edgeTls(snapshot);
    if (tls) this.#worker.post({ kind: "tls", tls });
    this.#worker.post({ kind: "log-level", level: snapshot.config.logging.level });
  }

  /** Waits until the edge has handled all earlier messages, or has ended. */
  async settled(): Promise<void> {
    this.#worker.post({ kind: "sync" });
    await this.#worker.waitFor("synced", DRAIN_MS);
  }

  /** Refuses new connections, finishes running requests, then ends. */
  async drain(withinMs: number): Promise<void> {
    this.#worker.post({ kind: "drain", withinMs });
    await this.#worker.waitFor("closed", withinMs + CLOSE_MS);
    this.end();
  }

  end(): void {
    this.#worker.end();
  }
}

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

const LOOPBACK = ["127.0.0.0/8", "::1"];

function edgeTls({ config: { https }, material }: Snapshot): EdgeTls | undefined {
  if (!https.tls || material === undefined) return undefined;
  const { certificate, key, clients: { anchors, revocation } = material } = material;
  return {
    ...{ certificate, key, anchors, revocation },
    clientCertificate: https.clientCertificate,
    minVersion: https.minTlsVersion,
    maxVersion: https.maxTlsVersion,
  };
}

/** Returns the proxies whose forwarded addresses are trusted: the gateway's, and without TLS local ones. */
function proxiesOf({ https, gateway }: ServiceConfig): string[] {
  return [...(https.tls ? [] : LOOPBACK), ...(gateway.enabled ? gateway.trustedPeers : [])];
}

/** Returns the settings that never change in the life of an edge: its addresses and limits. */
function fixed({ config }: Snapshot): unknown[] {
  const { site, https, metrics } = config;
  return [site.host, site.port, https, proxiesOf(config), metrics.listen];
}

const MAX_CONNECTIONS = 4096;
const HEADROOM = 256; // open files for everything else, such as daemons, databases and logs
const MAX_TRIED = 16_384;

/** Limits the edge's connections to the available file descriptors: a listener that cannot accept one dies silently. */
export class ConnectionLimit {
  readonly #tried: number;
  readonly #files: number;

  /** Counts the files that the process can open, before it opens others. @param openable Default: tries it. */
  constructor(configured: number | undefined, openable: (wanted: number) => number = tryOpenFiles) {
    this.#tried = wantedOf(configured) + HEADROOM;
    this.#files = openable(this.#tried);
  }

  /** Returns the limit. @param configured 0: as many as open files allow; absent: the default. */
  most(configured: number | undefined): number {
    const wanted = wantedOf(configured);
    if (this.#files >= this.#tried) return wanted;
    return Math.min(wanted, Math.max(this.#files - HEADROOM, Math.floor(this.#files / 2)));
  }
}

function wantedOf(configured: number | undefined): number {
  return configured === undefined ? MAX_CONNECTIONS : configured === 0 ? MAX_TRIED : configured;
}

/** Opens a directory repeatedly, then closes all handles; microseconds each. */
function tryOpenFiles(wanted: number): number {
  const open: number[] = [];
  try {
    while (open.length < Math.min(wanted, MAX_TRIED)) open.push(openSync("/", "r"));
  } catch {
    // This is the limit; Windows opens no directory and has no limit to find.
    if (open.length === 0) return wanted;
  } finally {
    open.forEach(closeSync);
  }
  return open.length === MAX_TRIED ? wanted : open.length;
}
