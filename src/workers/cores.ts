import { PROOFS, ReplayCache } from "../model/replay_cache.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import type { InstanceName, SharedKnown } from "../service/assembly/open_cluster.ts";
import type { DeskAnswer, DeskQuestion, LearnedElsewhere } from "../service/operator_desk.ts";
import { DaemonCopy } from "./daemon_copy.ts";
import { NoAnswer } from "./desk_link.ts";
import { RestartPolicy } from "./restart_policy.ts";
import { corePermissions, type Resolve } from "./permissions.ts";
import { ThrottlingCopy } from "./throttling_copy.ts";
import type { WorkerLifecycle } from "./worker_lifecycle.ts";
import type { CoreNews } from "./worker_message.ts";
import type { WorkerReports } from "./worker_reports.ts";
import { ServingCore } from "./serving_core.ts";
import type { ServingEdge } from "./serving_edge.ts";

/** Longest wait for a core that has to follow another, in milliseconds. */
const ORDER_MS = 5000;

/** What cores are started with, and whom they serve. */
interface CoresParts {
  /** In use; a core that dies is started with it again. */
  readonly snapshot: () => Snapshot;
  readonly resolve: Resolve;
  readonly reports: WorkerReports;
  readonly changes: WorkerLifecycle;
  /** Start of the process, milliseconds since the epoch. */
  readonly upSince: number;
  readonly instance: InstanceName;
  readonly edges: {
    readonly current: ServingEdge | undefined;
    /** Used last. */
    readonly port: number;
  };
}

/**
 * The core that serves, the one that is about to, and those before it, which finish what they have: what one learns all
 * know, one that dies is replaced.
 */
export class Cores {
  readonly #parts: CoresParts;
  readonly #restartPolicy: RestartPolicy<ServingCore>;
  /** Ready, without requests yet. */
  #next: ServingCore | undefined;
  readonly #leaving = new Set<ServingCore>();
  readonly #throttling: ThrottlingCopy;
  readonly #daemons = new DaemonCopy();
  #shared: SharedKnown = {};
  readonly #proofs = new ReplayCache(PROOFS, Date.now);
  #generation = 0;

