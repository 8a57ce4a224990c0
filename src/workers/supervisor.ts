import { LogFile } from "../logging/log_file.ts";
import type { Logger } from "../logging/logger.ts";
import { coalescedInterval, realTime } from "../model/clock.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import type { AdminAnswer, AdminRequest } from "../resource/admin/admin_request.ts";
import { garbageCollector, IDLE_MS } from "./collect_garbage.ts";
import { Cores } from "./cores.ts";
import { Edges } from "./edges.ts";
import { type Resolve, resolveHost } from "./permissions.ts";
import { syslogServer } from "./syslog_server.ts";
import { WorkerLifecycle } from "./worker_lifecycle.ts";
import { metricsPage } from "./service_status.ts";
import { WorkerReports } from "./worker_reports.ts";
import type { ServingCore } from "./serving_core.ts";

const RESOLVE_MS = 60_000;
const RETRY_MS = 5000; // interval of retries of unwritten log lines, in milliseconds

interface SupervisorOptions {
  readonly logFile?: LogFile;
  readonly resolve?: Resolve;
  readonly hostName?: string; // name of this machine, for people
}

/** Starts edge and core with exactly the needed permissions, and replaces them without dropping a connection. */
export class Supervisor {
  readonly reports: WorkerReports;
  readonly upSince = Date.now(); // milliseconds since the epoch
  #snapshot: Snapshot; // in use, also by replacements of dead workers
  readonly #changes = new WorkerLifecycle();
  readonly #edges: Edges;
  readonly #cores: Cores;
  readonly #timers: (() => void)[] = [];

  private constructor(
    snapshot: Snapshot,
    logFile: LogFile,
    { resolve, hostName }: Required<Omit<SupervisorOptions, "logFile">>,
  ) {
    this.#snapshot = snapshot;
    this.reports = new WorkerReports(logFile, snapshot.config, {
      auditChanged: () => this.#cores.postAuditState(),
      logServer: (address, log) => syslogServer({ address, hostName, log, snapshot: () => this.#snapshot }),
    });
    const common = { snapshot: () => this.#snapshot, resolve, reports: this.reports, changes: this.#changes };
    this.#edges = new Edges({
      ...common,
      metricsPage: () => metricsPage(this),
      used: (edge) => this.#cores.serve(edge),
      idle: (edge, generation) => this.#cores.releaseEdge(edge, generation),
      ended: (edge) => this.#cores.releaseEdge(edge),
    });
    const instance = { id: crypto.randomUUID(), host: hostName };
    this.#cores = new Cores({ ...common, upSince: this.upSince, instance, edges: this.#edges });
  }

  /** @throws {CannotStart} If the edge cannot listen or the core cannot read its files. */
  static async start(
    snapshot: Snapshot,
    {
      logFile = new LogFile(snapshot.config.logging.file, undefined, snapshot.config.logging),
      resolve = resolveHost,
      hostName = "localhost",
    }: SupervisorOptions = {},
  ): Promise<Supervisor> {
    const supervisor = new Supervisor(snapshot, logFile, { resolve, hostName });
    await supervisor.#changes.inTurn(() => supervisor.#begin()).catch(async (error) => {
      await supervisor.#endAll();
      throw error;
    });
    supervisor.#timers.push(
      coalescedInterval(RETRY_MS, () => supervisor.reports.retry()),
      realTime(IDLE_MS, garbageCollector()),
      coalescedInterval(RESOLVE_MS, () => void supervisor.#cores.lookUpHosts()),
    );
    supervisor.#edges.watch();
    return supervisor;
  }

  get log(): Logger {
    return this.reports.log;
  }

  /** Whether requests that need an audit line are refused while it cannot be written. */
  get auditRequired(): boolean {
    return this.#snapshot.config.audit.required;
  }

  get port(): number {
    return this.#edges.port;
  }

  get generation(): number {
    return this.#cores.generation;
  }

  /** Whether an edge responds to the supervisor; without a core, it answers callers with an error. */
  get alive(): boolean {
    return this.#edges.current !== undefined;
  }

  call(request: AdminRequest, withinMs: number): Promise<AdminAnswer> {
    return this.#cores.call(request, withinMs);
  }

  renewTls(material: TlsMaterial): Promise<void> {
    return this.#changes.inTurn(async () => {
      this.#snapshot = { ...this.#snapshot, material };
      this.#cores.post({ kind: "material", material });
      this.#edges.current?.follow(this.#snapshot);
      await this.#edges.current?.settled();
      this.log.info("certificates renewed");
    });
  }

  /** Applies a new configuration as a whole; keeps connections. @throws {CannotStart} Without a change. */
  reload(snapshot: Snapshot): Promise<void> {
    return this.#changes.inTurn(async () => {
      const edge = this.#edges.current;
      const leaves = edge?.matches(snapshot) === true ? undefined : edge;
      const conflicts = leaves?.conflictsWith(snapshot) === true;
      const early = edge === undefined || (leaves && !conflicts)
        ? await this.#edges.start(snapshot)
        : undefined;
      let core: ServingCore;
      try {
        core = await this.#cores.prepare(snapshot, early);
        if (leaves && conflicts) await this.#edges.call(leaves, snapshot);
      } catch (error) {
        early?.end();
        this.#cores.discard();
        throw error;
      }
      this.#snapshot = snapshot;
      if (early) this.#edges.use(early);
      this.#cores.use(core);
      await this.reports.moveTo(snapshot.config);
      this.#edges.current?.follow(snapshot);
      await this.#edges.current?.settled(); // else a request after the reload could reach the old core
      this.log.info("configuration reloaded", { generation: this.generation });
    });
  }

  /** Announces the shutdown to health checks and serves meanwhile. @param seconds Until it may {@link stop}. */
  async leave(seconds: number): Promise<void> {
    this.log.info("draining, still serving", { seconds });
    this.#changes.shutdownAnnounced = true;
    this.#edges.current?.post({ kind: "leave" });
    this.#cores.post({ kind: "leave" });
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }

  /** Waits at most 20 s for running requests, then ends the workers. */
  async stop(): Promise<void> {
    if (this.#changes.stopping) return;
    this.#close();
    this.log.info("shutting down");
    await this.#edges.drain();
    await this.#cores.finish();
    this.log.info("stopped");
    this.reports.audit({ event: "stop", decision: "granted" });
    await this.#endAll();
  }

  async #begin(): Promise<void> {
    const startEdge = async () => this.#edges.use(await this.#edges.start(this.#snapshot));
    // The core's channels need the port, which the system may choose for the edge; else the core, which takes longer, is first.
    const isChosen = this.#snapshot.config.site.port === 0;
    if (isChosen) await startEdge();
    const [core] = await Promise.all([
      this.#cores.prepare(this.#snapshot),
      isChosen ? undefined : startEdge(),
    ]);
    this.reports.audit({ event: "start", decision: "granted" }); // before a request depends on a working audit
    this.#cores.use(core);
    await this.#edges.current?.settled();
  }

  #close(): void {
    this.#changes.stopping = true;
    this.#edges.close();
    this.#cores.close();
  }

  async #endAll(): Promise<void> {
    this.#close();
    this.#timers.forEach((end) => end());
    this.#edges.end();
    await this.#cores.finish();
    await this.reports.close();
  }
}
