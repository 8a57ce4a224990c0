import type { AttributesConfig, KindConfig } from "../config/service_config.ts";
import { type KindList, kindOf } from "../config/kind.ts";
import type { StandardAttribute } from "../model/attributes.ts";
import { AttributeChain, type ChainLink, withAutomaticSource } from "./attribute_chain.ts";
import type { AttributeSource } from "./attribute_source.ts";
import type { AttributeSourceKind, SourceParts } from "./attribute_source_kind.ts";
import type { CombiningPolicy } from "../config/keys/attribute_keys.ts";

/** Attributes of dynamic sources: accounts, never roles. */
const DECIDED: readonly StandardAttribute[] = ["xlogin", "group", "supplementaryGroups"];

/**
 * Creates the configured sources and their chain. If one cannot start, throws and closes the others.
 * Accounts and groups of the dynamic sources override those of others (authentication.md 7.3).
 */
export async function createAttributes(
  { attributes: config, dynamicAttributes: dynamic }: Record<
    "attributes" | "dynamicAttributes",
    AttributesConfig
  >,
  list: KindList<AttributeSourceKind>,
  parts: SourceParts,
): Promise<AttributeSource> {
  const { log } = parts;
  const links = withAutomaticSource(await createLinks(config.sources, list, parts), config.policy);
  const chain = combined("attributes", links, config.policy, parts);
  if (dynamic.sources.length === 0) return chain;
  const dynamicLinks = await createLinks(dynamic.sources, list, parts).catch((error: unknown) => {
    chain.close();
    throw error;
  });
  const last = combined("dynamicAttributes", dynamicLinks, dynamic.policy, parts);
  return new AttributeChain({
    name: "all attributes",
    links: [{ source: chain, optional: false }, { source: accountsOnly(last), optional: false }],
    policy: "MERGE_LAST_OVERRIDES",
    log,
  });
}

function accountsOnly(source: AttributeSource): AttributeSource {
  return {
    name: source.name,
    async attributesOf(identity, signal) {
      const { standard } = await source.attributesOf(identity, signal);
      return {
        standard: new Map([...standard].filter(([name]) => DECIDED.includes(name))),
        extra: new Map(),
      };
    },
    status: (address) => source.status?.(address),
    close: () => source.close(),
  };
}

function combined(
  name: string,
  links: readonly ChainLink[],
  policy: CombiningPolicy,
  { log, onAnswer }: SourceParts,
): AttributeChain {
  return new AttributeChain({ name, links, policy, log, onAnswer });
}

async function createLinks(
  configs: readonly KindConfig[],
  list: KindList<AttributeSourceKind>,
  parts: SourceParts,
): Promise<ChainLink[]> {
  const made = await Promise.allSettled(configs.map((config) => createLink(config, list, parts)));
  const links = made.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
  const failure = made.find((result) => result.status === "rejected");
  if (failure === undefined) return links;
  links.forEach(({ source }) => source.close());
  throw failure.reason;
}

async function createLink(
  config: KindConfig,
  list: KindList<AttributeSourceKind>,
  parts: SourceParts,
): Promise<ChainLink> {
  const kind = await kindOf(config, list);
  const source = await kind.create(
    config,
    parts,
    async (name, sources, policy) => combined(name, await createLinks(sources, list, parts), policy, parts),
  );
  return { source, optional: kind.isOptional?.(config) ?? false };
}
