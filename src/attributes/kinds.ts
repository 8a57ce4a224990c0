import type { KindList } from "../config/kind.ts";
import type { AttributeSourceKind } from "./attribute_source_kind.ts";

const refused = (what: string, names: readonly string[] = []) => ({
  names,
  expected: `${what} not supported, expected a map file (FileAttributeSource), an XUUDB or LDAP`,
});

/** All kinds of attribute sources, in the order of the manual. */
export const ATTRIBUTE_SOURCES: KindList<AttributeSourceKind> = {
  sort: "attribute source",
  kinds: [
    {
      classes: { FileAttributeSource: { names: ["FILE"] } },
      load: async () => (await import("./file/kind.ts")).mapFile,
    },
    {
      classes: {
        XUUDBAttributeSource: { names: ["XUUDB"] },
        XUUDBAuthoriser: { as: "XUUDBAttributeSource" },
        XUUDBJSONAttributeSource: {},
      },
      load: async () => (await import("./xuudb/kind.ts")).xuudb,
    },
    {
      classes: { LDAPAttributeSource: { names: ["LDAP"] } },
      load: async () => (await import("./ldap/kind.ts")).ldapSource,
    },
    {
      classes: {
        AuthAttributesCollector: {},
        PAMAttributeSource: { names: ["PAM"], as: "AuthAttributesCollector" },
      },
      load: async () => (await import("./chain_kind.ts")).automatic,
    },
    {
      classes: { AttributeSourcesChain: {} },
      load: async () => (await import("./chain_kind.ts")).chainOfSources,
    },
  ],
  refused: {
    SAMLAttributeSource: refused("SAML attribute queries are", ["SAML"]),
    GridMapFileAttributeSource: refused("grid map files are", ["GRIDMAP-FILE"]),
    GridMapFileAuthoriser: refused("grid map files are"),
    XUUDBDynamicAttributeSource: refused("the dynamic XUUDB is"),
  },
};
