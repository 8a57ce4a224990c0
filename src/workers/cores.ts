import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import type { AdminAnswer, AdminRequest } from "../resource/admin/admin_request.ts";
import type { InstanceName, LoginUpdate, StateUpdate } from "../service/assembly/service_options.ts";
import { NoAnswer, ServingCore } from "./serving_core.ts";
import type { ToCoreWorker } from "./worker_message.ts";
import { RestartPolicy, type WorkerParts } from "./worker_lifecycle.ts";
import { corePermissions, withEarlierAddresses } from "./permissions.ts";
import type { ServingEdge } from "./serving_edge.ts";
import { isDeepStrictEqual } from "node:util";
import type { ServiceConfig, ThrottlingConfig } from "../config/service_config.ts";
import { commandAddress } from "../daemon/exchange.ts";
import { type Clock, steadyClock } from "../model/clock.ts";
import { PROOFS, ReplayCache } from "../model/replay_cache.ts";
import { ThrottlingMemory } from "../throttling/memory.ts";

interface CoresParts extends WorkerParts {
  readonly upSince: number; // start of the process, milliseconds since the epoch
  readonly instance: InstanceName;
  readonly edges: {
    readonly current: ServingEdge | undefined;
    readonly port: number; // used last
  };
}

/** Most predecessors with running requests; at this number, new addresses of hosts have to wait. */
const MAX_DRAINING = 4;

/** Core in use, its successor while starting, and predecessors until their requests end. Dead cores are replaced. */
export class Cores {
  readonly #parts: CoresParts;
  readonly #restartPolicy: RestartPolicy<ServingCore>;
  #next: ServingCore | undefined; // starting or ready, without requests yet
  readonly #draining = new Set<ServingCore>();
  readonly #state: CoreState;
  #generation = 0;

  constructor(parts: CoresParts) {
    this.#parts = { ...parts, resolve: withEarlierAddresses(parts.resolve) };
    this.#state = new CoreState(parts.snapshot().config.throttling);
    this.#restartPolicy = new RestartPolicy({ ...parts, what: "core", start: () => this.#replace() });
  }

  get generation(): number {
    return this.#generation;
  }

  async call(request: AdminRequest, withinMs: number): Promise<AdminAnswer> {
    const core = this.#restartPolicy.current;
    if (core === undefined) throw new NoAnswer("the core is being replaced");
    return await core.call(request, withinMs);
  }

