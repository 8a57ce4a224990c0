import type { ServiceConfig } from "../config/service_config.ts";
import type { EdgeOptions, EdgeTls } from "../edge/edge_options.ts";
import type { Level } from "../logging/logger.ts";
import type { TlsMaterial } from "../model/tls_material.ts";

/** Everything a core needs to begin; plain data. */
export interface CoreOptions {
  readonly config: ServiceConfig;
  /** Absent if nothing speaks TLS. */
  readonly material: TlsMaterial | undefined;
  /** Counts the cores since the start of the process, from 1. */
  readonly generation: number;
  /** Start of the process, milliseconds since the epoch. */
  readonly upSince: number;
  /** Port the edge listens on: the configured one, or what the system chose for 0. */
  readonly port: number;
}

/** What the supervisor tells the edge's room. */
export type ToEdgeRoom =
  | { readonly kind: "start"; readonly options: EdgeOptions; readonly logLevel: Level }
  /** Requests go to this core from now on. */
  | { readonly kind: "core"; readonly generation: number; readonly port: MessagePort }
  /** That core is dead. */
  | { readonly kind: "core-lost"; readonly generation: number }
  | { readonly kind: "tls"; readonly tls: EdgeTls }
  | { readonly kind: "drain"; readonly withinMs: number };

/** What the supervisor tells a core's room. */
export type ToCoreRoom =
  | { readonly kind: "start"; readonly options: CoreOptions }
  | { readonly kind: "link"; readonly port: MessagePort }
  | { readonly kind: "material"; readonly material: TlsMaterial }
  | { readonly kind: "ping" }
  | { readonly kind: "close" };

/** What a room tells the supervisor. */
export type FromRoom =
  | { readonly kind: "ready"; readonly port: number }
  /** It cannot start; the texts are for the operator. */
  | { readonly kind: "failed"; readonly problems: readonly string[] }
  | { readonly kind: "log"; readonly lines: readonly LogLine[] }
  | { readonly kind: "pong" }
  /** From the edge: nothing waits for that core any more. */
  | { readonly kind: "core-idle"; readonly generation: number }
  | { readonly kind: "closed" };

export interface LogLine {
  readonly line: string;
  readonly level: Level;
}
