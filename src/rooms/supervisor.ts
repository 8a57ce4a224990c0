import type { EdgeOptions } from "../edge/edge_options.ts";
import { LogFile } from "../logging/log_file.ts";
import type { Logger } from "../logging/logger.ts";
import { series } from "../metrics/series.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import type { Ban } from "../regulation/ban.ts";
import type { Setup } from "../service/load_setup.ts";
import type { DeskAnswer, DeskQuestion } from "../service/operator_desk.ts";
import { CannotStart } from "./cannot_start.ts";
import { DeskCaller, NoAnswer } from "./desk_link.ts";
import { edgeLimits, edgeTls, sameEdge } from "./edge_setup.ts";
import { handOver } from "./hand_over.ts";
import { corePermissions, edgePermissions, type Resolve, type RoomPermissions } from "./permissions.ts";
import { resolveHost } from "./resolve_host.ts";
import { Room } from "./room.ts";
import type { FromRoom, ToCoreRoom, ToEdgeRoom } from "./room_message.ts";
import { RoomReports } from "./room_reports.ts";

/** Time limits in milliseconds. */
const DRAIN_MS = 20_000;
const CLOSE_MS = 10_000;
const PING_MS = 5_000;
const SILENT_MS = 20_000;
const LONGEST_PAUSE_MS = 30_000;
const RESOLVE_MS = 60_000;

const EDGE_MODULE = new URL("./edge_room.ts", import.meta.url);
const CORE_MODULE = new URL("./core_room.ts", import.meta.url);

interface Core {
  readonly room: Room<ToCoreRoom>;
  readonly generation: number;
  readonly permissions: RoomPermissions;
  readonly desk: DeskCaller;
}

/**
 * Holds the three rooms together: starts edge and core with exactly the permissions that the configuration needs, replaces
 * a core that died or whose configuration changed without dropping a connection, writes the log, ends everything in order.
 */
export class Supervisor {
  readonly reports: RoomReports;
  readonly #resolve: Resolve;
  /** Milliseconds since the epoch. */
  readonly upSince = Date.now();
  #setup: Setup;
  #edge: Room<ToEdgeRoom> | undefined;
  #core: Core | undefined;
  /** Cores that are replaced and finish what they have. */
  readonly #leaving = new Map<number, Core>();
  #generation = 0;
  #port = 0;
  /** Before the next attempt to replace a room that died. */
  #pauseMs = 0;
  #stopping = false;
  /** Bans by hand, for a core that takes the place of one that died. */
  #operatorBans: readonly Ban[] = [];
  /** A core is about to tell its successor what it knows: what it learned meanwhile would be lost. */
  #handingOver: Promise<void> = Promise.resolve();
  readonly #timers: ReturnType<typeof setInterval>[] = [];

  private constructor(setup: Setup, logFile: LogFile, resolve: Resolve) {
    this.#setup = setup;
    this.#resolve = resolve;
    this.reports = new RoomReports(logFile, setup.config);
  }

