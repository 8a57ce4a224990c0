import { isDeepStrictEqual } from "node:util";
import type { ServiceConfig } from "../config/service_config.ts";
import { AnotherService, ControlSocket } from "./control/control_socket.ts";
import { operateOn } from "./control/operate.ts";
import { MetricsListener } from "./metrics_listener.ts";
import { metricsPage } from "./metrics_page.ts";
import { resolveHost } from "./resolve_host.ts";
import type { StatusParts } from "./service_status.ts";

/** The operator's ways to a running service: the control socket and the metrics page. */
export class Operations {
  readonly #parts: StatusParts;
  readonly #control: ControlSocket | undefined;
  #metrics: MetricsListener | undefined;
  #config: ServiceConfig;

  private constructor(parts: StatusParts, config: ServiceConfig, control: ControlSocket | undefined) {
    this.#parts = parts;
    this.#config = config;
    this.#control = control;
  }

  /**
   * @param controlSocket Path; absent: none.
   * @throws {CannotStart} If another service listens there, or one of the two cannot be made.
   */
  static async start(
    parts: StatusParts,
    { config, controlSocket }: { readonly config: ServiceConfig; readonly controlSocket: string | undefined },
  ): Promise<Operations> {
    const { log } = parts.supervisor;
    const control = controlSocket === undefined
      ? undefined
      : await ControlSocket.listen(controlSocket, { operate: operateOn(parts), log }).catch(
        (error: unknown) => {
          // Where nobody chose the place, users need not go without the service because the operator goes without this.
          if (error instanceof AnotherService || config.control.socket !== undefined) throw error;
          log.warn("there is no control socket, set container.control.socket", { error });
          return undefined;
        },
      );
    const operations = new Operations(parts, config, control);
    try {
      await operations.#listen(config);
      return operations;
    } catch (error) {
      await control?.close();
      throw error;
    }
  }

  /** Port of the metrics page; absent if there is none. */
  get metricsPort(): number | undefined {
    return this.#metrics?.port;
  }

  /** Takes over a changed configuration; what cannot be is reported in the log. */
  async reload(config: ServiceConfig): Promise<void> {
    const before = this.#config;
    this.#config = config;
    const { log } = this.#parts.supervisor;
    const fixed = ({ logging, audit, control }: ServiceConfig) => [logging, audit, control];
    if (!isDeepStrictEqual(fixed(before), fixed(config))) {
      log.warn("logs, audit file or control socket changed: restart the service to use them");
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

  async #listen({ metrics: { listen } }: ServiceConfig): Promise<void> {
    if (listen === undefined) return;
    const { log } = this.#parts.supervisor;
    this.#metrics = await MetricsListener.start(listen, {
      answer: metricsPage(this.#parts),
      log,
      resolve: resolveHost,
    });
    log.info("metrics page", { host: listen.host, port: this.#metrics.port });
  }
}