  constructor(parts: CoresParts) {
    this.#parts = parts;
    this.#throttling = new ThrottlingCopy(parts.snapshot().config.throttling);
    const { reports, changes } = parts;
    this.#restartPolicy = new RestartPolicy({
      what: "core",
      start: () => this.#call(),
      reports,
      changes,
    });
  }

  /** Counts them: 1 after the start, one more after each reload. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Asks the one in use.
   * @throws {NoAnswer} If there is none, or it does not answer in time.
   */
  async ask(question: DeskQuestion, withinMs: number): Promise<DeskAnswer> {
    const core = this.#restartPolicy.current;
    if (core === undefined) throw new NoAnswer("the core is being replaced");
    const answer = await core.desk.ask(question, withinMs);
    this.#throttling.follow(question, answer);
    if (question.about === "ban" || question.about === "lift") {
      await Promise.all(this.#beside(core).map((other) => other.desk.ask(question, withinMs)));
    }
    return answer;
  }

  /**
   * Starts one that knows what the others know, and learns what they learn until it is used.
   * @param edge That it will serve, if not the one in use.
   * @throws {CannotStart} If it cannot read its files, or the service is shutting down.
   */
  async prepare(snapshot: Snapshot, edge = this.#parts.edges.current): Promise<ServingCore> {
    const { resolve, reports, changes, upSince, instance, edges } = this.#parts;
    const core = await ServingCore.start(snapshot, {
      generation: ++this.#generation,
      port: snapshot.config.site.port || (edge?.port ?? edges.port),
      upSince,
      instance,
      daemons: this.#daemons.of(snapshot.config.servers),
      shared: this.#shared,
      resolve,
      said: (message) => reports.hear(message, "core"),
      learned: (news, core) => this.#learned(news, core),
      died: (core, reason) => this.#died(core, reason),
    });
    this.#next = core;
    try {
      await core.adopt({ news: this.#throttling.state, proofs: this.#proofs.seen() });
      changes.throwIfOver();
      return core;
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** Ends the one that was prepared. */
  discard(): void {
    this.#next?.end();
    this.#next = undefined;
  }

  /** Requests go to this core from now on; the one before finishes what it has. */
  use(core: ServingCore): void {
    this.#next = undefined;
    const before = this.#restartPolicy.put(core);
    if (this.#parts.changes.endAnnounced) core.leave();
    this.#throttling.configure(this.#parts.snapshot().config.throttling);
    if (this.#parts.edges.current) core.channel(this.#parts.edges.current);
    if (before !== undefined) this.#leaving.add(before);
    this.#dismissIdle();
    if (core.desk.closed) this.#died(core, "it died before its first request");
  }

  /** Requests come from this edge from now on. */
  serve(edge: ServingEdge): void {
    this.#restartPolicy.current?.channel(edge);
  }

  /** Nothing in that edge waits for the core of that generation, which leaves; absent: for any. */
  letGo(edge: ServingEdge, generation?: number): void {
    if (generation === undefined) this.#restartPolicy.current?.edges.delete(edge);
    for (const core of this.#leaving) {
      if (generation === undefined || core.generation === generation) core.edges.delete(edge);
    }
    this.#dismissIdle();
  }

  renewTls(material: TlsMaterial): void {
    this.#restartPolicy.current?.renewTls(material);
  }

  /**
   * A core may reach the addresses that its hosts had at its start; where they moved, another core takes over. A name that
   * cannot be looked up now says nothing.
   */
  async lookUpHosts(): Promise<void> {
    const { snapshot, resolve, reports, changes } = this.#parts;
    const { net } = await corePermissions(snapshot().config, resolve);
    const known = this.#restartPolicy.current?.permissions.net || [];
    if (
      this.#restartPolicy.current === undefined || net === false || net.every((host) => known.includes(host))
    ) {
      return;
    }
    reports.log.info("addresses of hosts changed");
    await changes.inTurn(() => this.#call()).catch((error) =>
      reports.log.error("core could not be replaced", { error })
    );
  }

  /** Nobody is replaced any more. */
  close(): void {
    this.#restartPolicy.close();
  }

  /** Health checks are told that the end is near. */
  leave(): void {
    this.#restartPolicy.current?.leave();
  }

  /** What is under way with the daemons comes to its end. */
  async finish(): Promise<void> {
    await this.#restartPolicy.current?.close({ last: true });
  }

  end(): void {
    for (const core of [this.#restartPolicy.current, this.#next, ...this.#leaving]) core?.end();
  }

  async #call(): Promise<void> {
    this.use(await this.prepare(this.#parts.snapshot()));
  }

  /** What one core learned all others know: an attempt that failed counts wherever the next one goes. */
  #learned(learned: CoreNews, core: ServingCore): void {
    if (learned.about === "daemon") {
      if (!this.#leaving.has(core)) this.#daemons.adopt(learned.address, learned.knowledge);
      return;
    }
    if (learned.about === "shared") {
      if (!this.#leaving.has(core)) this.#shared = { ...this.#shared, ...learned.known };
      return;
    }
    if (learned.about === "order") {
      this.#throttling.follow(learned.order, learned.answer);
      for (const other of this.#beside(core)) {
        other.desk.ask(learned.order, ORDER_MS).catch((error) => this.#pending(error));
      }
      return;
    }
    const elsewhere = this.#keep(learned);
    for (const other of this.#beside(core)) {
      other.adopt(elsewhere).catch((error) => this.#pending(error));
    }
  }

  #pending(error: unknown): void {
    this.#parts.reports.log.warn("a core was not told what another learned", { error });
  }

  /** Keeps what a core learned for those that come. */
  #keep(learned: Exclude<CoreNews, { about: "daemon" | "order" | "shared" }>): LearnedElsewhere {
    if (learned.about === "proof") {
      this.#proofs.adopt([learned.proof]);
      return { proofs: [learned.proof] };
    }
    this.#throttling.adopt(learned.news);
    return { news: learned.news };
  }

  /** Those that answer, or will, without this one. */
  #beside(core: ServingCore): ServingCore[] {
    return [this.#restartPolicy.current, this.#next].flatMap((other) => other === core ? [] : other ?? []);
  }

  /** Cores that no request waits for any more end what they have with the daemons, and go. */
  #dismissIdle(): void {
    for (const core of this.#leaving) {
      if (core.edges.size === 0 && this.#leaving.delete(core)) void core.close();
    }
  }

  #died(core: ServingCore, reason: string): void {
    for (const edge of core.edges) edge.unlink(core.generation);
    this.#leaving.delete(core);
    this.#restartPolicy.lost(core, { generation: core.generation, reason });
  }
}
