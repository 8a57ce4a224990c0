import type { AttributesConfig, AttributeSourceConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import { AttributeChain, type ChainLink, type ChainOptions, withAutomaticSource } from "./attribute_chain.ts";
import type { Clock } from "../model/clock.ts";
import type { OutgoingHttp } from "../outgoing/outgoing_http.ts";
import type { CombiningPolicy } from "./combine.ts";
import type { AttributeSource } from "./attribute_source.ts";
import { AutomaticSource } from "./automatic.ts";
import { AccountsOnly } from "./accounts_only.ts";
import { fileAttributeSource } from "./file/file_attribute_source.ts";
import { XuudbSource } from "./xuudb/xuudb_source.ts";

/** What sources are made with besides their configuration. */
export interface SourceParts {
  readonly log: Logger;
  readonly now: Clock;
  /** A client for other systems, which shows the server's certificate to those that ask if it is configured to. */
  readonly outgoing: () => OutgoingHttp;
  /** Told of the answer of each configured source; of a chain among them after those of its own sources. */
  readonly onAnswer?: ChainOptions["onAnswer"];
}

/**
 * Makes the configured sources, and the chain that asks them.
 * @param dynamic Sources whose accounts and groups hold whatever the others say (authentication.md 7.3).
 * @throws What a source throws that cannot start; the others are closed again.
 */
export async function createAttributes(
  config: AttributesConfig,
  dynamic: AttributesConfig,
  parts: SourceParts,
): Promise<AttributeSource> {
  const { log } = parts;
  const links = withAutomaticSource(await createLinks(config.sources, parts), config.policy);
  const chain = combined("attributes", links, config.policy, parts);
  if (dynamic.sources.length === 0) return chain;
  const dynamicLinks = await createLinks(dynamic.sources, parts).catch((error: unknown) => {
    chain.close();
    throw error;
  });
  const last = combined("dynamicAttributes", dynamicLinks, dynamic.policy, parts);
  return new AttributeChain({
    name: "all attributes",
    links: [{ source: chain, optional: false }, { source: new AccountsOnly(last), optional: false }],
    policy: "MERGE_LAST_OVERRIDES",
    log,
  });
}

function combined(
  name: string,
  links: readonly ChainLink[],
  policy: CombiningPolicy,
  { log, onAnswer }: SourceParts,
): AttributeChain {
  return new AttributeChain({ name, links, policy, log, ...(onAnswer && { onAnswer }) });
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
export async function createLink(config: AttributeSourceConfig, parts: SourceParts): Promise<ChainLink> {
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
      return { source: combined(name, links, config.policy, parts), optional };
    }
    case "XUUDBAttributeSource":
    case "XUUDBJSONAttributeSource": {
      const { address, gcid, cache } = config;
      const form = config.kind === "XUUDBAttributeSource" ? "soap" : "json";
      const source = new XuudbSource({
        name,
        form,
        address,
        gcid,
        cache,
        http: parts.outgoing(),
        log: parts.log,
        clock: parts.now,
      });
      return { source, optional };
    }
  }
}
