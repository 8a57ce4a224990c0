import { className, flag, list, oneOf, optional, section } from "../key.ts";

/** Ways to combine sources (credentials.md 7.7). */
export const COMBINING_POLICIES = [
  "MERGE_LAST_OVERRIDES",
  "MERGE",
  "FIRST_APPLICABLE",
  "FIRST_ACCESSIBLE",
] as const;

export type CombiningPolicy = typeof COMBINING_POLICIES[number];

/** Keys of a chain. */
export const CHAIN = {
  order: list({ help: "Names of the attribute sources, in the order of evaluation", default: [] }),
  policy: oneOf(COMBINING_POLICIES, {
    name: "combiningPolicy",
    help:
      "How to combine the answers if several sources know the user: the last source overrides, all sources merge, or the first source wins",
    default: "MERGE_LAST_OVERRIDES",
  }),
};

/** Attribute sources (specification 5; credentials.md 7.3). */
export const ATTRIBUTES = chain("container.security.attributes.", "Attribute sources");

/** Sources that run last and whose account and groups win. */
export const DYNAMIC_ATTRIBUTES = chain("container.security.dynamicAttributes.", "Dynamic attribute sources");

function chain(prefix: string, title: string) {
  const ignored = { disableRuntimeUpdates: "see container.runtimeConfigurationUpdate" };
  return section({ prefix, title, keys: CHAIN, ignored });
}

/** Flag of every source that may fail. */
export const OPTIONAL = flag({
  help: "Continue without this source if it fails; otherwise requests fail until it works again",
  default: false,
  added: true,
});

/** Keys of every source. */
export const SOURCE = section({
  prefix: "container.security.attributes.<source>.",
  title: "One attribute source",
  anyCase: true,
  keys: {
    class: optional(className({
      help: "Class of the source; names such as FILE have a default. The service ignores the Java package",
    })),
  },
});
