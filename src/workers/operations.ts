import type { ServiceConfig } from "../config/service_config.ts";
import { AnotherService, ControlSocket } from "./control/control_socket.ts";
import { type OperatedParts, operateOn } from "./control/operate.ts";

/** How the operator reaches a service. */
export interface OperationsConfig {
  readonly config: ServiceConfig;
  /** Path; absent: none. */
  readonly controlSocket: string | undefined;
}

/** The control socket of a running service, which follows the configuration. */
export class Operations {
  readonly #parts: OperatedParts;
  #control: ControlSocket | undefined;

  private constructor(parts: OperatedParts) {
    this.#parts = parts;
  }

  /** @throws {CannotStart} If another service listens there, or the configured socket cannot be made. */
  static async start(
    parts: OperatedParts,
    { config, controlSocket }: OperationsConfig,
  ): Promise<Operations> {
    const operations = new Operations(parts);
    await operations.#open(controlSocket).catch((error: unknown) => {
      // Where nobody chose the place, users need not go without the service because the operator goes without this.
      if (error instanceof AnotherService || config.control.socket !== undefined) throw error;
      parts.supervisor.log.warn("there is no control socket, set container.control.socket", { error });
    });
    return operations;
  }

  /** Follows a changed configuration; the log says if the socket cannot move. */
  async reload({ controlSocket }: OperationsConfig): Promise<void> {
    const path = this.#control?.path;
    if (controlSocket === path) return;
    await this.#open(controlSocket).catch((error) =>
      this.#parts.supervisor.log.error("the control socket stays where it was", { path, error })
    );
  }

  async close(): Promise<void> {
    await this.#control?.close();
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
}
