import {
  type AttributeSet,
  attributeSet,
  type AttributeValues,
  NO_ATTRIBUTES,
  type StandardAttribute,
  union,
} from "../model/attributes.ts";
import { decidedRole, type Identity } from "../model/identity.ts";
import type { AttributeSource } from "./attribute_source.ts";
import type { CombiningPolicy } from "../config/keys/attribute_keys.ts";
import { HttpError, isHttpError } from "../model/http_error.ts";
import type { RemoteStatus } from "../outgoing/remote_system.ts";
import type { AttributeSourceKind, SourceParts } from "./attribute_source_kind.ts";
import type { AttributesConfig, KindConfig } from "../config/service_config.ts";
import { type KindList, kindOf, openAll } from "../config/kind.ts";
import { BANNED_ROLE } from "./user_attributes.ts";

/** Account, groups and role from authentication (credentials.md 7.1), alias `PAMAttributeSource` (7.2). */
export class AutomaticSource implements AttributeSource {
  constructor(readonly name = "AUTO") {}

  attributesOf(identity: Identity): Promise<AttributeSet> {
    const { uid, groups } = identity;
    return Promise.resolve(attributeSet({ role: [decidedRole(identity)], xlogin: [uid], group: groups }));
  }

  close(): void {}
}

export interface ChainLink {
  readonly source: AttributeSource;
  readonly optional: boolean; // whether requests continue without it during an outage
}

/** Asks sources in order and combines the results; itself a source, so that chains can be nested. */
export class AttributeChain implements AttributeSource {
  readonly name: string;

  constructor(
    readonly options: Pick<SourceParts, "log" | "onAnswer"> & {
      readonly name: string;
      readonly links: readonly ChainLink[];
      readonly policy: CombiningPolicy;
    },
  ) {
    this.name = options.name;
  }

  get sources(): readonly AttributeSource[] {
    return this.options.links.flatMap(({ source }) => source.sources ?? [source]);
  }

  async attributesOf(identity: Identity, signal: AbortSignal): Promise<AttributeSet> {
    const { links, policy, onAnswer } = this.options;
    let combined = NO_ATTRIBUTES;
    let outage: HttpError | undefined;
    let answers = 0;
    for (const link of links) {
      const { source } = link;
      try {
        const answer = await source.attributesOf(identity, signal);
        onAnswer?.(source, identity, answer);
        answers++;
        outage ??= answer.outage;
        combined = combine(policy, combined, this.#withoutSynonyms(answer));
        // A mail address permits nothing.
        const isApplicable = answer.standard.size > 0 ||
          answer.extra.keys().some((name) => name !== "mail");
        if (policy === "FIRST_ACCESSIBLE" || (policy === "FIRST_APPLICABLE" && isApplicable)) break;
      } catch (error) {
        if (error instanceof HttpError) onAnswer?.(source, identity, error);
        outage ??= this.#tolerated(error, link, signal);
      }
    }
    // With FIRST_ACCESSIBLE a source may fail, but not all of them.
    if (policy === "FIRST_ACCESSIBLE" && answers === 0 && outage !== undefined) throw outage;
    return outage === undefined ? combined : { ...combined, outage };
  }

  status(address: string): RemoteStatus | undefined {
    return this.sources.map((source) => source.status?.(address)).find((status) => status !== undefined);
  }

  close(): void {
    for (const { source } of this.options.links) source.close();
  }

  /** Spells `daemon.<server>.…` as `uftpd.<server>.…`, which wins if a source has both (credentials.md 7.8). */
  #withoutSynonyms(attributes: AttributeSet): AttributeSet {
    const { standard, extra } = attributes;
    if (!extra.keys().some((name) => name.startsWith("daemon."))) return attributes;
    const spelled = [...extra].flatMap(([name, values]) => {
      const used = name.replace(/^daemon\./, "uftpd.");
      if (used === name || !extra.has(used)) return [[used, values] as const];
      this.options.log.warn("two spellings of one attribute", { used, ignored: name });
      return [];
    });
    return { standard, extra: new Map(spelled) };
  }

  /** Returns the outage of an optional source; throws otherwise, also for an invalid entry: it may be a ban. */
  #tolerated(error: unknown, { source, optional }: ChainLink, signal: AbortSignal): HttpError {
    const isOptional = optional || this.options.policy === "FIRST_ACCESSIBLE";
    if (!isOptional || signal.aborted || !isHttpError(error, "ERR_ATTRIBUTE_SOURCE")) throw error;
    this.options.log.warn("attribute source skipped", { source: source.name, error });
    return error;
  }
}

