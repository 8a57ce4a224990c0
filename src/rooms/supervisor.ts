import { LogFile } from "../logging/log_file.ts";
import type { Logger } from "../logging/logger.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import type { Setup } from "../service/assembly/load_setup.ts";
import type { DeskAnswer, DeskQuestion } from "../service/operator_desk.ts";
import { CannotStart } from "./cannot_start.ts";
import { ConnectionLimit } from "./connection_limit.ts";
import { DaemonCopy } from "./daemon_copy.ts";
import { NoAnswer } from "./desk_link.ts";
import { Keeper } from "./keeper.ts";
import { corePermissions, type Resolve } from "./permissions.ts";
import { PortWatch } from "./port_watch.ts";
import { RegulationCopy } from "./regulation_copy.ts";
import { resolveHost } from "./resolve_host.ts";
import type { CoreNews } from "./room_message.ts";
import { RoomReports } from "./room_reports.ts";
import { ServingCore } from "./serving_core.ts";
import { ServingEdge } from "./serving_edge.ts";

/** How often names of hosts are looked up again, in milliseconds. */
const RESOLVE_MS = 60_000;
/** How often lines that could not be written are tried again, in milliseconds. */
const RETRY_MS = 5000;

/**
 * Holds the three rooms together: starts edge and core with exactly the permissions that the configuration needs, replaces
 * a core that died or whose configuration changed without dropping a connection, writes the log, ends everything in order.
 */
export class Supervisor {
  readonly reports: RoomReports;
  readonly #resolve: Resolve;
  readonly #connections: ConnectionLimit;
  /** Milliseconds since the epoch. */
  readonly upSince = Date.now();
  /** What is in use, and what rooms that die are started with again. */
  #setup: Setup;
  readonly #edge: Keeper<ServingEdge>;
  readonly #core: Keeper<ServingCore>;
  /** A core that is ready and has no requests yet. */
  #next: ServingCore | undefined;
  /** Rooms that are replaced and finish what they have. */
  readonly #leavingEdges = new Set<ServingEdge>();
  readonly #leavingCores = new Set<ServingCore>();
  readonly #regulation: RegulationCopy;
  readonly #daemons = new DaemonCopy();
  #generation = 0;
  #port = 0;
  #stopping = false;
  /** One change of rooms after the other: each begins with what the one before left. */
  #changes: Promise<unknown> = Promise.resolve();
  #ports: PortWatch<ServingEdge> | undefined;
  readonly #timers: ReturnType<typeof setInterval>[] = [];

  private constructor(setup: Setup, logFile: LogFile, resolve: Resolve) {
    this.#setup = setup;
    this.#resolve = resolve;
    this.#connections = new ConnectionLimit(setup.config.https.maxConnections);
    this.reports = new RoomReports(logFile, setup.config);
    this.#regulation = new RegulationCopy(setup.config.regulation);
    this.#edge = this.#keeper("edge", async () => this.#useEdge(await this.#startEdge(this.#setup)));
    this.#core = this.#keeper("core", async () => this.#useCore(await this.#prepareCore(this.#setup)));
  }