  /** @throws {CannotStart} If the edge cannot listen or the core cannot read its files. */
  static async start(
    setup: Setup,
    { logFile = new LogFile(setup.config.logging.file), resolve = resolveHost }: {
      readonly logFile?: LogFile;
      readonly resolve?: Resolve;
    } = {},
  ): Promise<Supervisor> {
    const supervisor = new Supervisor(setup, logFile, resolve);
    try {
      const edge = supervisor.#startEdge(setup);
      // The core makes links with the port; where the system chooses it, the edge must have it first.
      if (setup.config.site.port === 0) await edge;
      await Promise.all([edge, supervisor.#startCore(setup)]);
      supervisor.#timers.push(
        setInterval(() => supervisor.#lookAfterRooms(), PING_MS),
        setInterval(() => void supervisor.#lookUpHosts(), RESOLVE_MS),
      );
      supervisor.reports.audit({ event: "start", decision: "granted" });
      return supervisor;
    } catch (error) {
      await supervisor.#endAll();
      throw error;
    }
  }

  get log(): Logger {
    return this.reports.log;
  }

  /** Port the edge listens on. */
  get port(): number {
    return this.#port;
  }

  /** Counts the cores: 1 after the start, one more after each reload. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Whether the event loops that serve requests turn: the edge has answered lately, and so has the core, unless it is
   * being replaced (the edge says so to its callers meanwhile).
   */
  get alive(): boolean {
    const edge = this.#edge;
    return edge !== undefined && [edge, this.#core?.room].every((room) => (room?.silentMs ?? 0) < SILENT_MS);
  }

  /**
   * Asks the core in use.
   * @throws {NoAnswer} If there is none, or it does not answer in time.
   */
  async ask(question: DeskQuestion, withinMs: number): Promise<DeskAnswer> {
    await this.#handingOver;
    if (this.#core === undefined) throw new NoAnswer("the core is being replaced");
    const answer = await this.#core.desk.ask(question, withinMs);
    if ("operator" in answer) this.#operatorBans = answer.operator;
    return answer;
  }

  /** Shows and trusts other certificates from the next connection on. */
  renewTls(material: TlsMaterial): void {
    this.#setup = { ...this.#setup, material };
    this.#showCertificate();
    this.#core?.room.tell({ kind: "material", material });
    this.log.info("certificates renewed");
  }

  /**
   * Starts a core with another configuration and hands over to it; connections stay. Only another address or other limits
   * of the HTTPS server need a new edge; the one before lets its requests finish.
   * @throws {CannotStart} The running core stays as it is.
   */
  async reload(setup: Setup): Promise<void> {
    const before = this.#setup;
    await this.#startCore(setup);
    this.#setup = setup;
    await this.reports.moveTo(setup.config);
    if (sameEdge(before, setup)) {
      this.#showCertificate();
      this.#edge?.tell({ kind: "log-level", level: setup.config.logging.level });
    } else await this.#replaceEdge(before, setup);
    this.log.info("configuration reloaded", { generation: this.#generation });
  }

  /** Lets requests under way finish (at most 20 s), then ends the rooms. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.log.info("shutting down");
    if (this.#edge) await drain(this.#edge);
    if (this.#core) await close(this.#core.room);
    this.log.info("stopped");
    this.reports.audit({ event: "stop", decision: "granted" });
    await this.#endAll();
  }

  async #startEdge(setup: Setup): Promise<void> {
    const { site, https, logging } = setup.config;
    const [address] = await this.#resolve(site.host);
    if (address === undefined) throw new CannotStart([`container.host = ${site.host}: no such host`]);
    const tls = edgeTls(setup);
    const options: EdgeOptions = {
      address,
      port: site.port || this.#port,
      maxConnections: https.maxConnections,
      limits: edgeLimits(setup),
      ...(tls && { tls }),
    };
    const edge = new Room<ToEdgeRoom>(EDGE_MODULE, "edge", edgePermissions(address, options.port), {
      said: (message) => this.#hear(message, "edge"),
      died: (reason) => this.#edgeDied(edge, reason),
    });
    edge.tell({ kind: "start", options, logLevel: logging.level });
    try {
      this.#port = (await edge.ready()).port;
    } catch (error) {
      edge.end();
      throw error;
    }
    this.#edge = edge;
    if (this.#core) this.#link(this.#core);
  }

  /** Two edges cannot listen on one address, so the one before must let go of it first; else the new one comes first. */
  async #replaceEdge(before: Setup, after: Setup): Promise<void> {
    const old = this.#edge;
    const sameAddress = before.config.site.host === after.config.site.host &&
      before.config.site.port === after.config.site.port;
    if (sameAddress && old) {
      const drained = drain(old);
      try {
        await this.#startEdge(after);
      } catch {
        await drained; // the address was still in use
        await this.#startEdge(after);
      }
      return;
    }
    await this.#startEdge(after);
    if (old) void drain(old);
  }

  async #startCore(setup: Setup): Promise<void> {
    const generation = ++this.#generation;
    const permissions = await corePermissions(setup.config, this.#resolve);
    const { directory } = setup.config.sharing;
    if (directory !== undefined) await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
    const { port1, port2 } = new MessageChannel();
    const desk = new DeskCaller(port2);
    const room = new Room<ToCoreRoom>(CORE_MODULE, `core ${generation}`, permissions, {
      said: (message) => this.#hear(message, "core"),
      died: (reason) => {
        desk.close();
        this.#coreDied(generation, reason);
      },
    });
    const port = setup.config.site.port || this.#port;
    room.tell({ kind: "start", options: { ...setup, generation, upSince: this.upSince, port } });
    room.tell({ kind: "desk", port: port1 }, [port1]);
    try {
      await room.ready();
      const { log } = this;
      this.#handingOver = handOver(this.#core?.desk, desk, { operator: this.#operatorBans, log });
      await this.#handingOver;
      if (desk.closed) throw new CannotStart(["the new core died"]);
      if (this.#stopping) throw new CannotStart(["the service is shutting down"]);
    } catch (error) {
      desk.close();
      room.end();
      throw error;
    }
    const before = this.#core;
    this.#core = { room, generation, permissions, desk };
    if (before) this.#leaving.set(before.generation, before);
    this.#link(this.#core);
  }

  /** Gives edge and core the two ends of a link. */
  #link({ room, generation }: Core): void {
    if (this.#edge === undefined) return;
    const { port1, port2 } = new MessageChannel();
    room.tell({ kind: "link", port: port1 }, [port1]);
    this.#edge.tell({ kind: "core", generation, port: port2 }, [port2]);
  }

  #showCertificate(): void {
    const tls = edgeTls(this.#setup);
    if (tls) this.#edge?.tell({ kind: "tls", tls });
  }

  #hear(message: FromRoom, room: "edge" | "core"): void {
    this.reports.hear(message, room);
    if (message.kind === "core-idle") void this.#dismiss(message.generation);
  }

  /** A core that no request waits for any more ends what it has with the daemons, and goes. */
  async #dismiss(generation: number): Promise<void> {
    const core = this.#leaving.get(generation);
    if (core === undefined) return;
    await close(core.room);
    core.desk.close();
    this.#leaving.delete(generation);
  }

  #lookAfterRooms(): void {
    this.reports.retry();
    const reason = `no sign of life for ${SILENT_MS / 1000} s`;
    const [core, edge] = [this.#core, this.#edge];
    if (core && core.room.silentMs > SILENT_MS) {
      core.room.end();
      core.desk.close();
      this.#coreDied(core.generation, reason);
    } else core?.room.tell({ kind: "ping" });
    if (edge && edge.silentMs > SILENT_MS) {
      edge.end();
      this.#edgeDied(edge, reason);
    } else edge?.tell({ kind: "ping" });
  }

  /**
   * A core may reach the addresses that its hosts had at its start; where they moved, another core takes over. A name that
   * cannot be looked up now says nothing.
   */
  async #lookUpHosts(): Promise<void> {
    const { net } = await corePermissions(this.#setup.config, this.#resolve);
    const known = this.#core?.permissions.net || [];
    if (this.#core === undefined || net === false || net.every((host) => known.includes(host))) return;
    this.log.info("addresses of hosts changed");
    await this.#startCore(this.#setup).catch((error) =>
      this.log.error("core could not be replaced", { error })
    );
  }

  #coreDied(generation: number, reason: string): void {
    this.#edge?.tell({ kind: "core-lost", generation });
    this.#leaving.delete(generation);
    if (this.#core?.generation !== generation || this.#stopping) return;
    this.#core = undefined;
    this.log.error("core died, starting another", { generation, reason });
    void this.#replace("core", () => this.#startCore(this.#setup));
  }

  #edgeDied(edge: Room<ToEdgeRoom>, reason: string): void {
    if (this.#edge !== edge || this.#stopping) return;
    this.#edge = undefined;
    this.log.error("edge died, starting another", { reason });
    void this.#replace("edge", () => this.#startEdge(this.#setup));
  }

  /** Tries until it works, with growing pauses: whatever killed the room may kill the next one too. */
  async #replace(what: string, start: () => Promise<void>): Promise<void> {
    while (!this.#stopping) {
      const pause = this.#pauseMs;
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(1000, pause * 2));
      await new Promise((resolve) => setTimeout(resolve, pause));
      try {
        await start();
        this.log.warn("room replaced", { what });
        this.reports.counters.add(series("authserver_rooms_replaced_total", { room: what }));
        Deno.unrefTimer(setTimeout(() => this.#pauseMs = 0, LONGEST_PAUSE_MS * 2));
        return;
      } catch (error) {
        this.log.error("room could not be replaced, trying again", { what, error });
      }
    }
  }

  async #endAll(): Promise<void> {
    this.#stopping = true;
    this.#timers.forEach(clearInterval);
    this.#edge?.end();
    for (const { room, desk } of [...this.#leaving.values(), ...(this.#core ? [this.#core] : [])]) {
      room.end();
      desk.close();
    }
    await this.reports.close();
  }
}

/** Requests under way finish, new connections are refused. */
async function drain(edge: Room<ToEdgeRoom>): Promise<void> {
  edge.tell({ kind: "drain", withinMs: DRAIN_MS });
  await edge.closed(DRAIN_MS + CLOSE_MS);
  edge.end();
}

/** What is under way with the daemons comes to its end. */
async function close(core: Room<ToCoreRoom>): Promise<void> {
  core.tell({ kind: "close" });
  await core.closed(CLOSE_MS + DRAIN_MS);
  core.end();
}
