import { onError } from "../../model/attempt.ts";
import { isUserAccount } from "../../model/account_name.ts";
import { AnswerCache } from "../../model/answer_cache.ts";
import { type AttributeSet, attributeSet, NO_ATTRIBUTES } from "../../model/attributes.ts";
import { canonicalDn, ifValidDn } from "../../model/distinguished_name.ts";
import { httpError } from "../../model/http_error.ts";
import type { Identity } from "../../model/identity.ts";
import { type Asked, fillFilter, LdapDirectory, type LdapParts } from "../../outgoing/ldap/ldap_directory.ts";
import { firstValueInName, type LdapEntry, lockOf, valuesOf } from "../../outgoing/ldap/ldap_entry.ts";
import type { RemoteStatus } from "../../outgoing/remote_system.ts";
import { RemoteUnavailable } from "../../outgoing/remote_unavailable.ts";
import type { AttributeSource } from "../attribute_source.ts";
import type { Expressions } from "../attribute_source_kind.ts";
import type { LdapSourceConfig } from "./keys.ts";

const LIFETIME_MS = 10_000;
/** Groups of a user, including nested ones; OpenLDAP refuses a search with a higher limit than its default. */
const MOST_GROUPS = 500;
const BY_NUMBER = "(&(objectClass=posixGroup)(gidNumber=%gid%))";
const GROUP_ATTRIBUTES = ["cn", "gidNumber"];

/** Accounts, groups and further attributes of users in LDAP servers; unknown users have no attributes. */
export class LdapSource implements AttributeSource {
  readonly name: string;
  readonly #directory: LdapDirectory;
  readonly #cache: AnswerCache<AttributeSet>;
  readonly #groupsMap: ReadonlyMap<string, string>;

  /** @throws {InvalidFile} For an invalid filter. */
  constructor(
    readonly config: LdapSourceConfig,
    readonly parts: LdapParts & { readonly expressions: Expressions },
  ) {
    this.name = config.name;
    this.#directory = new LdapDirectory(config, { ...parts, log: parts.log.child({ source: config.name }) });
    this.#cache = new AnswerCache(parts);
    this.#groupsMap = new Map(config.groupsMap.map(({ name, value }) => [groupKey(name), value]));
  }

