import { existsSync } from "node:fs";
import type { ServiceConfig } from "../config/service_config.ts";
import type { AdminRequest } from "../resource/admin/admin_request.ts";
import { AnotherService, ControlSocket } from "./control_socket.ts";
import { serviceStatus } from "./service_status.ts";
import type { Supervisor } from "./supervisor.ts";

/** Operator's access to a service. */
export interface OperationsConfig {
  readonly config: ServiceConfig;
  readonly controlSocket: string | undefined; // path; absent: disabled by the configuration
}

interface OperationsParts {
  readonly supervisor: Supervisor;
  readonly configuration: string; // absolute path of the main configuration file
  /** Reloads the configuration and waits; the reports then contain the outcome. */
  readonly reload: () => Promise<void>;
}

/** Longest wait for the core, in milliseconds; its changes may wait for the lock of a database. */
const CORE_MS = 10_000;
const DAEMONS_MS = 35_000; // longest wait for a core that asks daemons in turn, in milliseconds

const LOGGED = {
  ban: "banned by the operator",
  lift: "bans lifted by the operator",
  revoke: "operator revoked tokens",
} as const;

/** Control socket of a running service; follows the configuration. */
export class Operations {
  #control: ControlSocket | undefined;

  private constructor(readonly parts: OperationsParts) {}

  /** @throws {CannotStart} If another service listens there, or the configured socket cannot be created. */
  static async start(
    parts: OperationsParts,
    { config, controlSocket }: OperationsConfig,
  ): Promise<Operations> {
    const operations = new Operations(parts);
    await operations.#open(controlSocket).catch((error: unknown) => {
      // If the path is not configured, the service runs without a control socket.
      if (error instanceof AnotherService || config.control.socket !== undefined) throw error;
      parts.supervisor.log.warn("there is no control socket, set container.control.socket", { error });
    });
    return operations;
  }

  /** Applies a changed configuration, or creates a deleted socket anew; logs an error if it cannot. */
  async reload({ controlSocket }: OperationsConfig): Promise<void> {
    if (this.#control && !existsSync(this.#control.path)) await this.#open(undefined);
    const path = this.#control?.path;
    if (controlSocket === path) return;
    await this.#open(controlSocket).catch((error) =>
      this.parts.supervisor.log.error("the control socket stays where it was", { path, error })
    );
  }

  async close(): Promise<void> {
    await this.#control?.close();
  }

  /** Opens a socket, then closes its predecessor. @throws {CannotStart} The predecessor continues to serve. */
  async #open(path: string | undefined): Promise<void> {
    const { supervisor: { log } } = this.parts;
    const before = this.#control;
    const answer = (request: AdminRequest) => this.#answer(request);
    this.#control = path === undefined ? undefined : await ControlSocket.listen(path, { answer, log });
    await before?.close();
  }

  /** Answers a request; writes a line to log and audit for each change. @throws {AdminRequestFailed} */
  async #answer(request: AdminRequest): Promise<unknown> {
    const { supervisor, reload } = this.parts;
    if (request.command === "status") return await serviceStatus(this.parts);
    if (request.command === "reload") {
      await reload();
      return { ...supervisor.reports.lastReload, generation: supervisor.generation };
    }
    const answer = await supervisor.call(request, request.command === "user show" ? DAEMONS_MS : CORE_MS);
    if ("status" in answer) return answer.status;
    if (answer.change !== undefined) {
      const { event, facts, seconds, lifted } = answer.change;
      const { until: _, ...logged } = facts;
      const operator = "operator" in request ? request.operator : undefined;
      supervisor.log.warn(LOGGED[event], { ...logged, seconds, lifted, operator });
      supervisor.reports.audit({ event, decision: "granted", ...facts, operator });
    }
    return answer.result;
  }
}
