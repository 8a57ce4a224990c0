import type { MetricsConfig } from "../config/service_config.ts";
import { LIMITS } from "../edge/edge_options.ts";
import type { Logger } from "../logging/logger.ts";
import { CannotStart } from "./cannot_start.ts";
import { servePage } from "./page_link.ts";
import { edgePermissions, type Resolve } from "./permissions.ts";
import { type Listening, PortWatch } from "./port_watch.ts";
import { Room, roomModule } from "./room.ts";
import type { ToMetricsRoom } from "./room_message.ts";

const MODULE = roomModule(new URL("./metrics_room.ts", import.meta.url));

/** Connections at a time: scrapers are few. */
const MOST_CONNECTIONS = 32;
const DRAIN_MS = 1000;
/** Pause before a listener that died is started again, in milliseconds. */
const RESTART_MS = 5000;
/** Least level of its own lines; in our log all of them have it. */
const LOG_LEVEL = "error";

type Address = NonNullable<MetricsConfig["listen"]>;

/** What the metrics listener is made with. */
interface MetricsParts {
  /** Makes the page. */
  readonly page: () => Promise<string>;
  readonly log: Logger;
  readonly resolve: Resolve;
}

/**
 * Listens for scrapers, in a room of its own that may listen on this one address and nothing else. Of what they send
 * nothing reaches the supervisor.
 */
export class MetricsListener {
  readonly #address: Address;
  readonly #parts: MetricsParts;
  #room: Room<ToMetricsRoom> | undefined;
  #port = 0;
  #closed = false;
  readonly #ports: PortWatch<Listening>;
  #listening: Listening | undefined;

  private constructor(address: Address, parts: MetricsParts) {
    this.#address = address;
    this.#parts = parts;
    this.#ports = new PortWatch({
      current: () => this.#listening,
      silent: () => {
        this.#room?.end();
        this.#died("it takes no connections any more");
      },
    });
  }

  /** @throws {CannotStart} If it cannot listen. */
  static async start(address: Address, parts: MetricsParts): Promise<MetricsListener> {
    const listener = new MetricsListener(address, parts);
    try {
      await listener.#start();
    } catch (error) {
      listener.#ports.close();
      throw error;
    }
    return listener;
  }

  get port(): number {
    return this.#port;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ports.close();
    this.#room?.tell({ kind: "drain", withinMs: DRAIN_MS });
    await this.#room?.closed(2 * DRAIN_MS);
    this.#room?.end();
  }

  async #start(): Promise<void> {
    const { host } = this.#address;
    const port = this.#address.port || this.#port; // a port that the system chose is kept
    const { log, resolve, page } = this.#parts;
    const [address] = await resolve(host);
    if (address === undefined) throw new CannotStart([`container.metrics.host = ${host}: no such host`]);
    const room = new Room<ToMetricsRoom>(
      MODULE,
      "metrics",
      edgePermissions(address, port),
      {
        said: (message) => {
          if (message.kind !== "log") return;
          for (const line of message.text.trimEnd().split("\n")) log[LOG_LEVEL](`metrics: ${line}`);
        },
        died: (reason) => this.#died(reason),
      },
    );
    const options = { address, port, maxConnections: MOST_CONNECTIONS, limits: LIMITS };
    const { port1, port2 } = new MessageChannel();
    servePage(port1, page, (error) => log.error("the metrics page could not be made", { error }));
    room.tell({ kind: "start", options, page: port2, logLevel: LOG_LEVEL }, [port2]);
    try {
      this.#port = (await room.ready()).port;
    } catch (error) {
      room.end();
      throw error;
    }
    this.#room = room;
    this.#listening = { address, port: this.#port };
  }

  #died(reason: string): void {
    if (this.#closed || this.#room === undefined) return;
    this.#room = undefined;
    this.#listening = undefined;
    this.#parts.log.error("metrics listener died, starting another", { reason });
    this.#restart();
  }

  #restart(): void {
    setTimeout(() => {
      if (this.#closed) return;
      const { log } = this.#parts;
      this.#start().then(() => log.info("metrics listener replaced", { port: this.#port }), (error) => {
        log.error("metrics listener could not be started again, trying again", { error });
        this.#restart();
      });
    }, RESTART_MS);
  }
}
