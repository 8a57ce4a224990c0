import {
  distinguishedName,
  flag,
  type Infer,
  items,
  oneOf,
  optional,
  text,
  unixGroups,
} from "../../config/key.ts";
import { OPTIONAL } from "../../config/keys/attribute_keys.ts";
import type { ConfigRead, Place } from "../../config/kind.ts";
import {
  ASSIGNED,
  type AssignmentsConfig,
  readAssignments,
  readOthers,
} from "../../config/read_assignments.ts";
import { LDAP_KEYS, readLdap } from "../../outgoing/ldap/ldap_keys.ts";

/** Configuration keys of the source. */
export const KEYS = {
  ...LDAP_KEYS,
  lookUpBy: oneOf(["name", "account"], {
    help: "What identifies users here: their name, see dnTemplate, or the account that authentication found",
    default: "name",
  }),
  ...ASSIGNED,
  others: items(text({
    name: "attributeAssign",
    help: "Expression for the attribute with this name, such as uftpd.HPC.rateLimit",
  })),
  groupBase: optional(distinguishedName({
    help: "Entry below which the service searches groups. If not set, it takes memberOf only",
  })),
  groupFilter: text({
    help: "Search filter for the groups of a user; %user% is the account, %dn% the name of the entry",
    default: "(&(objectClass=posixGroup)(memberUid=%user%))",
  }),
  nestedGroups: flag({ help: "Also search the groups of groups, with their names as %dn%", default: false }),
  groupsMap: items(unixGroups({
    help:
      "Unix groups for the group with this cn, gidNumber or name. If any such key is set, the service ignores all other groups",
  })),
  optional: OPTIONAL,
};

/** Checks the values. */
export async function read(values: Infer<typeof KEYS>, place: Place) {
  const { reader, prefix } = place;
  const { uid, role, groups, others } = values;
  const config = readLdap(values, place);
  const assignments: AssignmentsConfig = {
    ...await readAssignments({ identity: undefined, uid, role, groups }, place),
    others: await readOthers(others, `${prefix}attributeAssign`, reader),
  };
  return config && { ...config, assignments, groupFilterOrigin: reader.origin(`${prefix}groupFilter`) };
}

export type LdapSourceConfig = ConfigRead<typeof read>;
