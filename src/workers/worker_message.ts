import type { EdgeOptions, EdgeTls } from "../edge/edge_options.ts";
import type { Level } from "../logging/logger.ts";
import type { AdminRequest } from "../resource/admin/admin_request.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import type { ServiceOptions } from "../service/assembly/service_options.ts";
import type { LoginUpdate, StateUpdate } from "../service/state_update.ts";
import type { AdminReply } from "./admin_calls.ts";
import type { Report } from "./measurements.ts";

/** What the supervisor tells the edge's worker. */
export type ToEdgeWorker =
  | {
    readonly kind: "start";
    readonly options: EdgeOptions;
    readonly metrics: EdgeOptions | undefined; // where scrapers connect; absent: there is no metrics page
    readonly logLevel: Level;
  }
  /** The metrics page that the edge asked for; absent: it could not be made. */
  | { readonly kind: "metrics-page"; readonly page: string | undefined }
  /** Requests go to this core from now on. */
  | { readonly kind: "core"; readonly generation: number; readonly port: MessagePort }
  /** That core is dead. */
  | { readonly kind: "core-lost"; readonly generation: number }
  | { readonly kind: "tls"; readonly tls: EdgeTls }
  | { readonly kind: "log-level"; readonly level: Level }
  /** The service stops soon: clients are sent away, and served. */
  | { readonly kind: "leave" }
  | { readonly kind: "ping" }
  | { readonly kind: "drain"; readonly withinMs: number };

/** What the supervisor tells a core's worker. */
export type ToCoreWorker =
  /** The core posts each {@link FromCore} to the port. */
  | { readonly kind: "start"; readonly options: ServiceOptions; readonly port: MessagePort }
  | { readonly kind: "channel"; readonly port: MessagePort }
  | { readonly kind: "admin"; readonly id: number; readonly request: AdminRequest }
  /** Logins at other cores, now or before. */
  | { readonly kind: "adopt"; readonly update: LoginUpdate }
  | { readonly kind: "material"; readonly material: TlsMaterial }
  /** The service stops soon: health checks are told. */
  | { readonly kind: "leave" }
  | { readonly kind: "ping" }
  /** Last: the service ends. */
  | { readonly kind: "close"; readonly last: boolean };

/** Message of a core that outlives it: it goes to a port of its own. */
export type FromCore = { readonly update: StateUpdate } | AdminReply;

/** What a worker tells the supervisor. */
export type FromWorker =
  | { readonly kind: "ready"; readonly port: number; readonly metricsPort?: number }
  /** From the edge: a scraper wants the metrics page. */
  | { readonly kind: "metrics-page" }
  /** It cannot start; the texts are for the operator. */
  /** `permanent`: another attempt with the same files fails, too. */
  | { readonly kind: "failed"; readonly diagnostics: readonly string[]; readonly permanent?: boolean }
  /** Whole lines, with their ends. */
  | { readonly kind: "log"; readonly text: string }
  | { readonly kind: "audit"; readonly lines: readonly string[] }
  | { readonly kind: "measured"; readonly report: Report }
  | { readonly kind: "pong" }
  /** From the edge: nothing waits for that core any more. */
  | { readonly kind: "core-idle"; readonly generation: number }
  | { readonly kind: "closed" };
