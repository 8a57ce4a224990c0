import type { Ban, BanSubject } from "./ban.ts";
import type { FailureRecord } from "./failure_table.ts";

type Records = readonly (readonly [key: string, record: FailureRecord<BanSubject>])[];

/** Plain state of a login throttle for a successor, so that a reload ends no wait; without shared records. */
export interface ThrottlingState {
  /** Reference time of its moments, by the throttle's clock. */
  readonly asOf: number;
  readonly pairs: Records;
  readonly addresses: Records;
  readonly users: Records;
  readonly tokens: Records;
  /** Users at addresses, with their last right password. */
  readonly known: readonly (readonly [key: string, at: number])[];
  readonly operator: readonly Ban[];
}

/** Incremental update of the state, to be adopted in order. */
export interface ThrottlingNews extends Partial<Omit<ThrottlingState, "asOf">> {
  /** See {@link ThrottlingState}. */
  readonly asOf: number;
  /** Replaces all bans; only those of `operator` stay. */
  readonly allBans?: readonly Ban[];
  /** Subjects whose failures an operator cleared. */
  readonly lifted?: readonly BanSubject[];
  /** `pairs` cleared by a right password. */
  readonly cleared?: readonly string[];
}
