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
  order: list({ help: "Names of the attribute sources, in the order of evaluation", default: [] }),
  policy: oneOf(COMBINING_POLICIES, {
    name: "combiningPolicy",
    help:
      "How to combine the answers if several sources know the user: the last source overrides, all sources merge, or the first source wins",
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
  help: "Continue without this source if it fails; otherwise requests fail until it works again",
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
      help: "Class of the source; FILE and XUUDB have a default. The service ignores the Java package",
    })),
  },
});
