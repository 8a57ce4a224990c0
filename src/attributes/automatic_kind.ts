import { attributeSourceKind } from "./attribute_source_kind.ts";

/** Attributes from authentication (authentication.md 7.1), without settings. */
export const automatic = attributeSourceKind({
  title: "AuthAttributesCollector, PAMAttributeSource: account and role found by authentication",
  keys: {},
  read: (values) => values,
  create: async ({ name }) => new (await import("./automatic.ts")).AutomaticSource(name),
});
