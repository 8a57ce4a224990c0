import type { EdgeOptions, EdgeTls } from "../edge/edge_options.ts";
import type { Level } from "../logging/logger.ts";
import type { AdminAnswer, AdminRequest } from "../resource/admin/admin_request.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import type { LoginUpdate, ServiceOptions, StateUpdate } from "../service/assembly/service_options.ts";
import type { Increments } from "../metrics/counters.ts";

export type ToEdgeWorker =
  | {
    readonly kind: "start";
    readonly options: EdgeOptions;
    readonly metrics: EdgeOptions | undefined; // where scrapers connect; absent: there is no metrics page
    readonly logLevel: Level;
  }
  /** Requested metrics page; absent after a failure. */
  | { readonly kind: "metrics-page"; readonly page: string | undefined }
  /** Directs new requests to this core. */
  | { readonly kind: "core"; readonly generation: number; readonly port: MessagePort }
  | { readonly kind: "core-lost"; readonly generation: number }
  | { readonly kind: "tls"; readonly tls: EdgeTls }
  | { readonly kind: "log-level"; readonly level: Level }
  /** The service stops soon: connections end after their response. */
  | { readonly kind: "leave" }
  | { readonly kind: "ping" }
  /** Answered once all messages before it have taken effect. */
  | { readonly kind: "sync" }
  | { readonly kind: "drain"; readonly withinMs: number };

export type ToCoreWorker =
  /** The core posts {@link FromCore} messages to the port. */
  | { readonly kind: "start"; readonly options: ServiceOptions; readonly port: MessagePort }
  | { readonly kind: "channel"; readonly port: MessagePort; readonly edge: string }
  /** Ends the channel to an edge that has ended, or has no more requests. */
  | { readonly kind: "edge-lost"; readonly edge: string }
  | { readonly kind: "admin"; readonly id: number; readonly request: AdminRequest }
  | { readonly kind: "adopt"; readonly update: LoginUpdate }
  | { readonly kind: "material"; readonly material: TlsMaterial }
  | { readonly kind: "audit-state"; readonly fails: boolean }
  /** The service stops soon: health checks announce it. */
  | { readonly kind: "leave" }
  /** A successor gets all further requests: the core ends notifications and the entry of the instance. */
  | { readonly kind: "retire" }
  | { readonly kind: "ping" }
  | { readonly kind: "close"; readonly last: boolean };

/** Message of a core that survives its death, through its own port. */
export type FromCore =
  | { readonly update: StateUpdate }
  | { readonly auditLines: readonly string[] }
  | { readonly closed: true }
  | AdminReply;

export type FromWorker =
  | { readonly kind: "ready"; readonly port: number; readonly metricsPort?: number }
  /** From the supervisor's own thread: the worker is not ready yet. */
  | { readonly kind: "starting"; readonly fields: { worker: string; awaited: string; seconds: number } }
  /** From the edge: a scraper requested the metrics page. */
  | { readonly kind: "metrics-page" }
  /** The worker cannot start. `permanent`: another attempt with the same files fails, too. */
  | { readonly kind: "failed"; readonly diagnostics: readonly string[]; readonly permanent?: boolean }
  /** Whole lines with line ends. */
  | { readonly kind: "log"; readonly text: string }
  | { readonly kind: "measured"; readonly report: Report }
  | { readonly kind: "pong" }
  | { readonly kind: "synced" }
  /** From the edge: the core has no pending requests. */
  | { readonly kind: "core-idle"; readonly generation: number }
  | { readonly kind: "closed" };

/** A core's reply to one admin request; the text of a failure is for the operator. */
export type AdminReply =
  | { readonly id: number; readonly answer: AdminAnswer }
  | { readonly id: number; readonly failed: string };

/** Events in a worker since its last report, as plain data. */
export interface Report {
  readonly counts: Increments;
  /** Delays of the clock readings; any other task waits as long for the event loop. */
  readonly delaysMs: readonly number[];
  /** Longest delay caused by the worker's own work, in milliseconds, not by a lack of processors. */
  readonly ownDelayMs: number;
  readonly rejections: number; // unhandled rejections of promises
}
