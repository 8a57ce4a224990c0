import { isDeepStrictEqual } from "node:util";
import type { ServiceConfig } from "../config/service_config.ts";
import { AnotherService, ControlSocket } from "./control/control_socket.ts";
import { type OperatedParts, operateOn } from "./control/operate.ts";
import { MetricsListener } from "./metrics_listener.ts";
import { metricsPage } from "./metrics_page.ts";
import { resolveHost } from "./resolve_host.ts";

/** How the operator reaches a service. */
export interface OperationsConfig {
  readonly config: ServiceConfig;
  /** Path; absent: none. */
  readonly controlSocket: string | undefined;
}

/** The operator's ways to a running service: the control socket and the metrics page. */
export class Operations {
  readonly #parts: OperatedParts;
  #control: ControlSocket | undefined;
  #metrics: MetricsListener | undefined;
  #config: ServiceConfig;

  private constructor(parts: OperatedParts, config: ServiceConfig) {
    this.#parts = parts;
    this.#config = config;
  }

  /**
   * @throws {CannotStart} If another service listens there, or one of the two cannot be made.
   */
  static async start(
    parts: OperatedParts,
    { config, controlSocket }: OperationsConfig,
  ): Promise<Operations> {
    const operations = new Operations(parts, config);
    try {
      await operations.#open(controlSocket).catch((error: unknown) => {
        // Where nobody chose the place, users need not go without the service because the operator goes without this.
        if (error instanceof AnotherService || config.control.socket !== undefined) throw error;
        parts.supervisor.log.warn("there is no control socket, set container.control.socket", { error });
      });
      await operations.#listen(config);
      return operations;
    } catch (error) {
      await operations.close();
      throw error;
    }
  }

  /** Port of the metrics page; absent if there is none. */
  get metricsPort(): number | undefined {
    return this.#metrics?.port;
  }

  /** Takes over a changed configuration; what cannot be is reported in the log. */
  async reload({ config, controlSocket }: OperationsConfig): Promise<void> {
    const before = this.#config;
    this.#config = config;
    const { log } = this.#parts.supervisor;
    if (controlSocket !== this.#control?.path) {
      await this.#open(controlSocket).catch((error) =>
        log.error("the control socket stays where it was", { path: this.#control?.path, error })
      );
    }
    if (isDeepStrictEqual(before.metrics, config.metrics)) return;
    await this.#metrics?.close();
    this.#metrics = undefined;
    await this.#listen(config).catch((error) => log.error("there is no metrics page", { error }));
  }

  async close(): Promise<void> {
    await this.#control?.close();
    await this.#metrics?.close();
  }

  /** The socket before serves until there is another. @throws {CannotStart} */
  async #open(path: string | undefined): Promise<void> {
    const { supervisor: { log } } = this.#parts;
    const before = this.#control;
    this.#control = path === undefined
      ? undefined
      : await ControlSocket.listen(path, { operate: operateOn(this.#parts), log });
    await before?.close();
  }

  async #listen({ metrics: { listen } }: ServiceConfig): Promise<void> {
    if (listen === undefined) return;
    const { log } = this.#parts.supervisor;
    this.#metrics = await MetricsListener.start(listen, {
      page: () => metricsPage(this.#parts),
      log,
      resolve: resolveHost,
    });
    log.info("metrics page", { host: listen.host, port: this.#metrics.port });
  }
}
