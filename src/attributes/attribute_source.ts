import type { AttributeSet } from "../model/attributes.ts";
import type { Identity } from "../model/identity.ts";

/** The entry of a file that is meant for a user. */
export interface AttributeOrigin {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Name or pattern, as written. */
  readonly key: string;
}

/** One place that knows what users may do. Serves several requests at once. */
export interface AttributeSource {
  /** In the configured order, such as `FILE`. */
  readonly name: string;
  /**
   * What this source knows about the user; an unknown user has no attributes and is no error.
   * @throws {ServiceError} If the source is out of order; the request then fails closed.
   */
  attributesOf(identity: Identity, signal: AbortSignal): Promise<AttributeSet>;
  /** Where what is known about the user stands, for an operator who wants to see it; absent if it is in no file. */
  originOf?(identity: Identity): AttributeOrigin | undefined;
  /** Releases watchers and connections. */
  close(): void;
}
