import { within } from "../model/clock.ts";
import { messageOf } from "../model/text.ts";
import { type AdminAnswer, type AdminRequest, AdminRequestFailed } from "../resource/admin/admin_request.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import type { InstanceName, StateUpdate } from "../service/assembly/service_options.ts";
import { CannotStart } from "./worker_lifecycle.ts";
import { corePermissions, type Resolve, type WorkerPermissions } from "./permissions.ts";
import { workerModule, WorkerThread } from "./worker_thread.ts";
import type { AdminReply, FromCore, FromWorker, ToCoreWorker } from "./worker_message.ts";
import { DRAIN_MS, type ServingEdge } from "./serving_edge.ts";

const CLOSE_MS = DRAIN_MS + 10_000; // time for a core to finish work with the daemons, in milliseconds
const PORT_MS = 1000; // time for its last messages through the port to arrive, in milliseconds

const MODULE = workerModule(new URL("./core_worker.ts", import.meta.url));

interface CoreParts {
  readonly generation: number;
  readonly port: number; // that clients connect to
  readonly upSince: number; // start of the process, milliseconds since the epoch
  readonly instance: InstanceName;
  readonly resolve: Resolve;
  readonly onMessage: (message: FromWorker) => void;
  /** Called for each batch of audit lines, also those sent before the core's death. */
  readonly audit: (lines: readonly string[]) => void;
  readonly state: StateUpdate;
  readonly starting: (core: ServingCore) => void; // called before it may send commands to daemons
  /** Called for each update, also those published before the core's death. */
  readonly published: (update: StateUpdate, core: ServingCore) => void;
  readonly died: (core: ServingCore, reason: string) => void;
}

/** Worker of a ready core, for the supervisor. */
export class ServingCore {
  readonly edges = new Set<ServingEdge>(); // edges that may have requests in it
  readonly #worker: WorkerThread<ToCoreWorker>;
  readonly #calls = new AdminCalls((id, request) => this.#worker.post({ kind: "admin", id, request }));
  readonly #drained = Promise.withResolvers<void>(); // resolves when the port has no more messages
  #closing: Promise<void> | undefined;

  /** @param port Own port: the platform loses part of a dying worker's direct messages, but nothing sent through a port. */
  private constructor(
    readonly generation: number,
    readonly permissions: WorkerPermissions,
    { onMessage, audit, published, died }: CoreParts,
    readonly port: MessagePort,
  ) {
    port.onmessage = ({ data }: MessageEvent<FromCore>) => {
      if ("update" in data) published(data.update, this);
      else if ("auditLines" in data) audit(data.auditLines);
      else if ("closed" in data) this.#drained.resolve();
      else this.#calls.settle(data);
    };
    this.#worker = new WorkerThread(MODULE, `core ${generation}`, permissions, {
      onMessage,
      died: (reason) => {
        this.#calls.close();
        this.#drained.resolve();
        died(this, reason);
      },
    });
  }

  /** @throws {CannotStart} If it cannot use its files. */
  static async start(snapshot: Snapshot, parts: CoreParts): Promise<ServingCore> {
    const permissions = await corePermissions(snapshot.config, parts.resolve);
    const { directory } = snapshot.config.sharing;
    if (directory !== undefined) await makeFolder(directory);
    const { port1, port2 } = new MessageChannel();
    const { generation, upSince, instance, port, state } = parts;
    const core = new ServingCore(generation, permissions, parts, port2);
    const options = { ...snapshot, generation, upSince, instance, port, state };
    parts.starting(core);
    core.#worker.post({ kind: "start", options, port: port1 }, [port1]);
    await core.#worker.ready().catch((error) => {
      core.end();
      throw error;
    });
    return core;
  }

  call(request: AdminRequest, withinMs: number): Promise<AdminAnswer> {
    return this.#calls.call(request, withinMs);
  }

  get ended(): boolean {
    return this.#calls.closed;
  }

  /** Sends a message. The core acts on it before it serves a later {@link channel}. */
  post(message: ToCoreWorker): void {
    this.#worker.post(message);
  }

  channel(edge: ServingEdge): void {
    const { port1, port2 } = new MessageChannel();
    this.edges.add(edge);
    this.#worker.post({ kind: "channel", port: port1, edge: edge.id }, [port1]);
    edge.channel(this.generation, port2);
  }

  /** Makes the core abandon its work for an edge. */
  detach(edge: ServingEdge): void {
    if (this.edges.delete(edge)) this.post({ kind: "edge-lost", edge: edge.id });
  }

  /** Waits for running work with the daemons, then ends. @param last Whether the service ends with it. */
  close(last = false): Promise<void> {
    return this.#closing ??= this.#close(last);
  }

  async #close(last: boolean): Promise<void> {
    this.#worker.post({ kind: "close", last });
    await this.#worker.waitFor("closed", CLOSE_MS);
    await within(this.#drained.promise, PORT_MS);
    this.end();
  }

  end(): void {
    this.#calls.close();
    this.#drained.resolve();
    this.port.close();
    this.#worker.end();
  }
}

async function makeFolder(directory: string): Promise<void> {
  await Deno.mkdir(directory, { recursive: true, mode: 0o700 }).catch((error) => {
    throw new CannotStart([`persistence.directory ${directory}: ${messageOf(error)}`], true);
  });
}

/** Error for a core that is busy, dead or failed; the message is for the operator. */
export class NoAnswer extends AdminRequestFailed {}

/** Admin requests of the supervisor to one core that have no reply yet. */
export class AdminCalls {
  readonly #pending = new Map<number, (reply: AdminReply) => void>();
  #next = 1;
  closed = false;

  constructor(readonly send: (id: number, request: AdminRequest) => void) {}

  call(request: AdminRequest, withinMs: number): Promise<AdminAnswer> {
    if (this.closed) return Promise.reject(new NoAnswer("the core has ended"));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const settle = (reply: AdminReply) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        if ("failed" in reply) reject(new NoAnswer(reply.failed));
        else resolve(reply.answer);
      };
      const timer = setTimeout(
        () => settle({ id, failed: `the core did not answer within ${withinMs / 1000} s` }),
        withinMs,
      );
      this.#pending.set(id, settle);
      this.send(id, request);
    });
  }

  settle(reply: AdminReply): void {
    this.#pending.get(reply.id)?.(reply);
  }

  close(): void {
    this.closed = true;
    for (const [id, settle] of [...this.#pending]) settle({ id, failed: "the core has ended" });
  }
}
