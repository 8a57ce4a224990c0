import { className, flag, list, oneOf, optional, path, port, text, url } from "../key.ts";
import { section } from "../section.ts";

const POLICIES = ["MERGE_LAST_OVERRIDES", "MERGE", "FIRST_APPLICABLE", "FIRST_ACCESSIBLE"] as const;

const CHAIN = {
  order: list({ help: "Names of the sources, in the order they are asked", default: [] }),
  policy: oneOf(POLICIES, {
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

const SOURCE_PREFIX = "container.security.attributes.<source>.";

const SOURCE_CLASS = optional(className({
  name: "class",
  help: "Class of the source; FILE and XUUDB have a default. The package does not matter",
}));

const OPTIONAL = flag({
  name: "optional",
  help: "Go on without this source if it does not work; otherwise requests fail until it does",
  default: false,
  added: true,
});

/** The class alone, read before it is known which table applies. */
export const SOURCE = section({
  prefix: SOURCE_PREFIX,
  title: "One attribute source",
  unknown: "warning",
  anyCase: true,
  keys: { class: SOURCE_CLASS },
});

/** Map file (specification 2.3). */
export const FILE_SOURCE = section({
  prefix: SOURCE_PREFIX,
  title: "FileAttributeSource: map file (FILE)",
  unknown: "warning",
  anyCase: true,
  keys: {
    class: SOURCE_CLASS,
    file: path({ help: "Map file, JSON or XML" }),
    matching: oneOf(["strict", "regexp"], {
      help: "Whether its keys are names or regular expressions for names",
      default: "strict",
    }),
    format: optional(oneOf(["JSON", "XML"], { help: "Format of the file; found out if absent" })),
    optional: OPTIONAL,
  },
});

/** XUUDB (authentication.md 7.6). */
export const XUUDB_SOURCE = section({
  prefix: SOURCE_PREFIX,
  title: "XUUDBAttributeSource (XUUDB) and XUUDBJSONAttributeSource",
  unknown: "warning",
  anyCase: true,
  keys: {
    class: SOURCE_CLASS,
    host: url({
      name: "xuudbHost",
      help: "Address of the XUUDB without port",
      schemes: ["https"],
      default: "https://localhost",
    }),
    port: port({ name: "xuudbPort", help: "Port of the XUUDB", default: 34_463 }),
    gcid: text({
      name: "xuudbGCID",
      help: "Grid component ID, under which the XUUDB keeps the users of this site",
    }),
    cache: flag({ name: "xuudbCache", help: "Remember answers for 10 seconds", default: true }),
    optional: OPTIONAL,
  },
});

/** What authentication established; it has nothing to set. */
export const AUTOMATIC_SOURCE = section({
  prefix: SOURCE_PREFIX,
  title: "AuthAttributesCollector, PAMAttributeSource: account and role found by authentication",
  unknown: "warning",
  anyCase: true,
  keys: { class: SOURCE_CLASS },
});

/** A chain within the chain. */
export const NESTED_CHAIN = section({
  prefix: SOURCE_PREFIX,
  title: "AttributeSourcesChain: several sources that count as one",
  unknown: "warning",
  anyCase: true,
  keys: { class: SOURCE_CLASS, ...CHAIN, optional: OPTIONAL },
});
