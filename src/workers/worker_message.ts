import type { DaemonKnowledge } from "../daemon/daemon.ts";
import type { EdgeOptions, EdgeTls } from "../edge/edge_options.ts";
import type { Level } from "../logging/logger.ts";
import type { SeenMark } from "../model/replay_cache.ts";
import type { DeskAnswer, DeskOrder } from "../service/operator_desk.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import type { ThrottlingNews } from "../throttling/throttling_state.ts";
import type { ServiceOptions } from "../service/assembly/service_options.ts";
import type { SharedKnown } from "../service/assembly/open_cluster.ts";
import type { Report } from "./measurements.ts";

/** What the supervisor tells the edge's worker. */
export type ToEdgeWorker =
  | {
    readonly kind: "start";
    readonly options: EdgeOptions;
    /** Where scrapers connect; absent: there is no metrics page. */
    readonly metrics: EdgeOptions | undefined;
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
  /** What it learns goes to the port, as {@link CoreNews}. */
  | { readonly kind: "start"; readonly options: ServiceOptions; readonly learned: MessagePort }
  | { readonly kind: "channel"; readonly port: MessagePort }
  /** The operator's questions come by this port. */
  | { readonly kind: "desk"; readonly port: MessagePort }
  | { readonly kind: "material"; readonly material: TlsMaterial }
  /** The service stops soon: health checks are told. */
  | { readonly kind: "leave" }
  | { readonly kind: "ping" }
  /** Last: the service ends. */
  | { readonly kind: "close"; readonly last: boolean };

/** What a core learns, for those that take its place. */
export type CoreNews =
  | { readonly about: "throttling"; readonly news: ThrottlingNews }
  | { readonly about: "proof"; readonly proof: SeenMark }
  /** An administrator had it done by page. */
  | { readonly about: "order"; readonly order: DeskOrder; readonly answer: DeskAnswer }
  /** By the address of the daemon's command socket. */
  | { readonly about: "daemon"; readonly address: string; readonly knowledge: DaemonKnowledge }
  /** In the database; what is left out stays as it was known. */
  | { readonly about: "shared"; readonly known: SharedKnown };

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
