import type { AttributesConfig, AttributeSourceConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import { AttributeChain, type ChainLink, withAutomaticSource } from "./attribute_chain.ts";
import type { AttributeSource } from "./attribute_source.ts";
import { AutomaticSource } from "./automatic.ts";
import { fileAttributeSource } from "./file/file_attribute_source.ts";

/** What sources are made with besides their configuration. */
export interface SourceParts {
  readonly log: Logger;
}

/**
 * Makes the configured sources, and the chain that asks them.
 * @throws What a source throws that cannot start; the others are closed again.
 */
export async function createAttributes(
  config: AttributesConfig,
  parts: SourceParts,
): Promise<AttributeSource> {
  const links = withAutomaticSource(await createLinks(config.sources, parts), config.policy);
  return new AttributeChain({ name: "attributes", links, policy: config.policy, log: parts.log });
}

async function createLinks(
  configs: readonly AttributeSourceConfig[],
  parts: SourceParts,
): Promise<ChainLink[]> {
  const made = await Promise.allSettled(configs.map((config) => createLink(config, parts)));
  const links = made.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
  const failure = made.find((result) => result.status === "rejected");
  if (failure === undefined) return links;
  links.forEach(({ source }) => source.close());
  throw failure.reason;
}

/** The one place that names every source: simple name of the class -> what makes it. */
async function createLink(config: AttributeSourceConfig, parts: SourceParts): Promise<ChainLink> {
  const optional = "optional" in config && config.optional;
  const { name } = config;
  switch (config.kind) {
    case "FileAttributeSource": {
      const { file, matching, format } = config;
      const source = await fileAttributeSource({
        name,
        file,
        matching,
        ...(format !== "auto" && { format }),
        log: parts.log,
      });
      return { source, optional };
    }
    case "AuthAttributesCollector":
      return { source: new AutomaticSource(name), optional };
    case "AttributeSourcesChain": {
      const links = await createLinks(config.sources, parts);
      return { source: new AttributeChain({ name, links, policy: config.policy, log: parts.log }), optional };
    }
    default:
      throw new TypeError(`${name}: this service has no ${config.kind}`);
  }
}
