import type { Table } from "../config/key.ts";
import type { AssignmentsConfig } from "../config/read_assignments.ts";
import type { CombiningPolicy } from "../config/keys/attribute_keys.ts";
import type { KindConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import type { AttributeSet } from "../model/attributes.ts";
import type { Clock } from "../model/clock.ts";
import type { HttpError } from "../model/http_error.ts";
import type { Identity } from "../model/identity.ts";
import type { Outgoing } from "../outgoing/outgoing.ts";
import type { ProbedKind } from "../outgoing/probed_kind.ts";
import type { AttributeSource } from "./attribute_source.ts";

type Variable = string | readonly Variable[] | Variables;
type Variables = ReadonlyMap<string, Variable>;

/** Compiled expressions over attributes of a user. */
export interface Expressions {
  /** Returns account, role and groups; nothing if one fails. @param account Account without an expression. */
  attributes(
    variables: Variables,
    account?: string,
  ): { readonly uid?: string; readonly role?: string; readonly groups?: readonly string[] };
  /** Returns further attributes by name. @throws {ERR_USER_ATTRIBUTE} */
  others(variables: Variables): ReadonlyMap<string, readonly string[]>;
}

export interface SourceParts {
  readonly log: Logger;
  readonly clock: Clock;
  readonly outgoing: Outgoing;
  /** Compiles expressions of credentials.md 6. @throws {InvalidFile} With all diagnostics. */
  readonly compile: (config: AssignmentsConfig, log: Logger) => Promise<Expressions>;
  /** Called with each source's result; for a nested chain after its sources. */
  readonly onAnswer?: (source: AttributeSource, identity: Identity, answer: AttributeSet | HttpError) => void;
}

type CreateChain = (
  name: string,
  sources: readonly KindConfig[],
  policy: CombiningPolicy,
) => Promise<AttributeSource>;

/** Kind of attribute source; its module is loaded on demand. */
export interface AttributeSourceKind<T extends Table = Table, S extends object = object>
  extends ProbedKind<T, S> {
  /** Whether requests continue during an outage; absent: they fail. */
  isOptional?(config: S & KindConfig): boolean;
  /** @throws If it cannot start. */
  create(config: S & KindConfig, parts: SourceParts, createChain: CreateChain): Promise<AttributeSource>;
}

/** Declares a kind, with types derived from its keys. */
export function attributeSourceKind<const T extends Table, S extends object>(
  kind: AttributeSourceKind<T, S>,
): AttributeSourceKind<T, S> {
  return kind;
}
