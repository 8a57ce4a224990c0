import type { KnownDaemons } from "../daemon/daemons.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import type { InstanceName, SharedKnown } from "../service/assembly/open_cluster.ts";
import type { LearnedElsewhere } from "../service/operator_desk.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import { CannotStart } from "./cannot_start.ts";
import { DeskCaller } from "./desk_link.ts";
import { corePermissions, type Resolve, type WorkerPermissions } from "./permissions.ts";
import { workerModule, WorkerThread } from "./worker_thread.ts";
import type { CoreNews, FromWorker, ToCoreWorker } from "./worker_message.ts";
import { DRAIN_MS, type ServingEdge } from "./serving_edge.ts";

/** How long a core may take to end what it has with the daemons, in milliseconds. */
const CLOSE_MS = DRAIN_MS + 10_000;
/** How long it may take to take over what others know, in milliseconds. */
const ADOPT_MS = 3000;

const MODULE = workerModule(new URL("./core_worker.ts", import.meta.url));

/** What a core is started with, and who is told of it. */
interface CoreParts {
  readonly generation: number;
  /** That clients connect to. */
  readonly port: number;
  /** Start of the process, milliseconds since the epoch. */
  readonly upSince: number;
  readonly instance: InstanceName;
  readonly resolve: Resolve;
  readonly said: (message: FromWorker) => void;
  /** What is known of the daemons, by the addresses of their command sockets. */
  readonly daemons: KnownDaemons;
  /** What is known of what instances share. */
  readonly shared: SharedKnown;
  /** Told of failed logins, proofs and daemons at once, of what came before its death too. */
  readonly learned: (news: CoreNews, core: ServingCore) => void;
  readonly died: (core: ServingCore, reason: string) => void;
}

/** A core's worker that is ready, as the supervisor sees it. */
export class ServingCore {
  readonly generation: number;
  readonly permissions: WorkerPermissions;
  readonly desk: DeskCaller;
  /** Edges that may have requests with it. */
  readonly edges = new Set<ServingEdge>();
  readonly #worker: WorkerThread<ToCoreWorker>;
  /**
   * A port of its own: of what a worker posts to its maker directly, part is lost when it dies. Nothing of what has
   * gone into a port is, and it closes itself once it is read and its other end is dead.
   */
  readonly #learned: MessagePort;

  private constructor(
    permissions: WorkerPermissions,
    { generation, said, learned, died }: CoreParts,
    ports: { readonly desk: MessagePort; readonly learned: MessagePort },
  ) {
    this.generation = generation;
    this.permissions = permissions;
    this.desk = new DeskCaller(ports.desk);
    this.#learned = ports.learned;
    this.#learned.onmessage = ({ data }: MessageEvent<CoreNews>) => learned(data, this);
    this.#worker = new WorkerThread(MODULE, `core ${generation}`, permissions, {
      said,
      died: (reason) => {
        this.desk.close();
        died(this, reason);
      },
    });
  }

  /** @throws {CannotStart} If it cannot use its files. */
  static async start(snapshot: Snapshot, parts: CoreParts): Promise<ServingCore> {
    const permissions = await corePermissions(snapshot.config, parts.resolve);
    const { directory } = snapshot.config.sharing;
    if (directory !== undefined) await makeFolder(directory);
    const [desk, learned] = [new MessageChannel(), new MessageChannel()];
    const core = new ServingCore(permissions, parts, { desk: desk.port2, learned: learned.port2 });
    const { generation, upSince, instance, port, daemons, shared } = parts;
    const options = { ...snapshot, generation, upSince, instance, port, daemons, shared };
    core.#worker.tell({ kind: "start", options, learned: learned.port1 }, [learned.port1]);
    core.#worker.tell({ kind: "desk", port: desk.port1 }, [desk.port1]);
    try {
      await core.#worker.ready();
    } catch (error) {
      core.end();
      throw error;
    }
    return core;
  }

  /**
   * Has it take over what others know of failed logins, bans and proofs.
   * @throws {NoAnswer} If it does not: then it does not know whom to keep out.
   */
  async adopt(learned: LearnedElsewhere): Promise<void> {
    await this.desk.ask({ about: "adopt", ...learned }, ADOPT_MS);
  }

  /** Takes requests of an edge from now on. */
  channel(edge: ServingEdge): void {
    const { port1, port2 } = new MessageChannel();
    this.edges.add(edge);
    this.#worker.tell({ kind: "channel", port: port1 }, [port1]);
    edge.channel(this.generation, port2);
  }

  renewTls(material: TlsMaterial): void {
    this.#worker.tell({ kind: "material", material });
  }

  /** The service stops soon: health checks are told from now on. */
  leave(): void {
    this.#worker.tell({ kind: "leave" });
  }

  /**
   * What is under way with the daemons comes to its end, then the core does.
   * @param options.last Whether the service ends with it.
   */
  async close({ last }: { readonly last: boolean } = { last: false }): Promise<void> {
    this.#worker.tell({ kind: "close", last });
    await this.#worker.closed(CLOSE_MS);
    this.end();
  }

  end(): void {
    this.desk.close();
    this.#learned.close();
    this.#worker.end();
  }
}

/** @throws {CannotStart} */
async function makeFolder(directory: string): Promise<void> {
  try {
    await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CannotStart([`persistence.directory ${directory}: ${reason}`], true);
  }
}
