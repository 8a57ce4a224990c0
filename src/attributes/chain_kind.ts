import { CHAIN, OPTIONAL } from "../config/keys/attribute_keys.ts";
import { attributeSourceKind } from "./attribute_source_kind.ts";

/** Nested chain. */
export const chainOfSources = attributeSourceKind({
  title: "AttributeSourcesChain: several sources that count as one",
  keys: { ...CHAIN, optional: OPTIONAL },
  read: async ({ order, ...rest }, { prefix, members }) => ({
    ...rest,
    sources: await members(order, `${prefix}order`),
  }),
  members: ({ sources }) => sources,
  isOptional: ({ optional }) => optional,
  create: ({ name, sources, policy }, _parts, createChain) => createChain(name, sources, policy),
});
