import { isDeepStrictEqual } from "node:util";
import type { ServiceConfig } from "../config/service_config.ts";
import { type EdgeOptions, type EdgeTls, LIMITS } from "../edge/edge_options.ts";
import { LogFile } from "../logging/log_file.ts";
import { createLogger, type Logger } from "../logging/logger.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import { corePermissions, edgePermissions, type Resolve } from "./permissions.ts";
import { resolveHost } from "./resolve_host.ts";
import { Room } from "./room.ts";
import type { FromRoom, ToCoreRoom, ToEdgeRoom } from "./room_message.ts";

/** A configuration that was read and found good, with everything it names on files already read. */
export interface Setup {
  readonly config: ServiceConfig;
  readonly material: TlsMaterial | undefined;
  /** Certificates of trusted SAML issuers, PEM, one each. */
  readonly assertionIssuers: readonly string[];
}

/** The service cannot start, or not with the new configuration; the lines are for the operator. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

/** Time limits in milliseconds. */
const START_MS = 30_000;
const DRAIN_MS = 20_000;
const CLOSE_MS = 10_000;
const PING_MS = 5_000;
const SILENT_MS = 20_000;
const LONGEST_PAUSE_MS = 30_000;

interface Core {
  readonly room: Room<ToCoreRoom>;
  readonly generation: number;
  heardAt: number;
}

/**
 * Holds the three rooms together: starts edge and core with exactly the permissions that the configuration needs, replaces
 * a core that died or whose configuration changed without dropping a connection, writes the log, ends everything in order.
 */
export class Supervisor {
  readonly log: Logger;
  readonly #logFile: LogFile;
  readonly #upSince = Date.now();
  readonly #resolve: Resolve;
  #setup: Setup;
  #edge: Room<ToEdgeRoom> | undefined;
  #core: Core | undefined;
  /** Cores that are replaced and finish what they have. */
  readonly #leaving = new Map<number, Core>();
  #generation = 0;
  #port = 0;
  #pauseMs = 0;
  #stopping = false;
  #watchdog: ReturnType<typeof setInterval> | undefined;
  #waiting = new Map<string, (message: FromRoom) => void>();

