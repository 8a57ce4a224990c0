import type { KnownDaemons } from "../daemon/daemons.ts";
import type { Setup } from "../service/assembly/load_setup.ts";
import type { InstanceName, SharedKnown } from "../service/assembly/open_together.ts";
import type { LearnedElsewhere } from "../service/operator_desk.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import { CannotStart } from "./cannot_start.ts";
import { DeskCaller } from "./desk_link.ts";
import { corePermissions, type Resolve, type RoomPermissions } from "./permissions.ts";
import { Room, roomModule } from "./room.ts";
import type { CoreNews, FromRoom, ToCoreRoom } from "./room_message.ts";
import { DRAIN_MS, type ServingEdge } from "./serving_edge.ts";

/** How long a core may take to end what it has with the daemons, in milliseconds. */
const CLOSE_MS = DRAIN_MS + 10_000;
/** How long it may take to take over what others know, in milliseconds. */
const ADOPT_MS = 3000;

const MODULE = roomModule(new URL("./core_room.ts", import.meta.url));

/** What a core is started with, and who is told of it. */
interface CoreParts {
  readonly generation: number;
  /** That clients connect to. */
  readonly port: number;
  /** Start of the process, milliseconds since the epoch. */
  readonly upSince: number;
  readonly instance: InstanceName;
  readonly resolve: Resolve;
  readonly said: (message: FromRoom) => void;
  /** What is known of the daemons, by the addresses of their command sockets. */
  readonly daemons: KnownDaemons;
  /** What is known of what instances share. */
  readonly shared: SharedKnown;
  /** Told of failed logins, proofs and daemons at once, of what came before its death too. */
  readonly learned: (news: CoreNews, core: ServingCore) => void;
  readonly died: (core: ServingCore, reason: string) => void;
}

/** A core's room that is ready, as the supervisor sees it. */
export class ServingCore {
  readonly generation: number;
  readonly permissions: RoomPermissions;
  readonly desk: DeskCaller;
  /** Edges that may have requests with it. */
  readonly edges = new Set<ServingEdge>();
  readonly #room: Room<ToCoreRoom>;
  /**
   * A port of its own: of what a worker posts to its maker directly, part is lost when it dies. Nothing of what has
   * gone into a port is, and it closes itself once it is read and its other end is dead.
   */
  readonly #learned: MessagePort;

  private constructor(
    permissions: RoomPermissions,
    { generation, said, learned, died }: CoreParts,
    ports: { readonly desk: MessagePort; readonly learned: MessagePort },
  ) {
    this.generation = generation;
    this.permissions = permissions;
    this.desk = new DeskCaller(ports.desk);
    this.#learned = ports.learned;
    this.#learned.onmessage = ({ data }: MessageEvent<CoreNews>) => learned(data, this);
    this.#room = new Room(MODULE, `core ${generation}`, permissions, {
      said,
      died: (reason) => {
        this.desk.close();
        died(this, reason);
      },
    });
  }

  /** @throws {CannotStart} If it cannot use its files. */
  static async start(setup: Setup, parts: CoreParts): Promise<ServingCore> {
    const permissions = await corePermissions(setup.config, parts.resolve);
    const { directory } = setup.config.sharing;
    if (directory !== undefined) await makeFolder(directory);
    const [desk, learned] = [new MessageChannel(), new MessageChannel()];
    const core = new ServingCore(permissions, parts, { desk: desk.port2, learned: learned.port2 });
    const { generation, upSince, instance, port, daemons, shared } = parts;
    const options = { ...setup, generation, upSince, instance, port, daemons, shared };
    core.#room.tell({ kind: "start", options, learned: learned.port1 }, [learned.port1]);
    core.#room.tell({ kind: "desk", port: desk.port1 }, [desk.port1]);
    try {
      await core.#room.ready();
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
  link(edge: ServingEdge): void {
    const { port1, port2 } = new MessageChannel();
    this.edges.add(edge);
    this.#room.tell({ kind: "link", port: port1 }, [port1]);
    edge.link(this.generation, port2);
  }

  renewTls(material: TlsMaterial): void {
    this.#room.tell({ kind: "material", material });
  }

  /** The service stops soon: health checks are told from now on. */
  leave(): void {
    this.#room.tell({ kind: "leave" });
  }

  /**
   * What is under way with the daemons comes to its end, then the core does.
   * @param options.last Whether the service ends with it.
   */
  async close({ last }: { readonly last: boolean } = { last: false }): Promise<void> {
    this.#room.tell({ kind: "close", last });
    await this.#room.closed(CLOSE_MS);
    this.end();
  }

  end(): void {
    this.desk.close();
    this.#learned.close();
    this.#room.end();
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
