import type { Table } from "../config/key.ts";
import type { CombiningPolicy } from "../config/keys/attribute_keys.ts";
import type { KindConfig } from "../config/kind_config.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { OutgoingHttp } from "../outgoing/outgoing_http.ts";
import type { ProbedKind } from "../outgoing/probed_kind.ts";
import type { ChainOptions } from "./attribute_chain.ts";
import type { AttributeSource } from "./attribute_source.ts";

/** What sources are made with besides their configuration. */
export interface SourceParts {
  readonly log: Logger;
  readonly clock: Clock;
  /** A client for other systems, which shows the server's certificate to those that ask if it is configured to. */
  readonly outgoing: () => OutgoingHttp;
  /** Told of the answer of each configured source; of a chain among them after those of its own sources. */
  readonly onAnswer?: ChainOptions["onAnswer"];
}

/** Makes a chain of configured sources. */
type CreateChain = (
  name: string,
  sources: readonly KindConfig[],
  policy: CombiningPolicy,
) => Promise<AttributeSource>;

/** One kind of attribute source; what it is made of is loaded when one is made. */
export interface AttributeSourceKind<T extends Table = Table, S extends object = object>
  extends ProbedKind<T, S> {
  /**
   * Whether requests go on while it does not work; absent: they fail.
   * @param config As read.
   */
  isOptional?(config: S & KindConfig): boolean;
  /** @throws If it cannot start. */
  create(config: S & KindConfig, parts: SourceParts, createChain: CreateChain): Promise<AttributeSource>;
}

/** Describes a kind; the types of its functions follow from its keys and from what it reads of them. */
export function attributeSourceKind<const T extends Table, S extends object>(
  kind: AttributeSourceKind<T, S>,
): AttributeSourceKind<T, S> {
  return kind;
}
