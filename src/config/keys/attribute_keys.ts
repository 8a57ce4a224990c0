import { className, flag, list, oneOf, optional } from "../key.ts";
import { section } from "../section.ts";

/** How the answers of several sources become one (authentication.md 7.7). */
export const COMBINING_POLICIES = [
  "MERGE_LAST_OVERRIDES",
  "MERGE",
  "FIRST_APPLICABLE",
  "FIRST_ACCESSIBLE",
] as const;

/** What holds if several sources know a user (authentication.md 7.7). */
export type CombiningPolicy = typeof COMBINING_POLICIES[number];

/** What several sources in a chain need. */
export const CHAIN = {
  order: list({ help: "Names of the sources, in the order they are asked", default: [] }),
  policy: oneOf(COMBINING_POLICIES, {
    name: "combiningPolicy",
    help:
      "What holds if several sources know the user: the last one's word, all together, or the first source's",
    default: "MERGE_LAST_OVERRIDES",
  }),
};

/** Where users' accounts, groups and limits come from (specification 5; authentication.md 7.3). */
export const ATTRIBUTES = section({
  prefix: "container.security.attributes.",
  title: "Attribute sources",
  unknown: "error",
  keys: CHAIN,
  ignored: { disableRuntimeUpdates: "see container.runtimeConfigurationUpdate" },
});

/** The same for sources that are asked last, and whose account and groups always win. */
export const DYNAMIC_ATTRIBUTES = section({
  prefix: "container.security.dynamicAttributes.",
  title: "Dynamic attribute sources",
  unknown: "error",
  keys: CHAIN,
  ignored: { disableRuntimeUpdates: "see container.runtimeConfigurationUpdate" },
});

/** What every source has that can be out of order. */
export const OPTIONAL = flag({
  help: "Go on without this source if it does not work; otherwise requests fail until it does",
  default: false,
  added: true,
});

/** What each source has, whatever its kind. */
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