  private constructor(setup: Setup, logFile: LogFile, resolve: Resolve) {
    this.#setup = setup;
    this.#logFile = logFile;
    this.#resolve = resolve;
    this.log = createLogger(logFile.write, { threshold: setup.config.logging.level });
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
      const portKnown = setup.config.site.port !== 0;
      const edge = supervisor.#startEdge();
      if (!portKnown) await edge;
      await Promise.all([edge, supervisor.#startCore(setup)]);
      supervisor.#watchdog = setInterval(() => supervisor.#lookAfterCore(), PING_MS);
      return supervisor;
    } catch (error) {
      await supervisor.#endAll();
      throw error;
    }
  }

  /** Port the edge listens on. */
  get port(): number {
    return this.#port;
  }

  /** Counts the cores: 1 after the start, one more after each reload. */
  get generation(): number {
    return this.#generation;
  }

  /** Shows and trusts other certificates from the next connection on. */
  renewTls(material: TlsMaterial): void {
    this.#setup = { ...this.#setup, material };
    const tls = edgeTls(this.#setup);
    if (tls) this.#edge?.tell({ kind: "tls", tls });
    this.#core?.room.tell({ kind: "material", material });
    this.log.info("certificates renewed");
  }

  /**
   * Starts a core with another configuration and hands over to it; connections stay.
   * @throws {CannotStart} The running core stays as it is.
   */
  async reload(setup: Setup): Promise<void> {
    if (needsNewEdge(this.#setup, setup)) {
      this.log.warn("address, port or limits of the HTTPS server changed: restart the service to use them");
    }
    await this.#startCore(setup);
    this.#setup = setup;
    const tls = edgeTls(setup);
    if (tls) this.#edge?.tell({ kind: "tls", tls });
    this.log.info("configuration reloaded", { generation: this.#generation });
  }

  /** Lets requests under way finish (at most 20 s), then ends the rooms. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.log.info("shutting down");
    const drained = this.#said("edge", "closed", DRAIN_MS + CLOSE_MS);
    this.#edge?.tell({ kind: "drain", withinMs: DRAIN_MS });
    await drained.catch(() => {}); // an edge that does not answer is ended below
    if (this.#core) {
      const closed = this.#said(`core ${this.#core.generation}`, "closed", CLOSE_MS);
      this.#core.room.tell({ kind: "close" });
      await closed.catch(() => {}); // likewise
    }
    this.log.info("stopped");
    await this.#endAll();
  }

  async #startEdge(): Promise<void> {
    const { config } = this.#setup;
    const [address] = await this.#resolve(config.site.host);
    if (address === undefined) throw new CannotStart([`container.host = ${config.site.host}: no such host`]);
    const port = this.#port || config.site.port;
    const tls = edgeTls(this.#setup);
    const options: EdgeOptions = {
      address,
      port,
      maxConnections: config.https.maxConnections,
      limits: LIMITS,
      ...(tls && { tls }),
    };
    const ready = this.#ready("edge");
    this.#edge = new Room<ToEdgeRoom>(
      new URL("./edge_room.ts", import.meta.url),
      "edge",
      edgePermissions(address, port),
      {
        said: (message) => this.#hear("edge", message),
        died: (reason) => this.#edgeDied(reason),
      },
    );
    this.#edge.tell({ kind: "start", options, logLevel: config.logging.level });
    this.#port = await ready;
    if (this.#core) this.#link(this.#core);
  }

  async #startCore(setup: Setup): Promise<void> {
    const generation = ++this.#generation;
    const name = `core ${generation}`;
    const permissions = await corePermissions(setup.config, this.#resolve);
    const { directory } = setup.config.sharing;
    if (directory !== undefined) await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
    const ready = this.#ready(name);
    const room = new Room<ToCoreRoom>(new URL("./core_room.ts", import.meta.url), name, permissions, {
      said: (message) => this.#hear(name, message),
      died: (reason) => this.#coreDied(generation, reason),
    });
    const core: Core = { room, generation, heardAt: Date.now() };
    const port = this.#port || setup.config.site.port;
    room.tell({ kind: "start", options: { ...setup, generation, upSince: this.#upSince, port } });
    try {
      await ready;
    } catch (error) {
      room.end();
      throw error;
    }
    const before = this.#core;
    this.#core = core;
    if (before) this.#leaving.set(before.generation, before);
    this.#link(core);
  }

  /** Gives edge and core the two ends of a link. */
  #link({ room, generation }: Core): void {
    const { port1, port2 } = new MessageChannel();
    room.tell({ kind: "link", port: port1 }, [port1]);
    this.#edge?.tell({ kind: "core", generation, port: port2 }, [port2]);
  }

  #hear(from: string, message: FromRoom): void {
    if (message.kind === "log") {
      this.#logFile.writeAll(message.lines);
      return;
    }
    const core = this.#core;
    if (message.kind === "pong" && core !== undefined && from === `core ${core.generation}`) {
      core.heardAt = Date.now();
    }
    if (message.kind === "core-idle") void this.#dismiss(message.generation);
    this.#waiting.get(`${from} ${message.kind}`)?.(message);
  }

  /** A core that no request waits for any more ends what it has with the daemons, and goes. */
  async #dismiss(generation: number): Promise<void> {
    const core = this.#leaving.get(generation);
    if (core === undefined) return;
    const closed = this.#said(`core ${generation}`, "closed", CLOSE_MS + DRAIN_MS);
    core.room.tell({ kind: "close" });
    await closed.catch(() => {}); // one that does not answer is ended all the same
    core.room.end();
    this.#leaving.delete(generation);
  }

  #lookAfterCore(): void {
    const core = this.#core;
    if (core === undefined) return;
    if (Date.now() - core.heardAt > SILENT_MS) {
      core.room.end();
      this.#coreDied(core.generation, `no sign of life for ${SILENT_MS / 1000} s`);
    } else core.room.tell({ kind: "ping" });
  }

  #coreDied(generation: number, reason: string): void {
    this.#waiting.get(`core ${generation} failed`)?.({ kind: "failed", problems: [reason] });
    this.#edge?.tell({ kind: "core-lost", generation });
    this.#leaving.delete(generation);
    if (this.#core?.generation !== generation || this.#stopping) return;
    this.#core = undefined;
    this.log.error("core died, starting another", { generation, reason });
    void this.#replace("core", () => this.#startCore(this.#setup));
  }

  #edgeDied(reason: string): void {
    this.#waiting.get("edge failed")?.({ kind: "failed", problems: [reason] });
    if (this.#port === 0 || this.#stopping) return;
    this.log.error("edge died, starting another", { reason });
    void this.#replace("edge", () => this.#startEdge());
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
        setTimeout(() => this.#pauseMs = 0, LONGEST_PAUSE_MS * 2);
        return;
      } catch (error) {
        this.log.error("room could not be replaced, trying again", { what, error });
      }
    }
  }

  async #ready(from: string): Promise<number> {
    const failed = this.#said(from, "failed", START_MS);
    const ready = this.#said(from, "ready", START_MS);
    const first = await Promise.race([ready, failed]);
    ready.catch(() => {}); // the race is over: nobody waits for the other one
    failed.catch(() => {});
    this.#waiting.delete(`${from} failed`);
    if (first.kind === "failed") throw new CannotStart(first.problems);
    return first.kind === "ready" ? first.port : 0;
  }

  #said(from: string, kind: FromRoom["kind"], withinMs: number): Promise<FromRoom> {
    return new Promise((resolve, reject) => {
      const key = `${from} ${kind}`;
      const timer = setTimeout(() => {
        this.#waiting.delete(key);
        reject(new CannotStart([`${from} did not answer within ${withinMs / 1000} s`]));
      }, withinMs);
      this.#waiting.set(key, (message) => {
        clearTimeout(timer);
        this.#waiting.delete(key);
        resolve(message);
      });
    });
  }

  // deno-lint-ignore require-await
  async #endAll(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#watchdog);
    this.#edge?.end();
    this.#core?.room.end();
    for (const { room } of this.#leaving.values()) room.end();
    this.#logFile.close();
  }
}

function edgeTls({ config, material }: Setup): EdgeTls | undefined {
  if (!config.https.tls || material === undefined) return undefined;
  const { certificate, key, anchors } = material;
  const policy = { none: "none", requested: "want", required: "require" } as const;
  return { certificate, key, anchors, clientCertificate: policy[config.https.clientCertificate] };
}

function needsNewEdge(before: Setup, after: Setup): boolean {
  const fixed = ({ config }: Setup) => [
    config.site.host,
    config.site.port,
    config.https.tls,
    config.https.clientCertificate,
    config.https.maxConnections,
  ];
  return !isDeepStrictEqual(fixed(before), fixed(after));
}
