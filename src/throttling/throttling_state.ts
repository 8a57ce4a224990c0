import type { Ban, BanSubject } from "./ban.ts";
import type { FailureRecord } from "./failure_table.ts";

type Records = readonly (readonly [key: string, record: FailureRecord<BanSubject>])[];

/** Plain state of a login throttle for a successor, so that a reload ends no wait. */
export interface ThrottlingState {
  readonly asOf: number; // reference time of its moments, by the throttle's clock
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
  readonly allBans?: readonly Ban[]; // replaces all bans; only those of `operator` stay
  readonly lifted?: readonly BanSubject[]; // subjects whose failures an operator cleared
  readonly cleared?: readonly string[]; // `pairs` cleared by a right password
}
