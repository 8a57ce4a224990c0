import type { CombiningPolicy } from "../config/keys/attribute_keys.ts";
import type { Logger } from "../logging/logger.ts";
import { type AttributeSet, type AttributeValues, NO_ATTRIBUTES } from "../model/attributes.ts";
import type { Identity } from "../model/identity.ts";
import { HttpError } from "../model/http_error.ts";
import type { RemoteStatus } from "../outgoing/remote_system.ts";
import type { AttributeSource } from "./attribute_source.ts";
import { AutomaticSource } from "./automatic.ts";

/** Source in the chain. */
export interface ChainLink {
  readonly source: AttributeSource;
  readonly optional: boolean; // whether requests continue without it during an outage
}

/** Options of a chain. */
export interface ChainOptions {
  readonly name: string;
  readonly links: readonly ChainLink[];
  readonly policy: CombiningPolicy;
  readonly log: Logger;
  /** Called with each result before it is combined. */
  readonly onAnswer?: (
    source: AttributeSource,
    identity: Identity,
    answer: AttributeSet | HttpError,
  ) => void;
}

/** Asks sources in order and combines the results; itself a source, so that chains can be nested. */
export class AttributeChain implements AttributeSource {
  readonly name: string;
  readonly #options: ChainOptions;

  constructor(options: ChainOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async attributesOf(identity: Identity, signal: AbortSignal): Promise<AttributeSet> {
    const { links, policy, onAnswer } = this.#options;
    let combined = NOTHING_YET;
    let failure: HttpError | undefined;
    let answers = 0;
    for (const link of links) {
      const { source } = link;
      try {
        const answer = await source.attributesOf(identity, signal);
        onAnswer?.(source, identity, answer);
        answers++;
        combined = combine(policy, combined, answer);
      } catch (error) {
        if (error instanceof HttpError) onAnswer?.(source, identity, error);
        failure = this.#excused(error, link, signal);
      }
      if (combined.decided) break;
    }
    // With FIRST_ACCESSIBLE a source may fail, but not all of them.
    if (policy === "FIRST_ACCESSIBLE" && answers === 0 && failure !== undefined) throw failure;
    return combined.attributes;
  }

  status(address: string): RemoteStatus | undefined {
    for (const { source } of this.#options.links) {
      const status = source.status?.(address);
      if (status !== undefined) return status;
    }
    return undefined;
  }

  close(): void {
    for (const { source } of this.#options.links) source.close();
  }

  /** Returns the failure of an optional source; throws otherwise. */
  #excused(error: unknown, { source, optional }: ChainLink, signal: AbortSignal): HttpError {
    const dispensable = optional || this.#options.policy === "FIRST_ACCESSIBLE";
    if (!dispensable || signal.aborted || !(error instanceof HttpError)) throw error;
    this.#options.log.warn("attribute source skipped", { source: source.name, error });
    return error;
  }
}

/** Adds the automatic source unless configured: at the end with the lowest precedence (authentication.md 7.1). */
export function withAutomaticSource(
  links: readonly ChainLink[],
  policy: CombiningPolicy,
): readonly ChainLink[] {
  if (links.some(({ source }) => source instanceof AutomaticSource)) return links;
  const automatic = { source: new AutomaticSource(), optional: false };
  return policy === "MERGE_LAST_OVERRIDES" ? [automatic, ...links] : [...links, automatic];
}

interface Combined {
  readonly attributes: AttributeSet;
  readonly decided: boolean; // whether no further source is needed
}

/** Result before the first source. */
const NOTHING_YET: Combined = { attributes: NO_ATTRIBUTES, decided: false };

/** Adds the next source's result. */
function combine(policy: CombiningPolicy, { attributes }: Combined, next: AttributeSet): Combined {
  switch (policy) {
    case "MERGE_LAST_OVERRIDES":
      return {
        attributes: merge(attributes, next, (_, later) => later, (_, later) => later),
        decided: false,
      };
    case "MERGE":
      return { attributes: merge(attributes, next, joinValues, union), decided: false };
    case "FIRST_APPLICABLE":
      return { attributes: next, decided: next.standard.size > 0 || next.extra.size > 0 };
    case "FIRST_ACCESSIBLE":
      return { attributes: next, decided: true };
  }
}

function merge(
  a: AttributeSet,
  b: AttributeSet,
  standard: (earlier: AttributeValues, later: AttributeValues) => AttributeValues,
  extra: (earlier: readonly string[], later: readonly string[]) => readonly string[],
): AttributeSet {
  return { standard: mergeMaps(a.standard, b.standard, standard), extra: mergeMaps(a.extra, b.extra, extra) };
}

function mergeMaps<K, V>(
  a: ReadonlyMap<K, V>,
  b: ReadonlyMap<K, V>,
  both: (a: V, b: V) => V,
): ReadonlyMap<K, V> {
  const merged = new Map(a);
  for (const [key, value] of b) {
    const earlier = merged.get(key);
    merged.set(key, earlier === undefined ? value : both(earlier, value));
  }
  return merged;
}

/** Merges allowed values; the later source's default wins if it has one. */
function joinValues(earlier: AttributeValues, later: AttributeValues): AttributeValues {
  return {
    allowed: union(earlier.allowed, later.allowed),
    preferred: later.preferred.length > 0 ? later.preferred : earlier.preferred,
  };
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])];
}
