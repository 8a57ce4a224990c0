import type { Ban, BanSubject } from "./ban.ts";
import type { FailureRecord } from "./failure_table.ts";

type Records = readonly (readonly [key: string, record: FailureRecord<BanSubject>])[];

/**
 * What a login throttle knows, as plain data: handed from one that ends to the one that takes its place, so that a change of
 * configuration ends no wait. Records that strangers share for want of room are left out; they last ten seconds.
 */
export interface ThrottlingState {
  /** The time that the moments in it are to be compared with, as the login throttle's own clock told it. */
  readonly asOf: number;
  readonly pairs: Records;
  readonly addresses: Records;
  readonly users: Records;
  readonly tokens: Records;
  /** Users at addresses, with the moment of the last right password. */
  readonly known: readonly (readonly [key: string, at: number])[];
  readonly operator: readonly Ban[];
}

/**
 * What a login throttle has just learned: the records that changed, as they are now. To be adopted, in the order in which it was
 * told, by whoever keeps a copy.
 */
export interface ThrottlingNews extends Partial<Omit<ThrottlingState, "asOf">> {
  /** See {@link ThrottlingState}. */
  readonly asOf: number;
  /** Bans by hand that hold, in place of all that held: others than those of `operator` are lifted. */
  readonly allBans?: readonly Ban[];
  /** Subjects whose bans and failures an operator cleared; `allBans` and `operator` are adopted afterwards. */
  readonly lifted?: readonly BanSubject[];
  /** Of `pairs`: these are forgotten, since the password was right. */
  readonly cleared?: readonly string[];
}
