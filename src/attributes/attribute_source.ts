import type { AttributeSet } from "../model/attributes.ts";
import type { Identity } from "../model/identity.ts";

/** Place of a user's entry in a file. */
export interface AttributeOrigin {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly key: string;
}

/** Source of user attributes, for concurrent requests. */
export interface AttributeSource {
  /** As configured, such as `FILE`. */
  readonly name: string;
  /** Returns a user's attributes, empty for unknown users. @throws {ServiceError} On an outage; the request fails. */
  attributesOf(identity: Identity, signal: AbortSignal): Promise<AttributeSet>;
  /** Returns the place of a user's entry for the operator; absent for sources without a file. */
  originOf?(identity: Identity): AttributeOrigin | undefined;
  close(): void;
}
