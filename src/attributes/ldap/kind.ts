import { ldapFiles } from "../../outgoing/ldap/ldap_keys.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { probedServers } from "../../outgoing/ldap/probed_servers.ts";
import { attributeSourceKind } from "../attribute_source_kind.ts";
import { KEYS, read } from "./keys.ts";

/** Accounts, groups and limits in an LDAP server or Active Directory. */
export const ldapSource = attributeSourceKind({
  title: "LDAPAttributeSource: LDAP server (LDAP)",
  keys: KEYS,
  added: true,
  read,
  files: ldapFiles,
  remotes: probedServers,
  isOptional: ({ optional }) => optional,
  async inspect({ userFilter, userFilterOrigin, groupFilter, groupFilterOrigin, assignments }, around) {
    const { inspectFilter } = await import("../../outgoing/ldap/ldap_directory.ts");
    const { expectedName } = await import("../file/map_inspection.ts");
    const names = (assignments.others ?? []).flatMap(({ name, value: { origin } }): Diagnostic[] => {
      const expected = expectedName(name, around.servers);
      return expected === undefined ? [] : [{ severity: "warning", ...origin, expected }];
    });
    return {
      diagnostics: [
        ...inspectFilter(userFilter, userFilterOrigin),
        ...inspectFilter(groupFilter, groupFilterOrigin),
        ...await around.inspectExpressions(assignments),
        ...names,
      ],
    };
  },
  async create(config, { outgoing, clock, log, compile }) {
    const { LdapSource } = await import("./ldap_source.ts");
    const expressions = await compile(config.assignments, log.child({ source: config.name }));
    return new LdapSource(config, { outgoing, clock, log, expressions });
  },
});
