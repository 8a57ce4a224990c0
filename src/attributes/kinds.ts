import type { KindList } from "../config/kind.ts";
import type { AttributeSourceKind } from "./attribute_source_kind.ts";
import { automatic } from "./automatic_kind.ts";
import { chainOfSources } from "./chain_kind.ts";
import { mapFile } from "./file/kind.ts";
import { xuudb } from "./xuudb/kind.ts";

const refused = (what: string, names: readonly string[] = []) => ({
  names,
  expected: `${what} not supported, expected a map file (FileAttributeSource) or an XUUDB`,
});

/** All kinds of attribute sources, in the order of the manual. */
export const ATTRIBUTE_SOURCES: KindList<AttributeSourceKind> = {
  sort: "attribute source",
  kinds: [mapFile, xuudb, automatic, chainOfSources],
  refused: {
    SAMLAttributeSource: refused("SAML attribute queries are", ["SAML"]),
    GridMapFileAttributeSource: refused("grid map files are", ["GRIDMAP-FILE"]),
    GridMapFileAuthoriser: refused("grid map files are"),
    LDAPAttributeSource: refused("LDAP is", ["LDAP"]),
    XUUDBDynamicAttributeSource: refused("the dynamic XUUDB is"),
  },
};
