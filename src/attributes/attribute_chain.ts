import type { CombiningPolicy } from "../config/keys/attribute_keys.ts";
import type { Logger } from "../logging/logger.ts";
import type { AttributeSet } from "../model/attributes.ts";
import type { Identity } from "../model/identity.ts";
import { HttpError } from "../model/http_error.ts";
import type { RemoteStatus } from "../outgoing/remote_system.ts";
import type { AttributeSource } from "./attribute_source.ts";
import { AutomaticSource } from "./automatic.ts";
import { combine, NOTHING_YET } from "./combine.ts";

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