  /**
   * Starts a core with the state of the others, and forwards their updates to it. @param edge Default: the current one.
   * @throws {CannotStart} If it cannot read its files, or the service is shutting down.
   */
  async prepare(snapshot: Snapshot, edge = this.#parts.edges.current): Promise<ServingCore> {
    const { resolve, reports, changes, upSince, instance, edges } = this.#parts;
    try {
      const core = await ServingCore.start(snapshot, {
        generation: ++this.#generation,
        port: snapshot.config.site.port || (edge?.port ?? edges.port),
        state: this.#state.initial(snapshot.config),
        ...{ upSince, instance, resolve },
        onMessage: (message) => reports.receive(message, "core"),
        audit: (lines) => reports.writeAudit(lines),
        starting: (core) => this.#next = core,
        published: (update, core) => this.#published(update, core),
        died: (core, reason) => this.#died(core, reason),
      });
      core.post({ kind: "adopt", update: this.#state.logins });
      changes.throwIfStopping();
      return core;
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** Discards the core that is not in use yet; it first ends its commands to daemons. */
  discard(): void {
    if (this.#next) this.#draining.add(this.#next);
    this.#next = undefined;
    this.#dismissIdle();
  }

  use(core: ServingCore): void {
    this.#next = undefined;
    const before = this.#restartPolicy.put(core);
    this.postAuditState();
    if (this.#parts.changes.shutdownAnnounced) core.post({ kind: "leave" });
    this.#state.configure(this.#parts.snapshot().config.throttling);
    if (this.#parts.edges.current) core.channel(this.#parts.edges.current);
    if (before !== undefined) this.#draining.add(before);
    before?.post({ kind: "retire" });
    this.#dismissIdle();
    if (core.ended) this.#died(core, "it died before its first request");
  }

  postAuditState(): void {
    this.post({ kind: "audit-state", fails: this.#parts.reports.auditFailing });
  }

  serve(edge: ServingEdge): void {
    this.#restartPolicy.current?.channel(edge);
  }

  /** Records that the edge has no more requests for a core; absent `generation`: for any. */
  releaseEdge(edge: ServingEdge, generation?: number): void {
    if (generation === undefined) this.#restartPolicy.current?.detach(edge);
    for (const core of this.#draining) {
      if (generation === undefined || core.generation === generation) core.detach(edge);
    }
    this.#dismissIdle();
  }

  post(message: ToCoreWorker): void {
    this.#restartPolicy.current?.post(message);
  }

  /** Replaces the core if its hosts have new addresses, since it may reach only those known at its start. */
  async lookUpHosts(): Promise<void> {
    const { snapshot, resolve, reports, changes } = this.#parts;
    const { net } = await corePermissions(snapshot().config, resolve);
    const core = this.#restartPolicy.current;
    const known = core?.permissions.net || [];
    if (core === undefined || net === false || net.every((host) => known.includes(host))) return;
    if (this.#draining.size >= MAX_DRAINING) {
      return reports.log.warn(
        "new addresses of hosts wait for requests of earlier cores; a reload applies them",
      );
    }
    reports.log.info("addresses of hosts changed");
    await changes.inTurn(() => this.#replace()).catch((error) =>
      reports.log.error("core could not be replaced", { error })
    );
  }

  close(): void {
    this.#restartPolicy.close();
  }

  /** Closes all cores: one that ended within a command would block the daemon (daemon-protocol.md 1.6). */
  async finish(): Promise<void> {
    this.discard();
    const draining = [...this.#draining].map((core) => core.close());
    await Promise.all([this.#restartPolicy.current?.close(true), ...draining]);
  }

  async #replace(): Promise<void> {
    this.use(await this.prepare(this.#parts.snapshot()));
    await this.#parts.edges.current?.settled(); // else a request after "worker replaced" could find no core
  }

  /** Keeps an update for later cores and sends its logins to the others, so that failed attempts count in all. */
  #published(update: StateUpdate, core: ServingCore): void {
    this.#state.adopt(update, this.#draining.has(core));
    const { throttling, proofs, signedOut } = update;
    if (throttling === undefined && proofs === undefined && signedOut === undefined) return;
    for (const other of [this.#restartPolicy.current, this.#next, ...this.#draining]) {
      if (other !== core) other?.post({ kind: "adopt", update: { throttling, proofs, signedOut } });
    }
  }

  #dismissIdle(): void {
    for (const core of this.#draining) {
      if (core.edges.size === 0) void core.close().then(() => this.#draining.delete(core));
    }
  }

  #died(core: ServingCore, reason: string): void {
    for (const edge of core.edges) edge.post({ kind: "core-lost", generation: core.generation });
    this.#draining.delete(core);
    this.#restartPolicy.lost(core, { generation: core.generation, reason });
  }
}

const CAPACITY = 10_000; // most records of each kind, as many as login throttling hands over

/** State that the cores published. The supervisor keeps it for their successors, and decides nothing with it. */
export class CoreState {
  #config: ThrottlingConfig;
  #throttling: ThrottlingMemory;
  #rest: Omit<StateUpdate, keyof LoginUpdate> = {};
  readonly #proofs = new ReplayCache(PROOFS, Date.now);

  constructor(config: ThrottlingConfig, readonly steady: Clock = steadyClock) {
    this.#config = config;
    this.#throttling = create(config, steady);
  }

  get logins() {
    return { throttling: this.#throttling.state(), proofs: this.#proofs.seen() };
  }

  /** Returns the state without logins for a core with these servers; forgets daemons of other servers. */
  initial({ servers }: Pick<ServiceConfig, "servers">): StateUpdate {
    const addresses = servers.flatMap(({ instances }) =>
      instances.map(({ commandHost, commandPort }) => commandAddress(commandHost, commandPort))
    );
    const daemons = [...this.#rest.daemons ?? []].filter(([address]) => addresses.includes(address));
    return this.#rest = { ...this.#rest, daemons: new Map(daemons) };
  }

  /** @param outdated Whether the core has a successor; if so, adopts only its logins. */
  adopt(
    { throttling, proofs = [], signedOut: _, daemons = new Map(), ...rest }: StateUpdate,
    outdated = false,
  ): void {
    if (throttling !== undefined) this.#throttling.adopt(throttling);
    this.#proofs.adopt(proofs);
    if (outdated) return;
    this.#rest = { ...this.#rest, ...rest, daemons: new Map([...this.#rest.daemons ?? [], ...daemons]) };
  }

  /** Applies new limits; keeps running delays. */
  configure(config: ThrottlingConfig): void {
    if (isDeepStrictEqual(config, this.#config)) return;
    const state = this.#throttling.state();
    this.#config = config;
    this.#throttling = create(config, this.steady);
    this.#throttling.adopt(state);
  }
}

function create(config: ThrottlingConfig, steady: Clock): ThrottlingMemory {
  return new ThrottlingMemory({ config, steady, clock: Date.now, capacity: CAPACITY });
}
