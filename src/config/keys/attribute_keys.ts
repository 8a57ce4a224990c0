import { className, flag, list, oneOf, optional } from "../key.ts";
import { section } from "../section.ts";

/** Ways to combine sources (authentication.md 7.7). */
export const COMBINING_POLICIES = [
  "MERGE_LAST_OVERRIDES",
  "MERGE",
  "FIRST_APPLICABLE",
  "FIRST_ACCESSIBLE",
] as const;

/** Way to combine sources. */
export type CombiningPolicy = typeof COMBINING_POLICIES[number];

/** Keys of a chain. */
export const CHAIN = {
  order: list({ help: "Names of the sources, in the order they are asked", default: [] }),
  policy: oneOf(COMBINING_POLICIES, {
    name: "combiningPolicy",
    help:
      "What holds if several sources know the user: the last one's word, all together, or the first source's",
    default: "MERGE_LAST_OVERRIDES",
  }),
};

/** Attribute sources (specification 5; authentication.md 7.3). */
export const ATTRIBUTES = section({
  prefix: "container.security.attributes.",
  title: "Attribute sources",
  unknown: "error",
  keys: CHAIN,
  ignored: { disableRuntimeUpdates: "see container.runtimeConfigurationUpdate" },
});

/** Sources that run last and whose account and groups win. */
export const DYNAMIC_ATTRIBUTES = section({
  prefix: "container.security.dynamicAttributes.",
  title: "Dynamic attribute sources",
  unknown: "error",
  keys: CHAIN,
  ignored: { disableRuntimeUpdates: "see container.runtimeConfigurationUpdate" },
});

/** Flag of every source that may fail. */
export const OPTIONAL = flag({
  help: "Go on without this source if it does not work; otherwise requests fail until it does",
  default: false,
  added: true,
});

/** Keys of every source. */
export const SOURCE = section({
  prefix: "container.security.attributes.<source>.",
  title: "One attribute source",
  unknown: "error",
  anyCase: true,
  keys: {
    class: optional(className({
      help: "Class of the source; FILE and XUUDB have a default. The package does not matter",
    })),
  },
});