  /** @throws {CannotStart} If the edge cannot listen or the core cannot read its files. */
  static async start(
    setup: Setup,
    {
      logFile = new LogFile(setup.config.logging.file, undefined, setup.config.logging.format),
      resolve = resolveHost,
    }: {
      readonly logFile?: LogFile;
      readonly resolve?: Resolve;
    } = {},
  ): Promise<Supervisor> {
    const supervisor = new Supervisor(setup, logFile, resolve);
    try {
      await supervisor.#inTurn(() => supervisor.#begin());
    } catch (error) {
      await supervisor.#endAll();
      throw error;
    }
    supervisor.#timers.push(
      setInterval(() => supervisor.reports.retry(), RETRY_MS),
      setInterval(() => void supervisor.#lookUpHosts(), RESOLVE_MS),
    );
    supervisor.#ports = new PortWatch({
      current: () => supervisor.#edge.current,
      silent: () => supervisor.replaceEdge("it takes no connections any more"),
    });
    supervisor.reports.audit({ event: "start", decision: "granted" });
    return supervisor;
  }

  get log(): Logger {
    return this.reports.log;
  }

  /** Port the edge listens on, or listened on last. */
  get port(): number {
    return this.#port;
  }

  /** Counts the cores: 1 after the start, one more after each reload. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Whether the service serves: there is an edge, which answers the supervisor. While there is no core the edge says so to
   * its callers.
   */
  get alive(): boolean {
    return this.#edge.current !== undefined;
  }

  /**
   * Asks the core in use.
   * @throws {NoAnswer} If there is none, or it does not answer in time.
   */
  async ask(question: DeskQuestion, withinMs: number): Promise<DeskAnswer> {
    const core = this.#core.current;
    if (core === undefined) throw new NoAnswer("the core is being replaced");
    const answer = await core.desk.ask(question, withinMs);
    this.#regulation.follow(question);
    if (question.about === "ban" || question.about === "lift") {
      await Promise.all(this.#coresBeside(core).map((other) => other.desk.ask(question, withinMs)));
    }
    return answer;
  }

  /** Shows and trusts other certificates from the next connection on. */
  renewTls(material: TlsMaterial): Promise<void> {
    return this.#inTurn(() => {
      this.#setup = { ...this.#setup, material };
      this.#edge.current?.follow(this.#setup);
      this.#core.current?.renewTls(material);
      this.log.info("certificates renewed");
    });
  }

  /**
   * Takes over another configuration as a whole: everything that can fail comes before anything changes. Connections stay;
   * only another address or other limits of the HTTPS server need a new edge, and the one before lets its requests finish.
   * @throws {CannotStart} What serves stays as it is.
   */
  reload(setup: Setup): Promise<void> {
    return this.#inTurn(async () => {
      const edge = this.#edge.current;
      const stays = edge?.canServe(setup) === true;
      const inTheWay = edge?.isInWayOf(setup) === true;
      const early = stays || inTheWay ? undefined : await this.#startEdge(setup);
      let core: ServingCore;
      try {
        core = await this.#prepareCore(setup, early);
        if (!stays && inTheWay) await this.#exchangeEdge(edge, setup);
      } catch (error) {
        early?.end();
        this.#next?.end();
        this.#next = undefined;
        throw error;
      }
      this.#setup = setup;
      this.#regulation.configure(setup.config.regulation);
      if (early) this.#useEdge(early);
      this.#useCore(core);
      await this.reports.moveTo(setup.config);
      this.#edge.current?.follow(setup);
      this.log.info("configuration reloaded", { generation: this.#generation });
    });
  }

  /** Ends the edge and starts another: it does not do what it should. */
  replaceEdge(reason: string): void {
    const edge = this.#edge.current;
    if (edge === undefined) return;
    edge.end();
    this.#edgeDied(edge, reason);
  }

  /** Lets requests under way finish (at most 20 s), then ends the rooms. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#edge.close();
    this.#core.close();
    this.log.info("shutting down");
    await this.#edge.current?.drain();
    await this.#core.current?.close();
    this.log.info("stopped");
    this.reports.audit({ event: "stop", decision: "granted" });
    await this.#endAll();
  }

  #keeper<T extends object>(what: "edge" | "core", start: () => Promise<void>): Keeper<T> {
    const keeper: Keeper<T> = new Keeper({
      what,
      start: () => this.#inTurn(async () => keeper.current === undefined ? await start() : undefined),
      log: this.log,
      replaced: () => this.reports.counters.count("authserver_rooms_replaced_total", { room: what }),
    });
    return keeper;
  }

  #inTurn<T>(change: () => Promise<T> | T): Promise<T> {
    const done = this.#changes.then(() => {
      if (this.#stopping) throw new CannotStart(["the service is shutting down"]);
      return change();
    });
    this.#changes = done.catch(() => {}); // whoever asked for the change is told
    return done;
  }

  async #begin(): Promise<void> {
    const edge = this.#startEdge(this.#setup).then((started) => this.#useEdge(started));
    // The core makes links with the port; where the system chooses it, the edge must have it first.
    if (this.#setup.config.site.port === 0) await edge;
    const core = this.#prepareCore(this.#setup);
    await Promise.all([edge, core]);
    this.#useCore(await core);
  }

  async #startEdge(setup: Setup): Promise<ServingEdge> {
    const edge = await ServingEdge.start(setup, {
      port: this.#port,
      connections: this.#connections,
      resolve: this.#resolve,
      said: (message, edge) => {
        this.reports.hear(message, "edge");
        if (message.kind === "core-idle") this.#letGo(edge, message.generation);
      },
      died: (edge, reason) => this.#edgeDied(edge, reason),
    });
    if (!this.#stopping) return edge;
    edge.end();
    throw new CannotStart(["the service is shutting down"]);
  }

  /** From now on this edge serves; the one before lets its requests finish. */
  #useEdge(edge: ServingEdge): void {
    const before = this.#edge.put(edge);
    this.#port = edge.port;
    this.#core.current?.link(edge);
    if (before !== undefined && !this.#leavingEdges.has(before)) void this.#drain(before);
  }

  /** Two edges cannot listen on one address, so the one before must let go of it first. */
  async #exchangeEdge(before: ServingEdge, setup: Setup): Promise<void> {
    const drained = this.#drain(before);
    try {
      this.#useEdge(
        await this.#startEdge(setup).catch(async () => {
          await drained; // the address was still in use
          return await this.#startEdge(setup);
        }),
      );
    } catch (error) {
      before.end();
      this.#edgeDied(before, "it made room for one that could not start");
      throw error;
    }
  }

  async #drain(edge: ServingEdge): Promise<void> {
    this.#leavingEdges.add(edge);
    await edge.drain();
    this.#edgeEnded(edge);
  }

  /**
   * Starts a core that knows what the others know, and learns what they learn until it is used.
   * @param edge That it will serve, if not the one in use.
   */
  async #prepareCore(setup: Setup, edge = this.#edge.current): Promise<ServingCore> {
    const core = await ServingCore.start(setup, {
      generation: ++this.#generation,
      port: setup.config.site.port || (edge?.port ?? this.#port),
      upSince: this.upSince,
      daemons: this.#daemons.of(setup.config.servers),
      resolve: this.#resolve,
      said: (message) => this.reports.hear(message, "core"),
      learned: (news, core) => this.#learned(news, core),
      died: (core, reason) => this.#coreDied(core, reason),
    });
    this.#next = core;
    try {
      await core.adopt(this.#regulation.state);
      if (this.#stopping) throw new CannotStart(["the service is shutting down"]);
      return core;
    } catch (error) {
      core.end();
      this.#next = undefined;
      throw error;
    }
  }

  /** Requests go to this core from now on; the one before finishes what it has. */
  #useCore(core: ServingCore): void {
    this.#next = undefined;
    const before = this.#core.put(core);
    if (this.#edge.current) core.link(this.#edge.current);
    if (before !== undefined) this.#leavingCores.add(before);
    this.#dismissIdle();
    if (core.desk.closed) this.#coreDied(core, "it died before its first request");
  }

  /** What one core learned all others know: an attempt that failed counts wherever the next one goes. */
  #learned(learned: CoreNews, core: ServingCore): void {
    if (learned.about === "daemon") {
      if (!this.#leavingCores.has(core)) this.#daemons.adopt(learned.address, learned.knowledge);
      return;
    }
    const { news } = learned;
    this.#regulation.adopt(news);
    for (const other of this.#coresBeside(core)) {
      other.adopt(news).catch((error) => this.log.warn("a core was not told of failed logins", { error }));
    }
  }

  /** The cores that answer, or will, without this one. */
  #coresBeside(core: ServingCore): ServingCore[] {
    return [this.#core.current, this.#next].flatMap((other) => other === core ? [] : other ?? []);
  }

  /** Nothing in that edge waits for a core that leaves. */
  #letGo(edge: ServingEdge, generation: number): void {
    for (const core of this.#leavingCores) if (core.generation === generation) core.edges.delete(edge);
    this.#dismissIdle();
  }

  /** Cores that no request waits for any more end what they have with the daemons, and go. */
  #dismissIdle(): void {
    for (const core of this.#leavingCores) {
      if (core.edges.size === 0 && this.#leavingCores.delete(core)) void core.close();
    }
  }

  /**
   * A core may reach the addresses that its hosts had at its start; where they moved, another core takes over. A name that
   * cannot be looked up now says nothing.
   */
  async #lookUpHosts(): Promise<void> {
    const { net } = await corePermissions(this.#setup.config, this.#resolve);
    const known = this.#core.current?.permissions.net || [];
    if (this.#core.current === undefined || net === false || net.every((host) => known.includes(host))) {
      return;
    }
    this.log.info("addresses of hosts changed");
    await this.#inTurn(async () => this.#useCore(await this.#prepareCore(this.#setup))).catch((error) =>
      this.log.error("core could not be replaced", { error })
    );
  }

  #coreDied(core: ServingCore, reason: string): void {
    for (const edge of core.edges) edge.unlink(core.generation);
    this.#leavingCores.delete(core);
    this.#core.lost(core, { generation: core.generation, reason });
  }

  #edgeDied(edge: ServingEdge, reason: string): void {
    this.#edgeEnded(edge);
    this.#edge.lost(edge, { reason });
  }

  /** What an edge that is gone waited for, nobody does any more. */
  #edgeEnded(edge: ServingEdge): void {
    this.#leavingEdges.delete(edge);
    for (const core of [...this.#coresOf(edge)]) core.edges.delete(edge);
    this.#dismissIdle();
  }

  *#coresOf(edge: ServingEdge): Iterable<ServingCore> {
    for (const core of [this.#core.current, ...this.#leavingCores]) if (core?.edges.has(edge)) yield core;
  }

  async #endAll(): Promise<void> {
    this.#stopping = true;
    this.#edge.close();
    this.#core.close();
    this.#timers.forEach(clearInterval);
    this.#ports?.close();
    for (const room of [this.#edge.current, ...this.#leavingEdges]) room?.end();
    for (const core of [this.#core.current, this.#next, ...this.#leavingCores]) core?.end();
    await this.reports.close();
  }
}