/**
 * Adds the automatic source unless configured: at the end with the lowest precedence (credentials.md 7.1).
 * With FIRST_ACCESSIBLE it would decide alone, and only if all others are down.
 */
export function withAutomaticSource(
  links: readonly ChainLink[],
  policy: CombiningPolicy,
): readonly ChainLink[] {
  const isComplete = links.some(({ source }) => source instanceof AutomaticSource) ||
    (policy === "FIRST_ACCESSIBLE" && links.length > 0);
  if (isComplete) return links;
  const automatic = { source: new AutomaticSource(), optional: false };
  return policy === "MERGE_LAST_OVERRIDES" ? [automatic, ...links] : [...links, automatic];
}

function combine(policy: CombiningPolicy, sofar: AttributeSet, next: AttributeSet): AttributeSet {
  if (sofar === NO_ATTRIBUTES || (policy !== "MERGE_LAST_OVERRIDES" && policy !== "MERGE")) return next;
  const joins = policy === "MERGE";
  return {
    standard: mergeMaps(sofar.standard, next.standard, joins ? joinValues : undefined),
    extra: mergeMaps(sofar.extra, next.extra, joins ? joinExtra : undefined),
  };
}

/** @param both Joins the values of a key; absent: the later ones win. */
function mergeMaps<K, V>(
  a: ReadonlyMap<K, V>,
  b: ReadonlyMap<K, V>,
  both: (earlier: V, later: V, key: K) => V = (_, later) => later,
): ReadonlyMap<K, V> {
  if (a.size === 0) return b;
  const merged = new Map(a);
  for (const [key, value] of b) {
    const earlier = a.get(key);
    merged.set(key, earlier === undefined ? value : both(earlier, value, key));
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

/** The later source's value wins: for most attributes the last value does, for groups the first is primary. */
function joinExtra(earlier: readonly string[], later: readonly string[], name: string): readonly string[] {
  return name.endsWith(".group") ? [...later, ...earlier] : [...earlier, ...later];
}

/** Attributes that dynamic sources override: accounts, no role except a ban. */
const OVERRIDDEN: readonly StandardAttribute[] = ["xlogin", "group", "supplementaryGroups"];

/**
 * Creates the configured sources and their chain. If one cannot start, throws and closes the others.
 * Accounts, groups and bans of the dynamic sources override those of others (credentials.md 7.3).
 */
export async function createAttributes(
  { attributes: config, dynamicAttributes: dynamic }: Record<
    "attributes" | "dynamicAttributes",
    AttributesConfig
  >,
  list: KindList<AttributeSourceKind>,
  parts: SourceParts,
): Promise<AttributeSource> {
  const { policy } = config;
  const links = withAutomaticSource(await createLinks(config.sources, list, parts), policy);
  const chain = new AttributeChain({ ...parts, name: "attributes", links, policy });
  if (dynamic.sources.length === 0) return chain;
  const dynamicLinks = await createLinks(dynamic.sources, list, parts).catch((error: unknown) => {
    chain.close();
    throw error;
  });
  const last = new AttributeChain({ ...parts, ...dynamic, name: "dynamicAttributes", links: dynamicLinks });
  return new AttributeChain({
    name: "all attributes",
    links: [{ source: chain, optional: false }, { source: accountsOnly(last), optional: false }],
    policy: "MERGE_LAST_OVERRIDES",
    log: parts.log,
  });
}

function accountsOnly(source: AttributeSource): AttributeSource {
  return {
    name: source.name,
    async attributesOf(identity, signal) {
      const { standard, outage } = await source.attributesOf(identity, signal);
      const overriding = [...standard].filter(([name, { allowed }]) =>
        OVERRIDDEN.includes(name) || (name === "role" && allowed.includes(BANNED_ROLE))
      );
      return { standard: new Map(overriding), extra: new Map(), outage };
    },
    status: (address) => source.status?.(address),
    sources: source.sources,
    close: () => source.close(),
  };
}

async function createLinks(
  configs: readonly KindConfig[],
  list: KindList<AttributeSourceKind>,
  parts: SourceParts,
): Promise<ChainLink[]> {
  return await openAll(configs, async (config) => {
    const kind = await kindOf(config, list);
    const source = await kind.create(config, parts, async (name, sources, policy) => {
      return new AttributeChain({ ...parts, name, links: await createLinks(sources, list, parts), policy });
    });
    return { source, optional: kind.isOptional?.(config) ?? false, close: () => source.close() };
  });
}
