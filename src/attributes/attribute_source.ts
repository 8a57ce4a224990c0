import type { WrittenName } from "../config/kind.ts";
import type { AttributeSet } from "../model/attributes.ts";
import type { Identity } from "../model/identity.ts";
import type { RemoteStatus } from "../outgoing/remote_system.ts";

/** Source of user attributes, for concurrent requests. */
export interface AttributeSource {
  readonly name: string; // as configured, such as `FILE`
  /** Returns a user's attributes, empty for unknown users. @throws {ServiceError} On an outage; the request fails. */
  attributesOf(identity: Identity, signal: AbortSignal): Promise<AttributeSet>;
  /** Returns the place of a user's entry for the operator; absent for sources without a file. */
  originOf?(identity: Identity): WrittenName | undefined;
  /** Returns the status of its remote systems together, or of the one at an address; absent without any. */
  status?(address?: string): RemoteStatus | undefined;
  readonly sources?: readonly AttributeSource[]; // of a chain and its nested chains
  close(): void;
}
