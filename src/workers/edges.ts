import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import { within } from "../model/clock.ts";
import { ConnectionLimit, DRAIN_MS, ServingEdge } from "./serving_edge.ts";
import { CannotStart, RestartPolicy, type WorkerParts } from "./worker_lifecycle.ts";
import { PortWatch } from "./port_watch.ts";

const REPLACED_MS = 24 * 3600_000; // time for running transfers to finish after a reload, in milliseconds

interface EdgesParts extends WorkerParts {
  readonly metricsPage: () => Promise<string>; // creates the metrics page
  readonly used: (edge: ServingEdge) => void; // called with an edge that begins to serve
  /** Called when an edge has no more requests for a core of a generation. */
  readonly idle: (edge: ServingEdge, generation: number) => void;
  readonly ended: (edge: ServingEdge) => void; // called with an edge that has ended
}

/** Current edge and its predecessors until their requests end. Dead edges are replaced. */
export class Edges {
  readonly #restartPolicy: RestartPolicy<ServingEdge>;
  readonly #draining = new Map<ServingEdge, Promise<void>>();
  readonly #connections: ConnectionLimit;
  readonly #watches: { close(): void }[] = [];
  port = 0; // current or last one; 0 before the first
  #metricsPort = 0;

  constructor(readonly parts: EdgesParts) {
    this.#connections = new ConnectionLimit(parts.snapshot().config.https.maxConnections);
    this.#restartPolicy = new RestartPolicy({
      ...parts,
      what: "edge",
      start: async () => {
        this.use(await this.start(parts.snapshot()));
        await this.current?.settled();
      },
    });
  }

  /** Edge in use; absent while a dead one is being replaced. */
  get current(): ServingEdge | undefined {
    return this.#restartPolicy.current;
  }

  /** Edge in use, unless it refuses new connections. */
  get #listening(): ServingEdge | undefined {
    const { current } = this;
    return current && this.#draining.has(current) ? undefined : current;
  }

  /** Refuses new connections, and waits for the requests of all edges. */
  async drain(): Promise<void> {
    const earlier = within(Promise.all(this.#draining.values()), DRAIN_MS);
    await Promise.all([earlier, this.#listening && this.#drain(this.#listening, DRAIN_MS)]);
  }

  watch(): void {
    const onUnresponsive = () => this.replace("it takes no connections any more");
    this.#watches.push(
      new PortWatch({ current: () => this.#listening, onUnresponsive }),
      new PortWatch({ current: () => this.#listening?.metrics, onUnresponsive }),
    );
  }

  /** Starts an edge. @throws {CannotStart} If it cannot listen, or the service is shutting down. */
  async start(snapshot: Snapshot): Promise<ServingEdge> {
    const { resolve, reports, changes, idle } = this.parts;
    const edge = await ServingEdge.start(snapshot, {
      port: this.port,
      metricsPort: this.#metricsPort,
      connections: this.#connections,
      resolve,
      onMessage: (message, edge) => {
        reports.receive(message, "edge");
        if (message.kind === "core-idle") idle(edge, message.generation);
        if (message.kind === "metrics-page") void this.#showMetrics(edge);
      },
      died: (edge, reason) => this.#died(edge, reason),
    });
    if (changes.stopping) edge.end();
    changes.throwIfStopping();
    return edge;
  }

  use(edge: ServingEdge): void {
    const before = this.#put(edge);
    if (before !== undefined) void this.#drain(before);
  }

  /** Replaces an edge on the same address, which it releases first. @throws {CannotStart} The old one restarts. */
  async call(before: ServingEdge, snapshot: Snapshot): Promise<void> {
    await this.#probe(before, snapshot);
    const drained = this.#drain(before);
    try {
      this.#put(
        await this.start(snapshot).catch(async () => {
          await within(drained, DRAIN_MS); // the address was still in use
          return await this.start(snapshot);
        }),
      );
    } catch (error) {
      before.end();
      this.#died(before, "it made room for one that could not start");
      throw error;
    }
  }

  replace(reason: string): void {
    const edge = this.current;
    if (edge === undefined) return;
    edge.end();
    this.#died(edge, reason);
  }

  close(): void {
    this.#restartPolicy.close();
  }

  end(): void {
    this.#watches.forEach((watch) => watch.close());
    for (const edge of [this.current, ...this.#draining.keys()]) edge?.end();
  }

  #put(edge: ServingEdge): ServingEdge | undefined {
    const before = this.#restartPolicy.put(edge);
    this.port = edge.port;
    const metricsPort = edge.metrics?.port;
    if (metricsPort !== undefined && metricsPort !== this.#metricsPort) {
      this.parts.reports.log.info("metrics page", { port: metricsPort });
    }
    this.#metricsPort = metricsPort ?? 0;
    if (this.parts.changes.shutdownAnnounced) edge.post({ kind: "leave" });
    this.parts.used(edge);
    return before;
  }

  async #showMetrics(edge: ServingEdge): Promise<void> {
    const { metricsPage, reports } = this.parts;
    const page = await metricsPage().catch((error) => {
      reports.log.error("the metrics page could not be made", { error });
      return undefined;
    });
    edge.post({ kind: "metrics-page", page });
  }

  /** @throws {CannotStart} If another process listens on a port that the present edge does not use. */
  async #probe(before: ServingEdge, { config: { site, metrics } }: Snapshot): Promise<void> {
    const own = [0, before.port, before.metrics?.port];
    for (const { host, port } of [site, ...(metrics.listen ? [metrics.listen] : [])]) {
      const [hostname] = own.includes(port) ? [] : await this.parts.resolve(host);
      if (hostname === undefined) continue;
      try {
        Deno.listen({ hostname, port }).close();
      } catch (error) {
        if (!(error instanceof Deno.errors.AddrInUse)) continue; // the new edge reports it
        throw new CannotStart([`port ${port} on ${hostname} is taken by another process`]);
      }
    }
  }

  #drain(edge: ServingEdge, withinMs = REPLACED_MS): Promise<void> {
    const drained = this.#draining.get(edge) ?? edge.drain(withinMs).then(() => this.#gone(edge));
    this.#draining.set(edge, drained);
    return drained;
  }

  #died(edge: ServingEdge, reason: string): void {
    this.#gone(edge);
    this.#restartPolicy.lost(edge, { reason });
  }

  #gone(edge: ServingEdge): void {
    this.#draining.delete(edge);
    this.parts.ended(edge);
  }
}
