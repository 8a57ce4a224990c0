import { attributeSourceKind } from "./attribute_source_kind.ts";
import { CHAIN, OPTIONAL } from "../config/keys/attribute_keys.ts";

/** Attributes from authentication (credentials.md 7.1), without settings. */
export const automatic = attributeSourceKind({
  title: "AuthAttributesCollector, PAMAttributeSource: account and role found by authentication",
  keys: {},
  read: (values) => values,
  create: async ({ name }) => new (await import("./attribute_chain.ts")).AutomaticSource(name),
});

/** Nested chain. */
export const chainOfSources = attributeSourceKind({
  title: "AttributeSourcesChain: chain of attribute sources",
  keys: { ...CHAIN, optional: OPTIONAL },
  read: async ({ order, ...rest }, { prefix, members }) => ({
    ...rest,
    sources: await members(order, `${prefix}order`),
  }),
  members: ({ sources }) => sources,
  isOptional: ({ optional }) => optional,
  create: ({ name, sources, policy }, _parts, createChain) => createChain(name, sources, policy),
});
