import type { Table } from "../config/key.ts";
import type { KindConfig } from "../config/service_config.ts";
import type { ProbedKind, ProbeParts } from "../outgoing/probed_kind.ts";
import type { Notification, NotifiedEvent } from "./event.ts";

export interface Destination {
  readonly name: "webhook" | "mail";
  readonly host: string; // for messages; an address may hold a secret
  /** Limits of a batch of notifications, delivered once its stream was quiet; absent: no batches. */
  readonly batching?: { readonly quietMs: number; readonly maxMs: number; readonly maxCount: number };
  /** @throws {Undeliverable | RemoteUnavailable} Any other error also leads to another attempt. */
  deliver(notifications: readonly Notification[], signal: AbortSignal): Promise<void>;
}

/** Error for a notification that the receiver refuses for good. */
export class Undeliverable extends Error {}

/** Kind of destination; configured at most once. */
export interface DestinationKind<T extends Table = Table, S extends object = object>
  extends ProbedKind<T, S> {
  readonly name: Destination["name"];
  accepts(config: S & KindConfig, event: NotifiedEvent): boolean;
  create(config: S & KindConfig, parts: ProbeParts): Promise<Destination>;
}

/** Declares a kind, with types derived from its keys. */
export function destinationKind<const T extends Table, S extends object>(
  kind: DestinationKind<T, S>,
): DestinationKind<T, S> {
  return kind;
}
