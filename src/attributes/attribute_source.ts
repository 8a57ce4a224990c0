import type { AttributeSet } from "../model/attributes.ts";
import type { Identity } from "../model/identity.ts";

/** One place that knows what users may do. Serves several requests at once. */
export interface AttributeSource {
  /** In the configured order, such as `FILE`. */
  readonly name: string;
  /**
   * What this source knows about the user; an unknown user has no attributes and is no error.
   * @throws {ServiceError} If the source is out of order; the request then fails closed.
   */
  attributesOf(identity: Identity, signal: AbortSignal): Promise<AttributeSet>;
  /** Releases watchers and connections. */
  close(): void;
}