  async attributesOf({ dn, uid }: Identity, signal: AbortSignal): Promise<AttributeSet> {
    const user = this.config.lookUpBy === "name" ? dn : uid;
    if (user === undefined) return NO_ATTRIBUTES;
    // Shared: one caller's abort must not cancel the others.
    return await this.#cache.get([user], async (signal) => {
      return { value: await this.#ask(user, signal), good: true, lifetimeMs: LIFETIME_MS };
    }, signal);
  }

  status(address?: string): RemoteStatus | undefined {
    return this.#directory.status(address);
  }

  close(): void {
    this.#cache.close();
    this.#directory.close();
  }

  async #ask(user: string, signal: AbortSignal): Promise<AttributeSet> {
    // The user is authenticated; their address does not matter.
    const caller = { queueKey: user, known: true, credential: user, address: user, signal };
    const asked = this.#directory.ask(caller, (server) => this.#attributesOf(user, { server, caller }));
    return await asked.catch(onError(RemoteUnavailable, (error) => {
      throw httpError("ERR_ATTRIBUTE_SOURCE", `Attribute source ${this.name}: ${error.reason}`, error);
    }));
  }

  async #attributesOf(user: string, asked: Asked): Promise<AttributeSet> {
    const attributes = ["*", "memberOf"];
    const found = this.config.lookUpBy === "name"
      ? await this.#directory.findName(user, attributes, asked)
      : await this.#directory.findUser(user, attributes, asked);
    // Without the entry's limits the user could do more.
    if (found.kind === "several") {
      throw httpError("ERR_USER_ATTRIBUTE", `Attribute source ${this.name}: several entries or names`);
    }
    if (found.kind !== "found") return NO_ATTRIBUTES;
    const { entry } = found;
    const all = new Map<string, string | readonly string[]>([["dn", entry.dn], ...entry.attributes]);
    const variables = new Map<string, string | readonly string[] | typeof all>([...all, ["attr", all]]);
    const { clock, expressions } = this.parts;
    const { uid, ...assigned } = expressions.attributes(variables, accountOf(entry));
    const groups = this.config.assignments.groups === undefined
      ? await this.#groupsOf(entry, asked)
      : assigned.groups ?? [];
    const lock = lockOf(entry, clock());
    const role = lock === undefined ? assigned.role ?? (uid === undefined ? undefined : "user") : "banned";
    const [mail] = valuesOf(entry, "mail");
    const others = expressions.others(variables);
    return attributeSet(
      { xlogin: [uid], role: [role], group: groups },
      mail === undefined ? others : new Map([["mail", [mail]], ...others]),
    );
  }

  /** Returns the Unix groups, the group of the user's gidNumber first. */
  async #groupsOf(entry: LdapEntry, asked: Asked): Promise<readonly string[]> {
    const primary = valuesOf(entry, "gidNumber");
    const found = await this.#searchGroups(entry, asked);
    const named = [
      ...found.map((group) => [...valuesOf(group, "cn"), ...valuesOf(group, "gidNumber"), group.dn]),
      primary,
      ...valuesOf(entry, "memberOf").map((dn) => [...firstValueInName(dn), dn]),
    ];
    const isOther = (names: readonly string[]) => primary.every((number) => !names.includes(number));
    const ordered = named.toSorted((a, b) => Number(isOther(a)) - Number(isOther(b)));
    return [...new Set(ordered.flatMap((names) => this.#unixGroup(names)))];
  }

  /** Returns the mapped group; without a map the group's first name that is not a number. */
  #unixGroup(names: readonly string[]): readonly string[] {
    if (this.#groupsMap.size > 0) {
      return names.flatMap((name) => this.#groupsMap.get(groupKey(name)) ?? []).slice(0, 1);
    }
    return names.filter((name) => isUserAccount(name) && !/^\d+$/.test(name)).slice(0, 1);
  }

  /** Searches groups by number and filter, breadth first. @throws {ERR_USER_ATTRIBUTE} For too many: some would be missing. */
  async #searchGroups(entry: LdapEntry, { server, caller }: Asked): Promise<readonly LdapEntry[]> {
    const { groupBase: base, groupFilter, nestedGroups } = this.config;
    if (base === undefined) return [];
    const found = new Map<string, LdapEntry>();
    // posixGroups do not list users whose primary group they are.
    const open = valuesOf(entry, "gidNumber").map((gid) => fillFilter(BY_NUMBER, { gid }));
    open.push(fillFilter(groupFilter, { dn: entry.dn, user: accountOf(entry) ?? "" }));
    for (let filter = open.shift(); filter !== undefined; filter = open.shift()) {
      const search = { base, scope: "sub", filter, attributes: GROUP_ATTRIBUTES, most: MOST_GROUPS } as const;
      for (const group of await server.search(search, caller)) {
        if (found.has(group.dn)) continue;
        found.set(group.dn, group);
        // No user has the name of a group: only %dn% leads from group to group.
        if (nestedGroups) open.push(fillFilter(groupFilter, { dn: group.dn, user: "" }));
      }
      if (found.size >= MOST_GROUPS) {
        const reason = `${entry.dn} has ${MOST_GROUPS} groups or more, expected fewer`;
        throw httpError("ERR_USER_ATTRIBUTE", `Attribute source ${this.name}: ${reason}`);
      }
    }
    return [...found.values()];
  }
}

/** Returns the form that equal names of groups share: cn, number or distinguished name. */
const groupKey = (name: string) => ifValidDn(() => canonicalDn(name)) ?? name.toLowerCase();

/** Returns the account: the only `uid`, or `sAMAccountName` of Active Directory. */
function accountOf(entry: LdapEntry): string | undefined {
  for (const name of ["uid", "sAMAccountName"]) {
    const [account, other] = valuesOf(entry, name);
    if (account !== undefined && other === undefined && isUserAccount(account)) return account;
  }
  return undefined;
}
