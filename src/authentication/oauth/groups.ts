import type { Logger } from "../../logging/logger.ts";
import { isUserAccount } from "../../model/account_name.ts";
import { type Said, textsOf } from "../claims.ts";

/** How a provider's groups become Unix groups. */
export interface GroupRules {
  /** Claims that list groups, entitlements or roles. */
  readonly groupsClaim: readonly string[];
  /** What counts begins with it; it is left away. */
  readonly groupsPrefix: string | undefined;
  /** Unix groups by group; if there is any, no other groups count. */
  readonly groupsMap: readonly { readonly name: string; readonly value: string }[];
  /** The user must be in one of them, if there are any. */
  readonly requiredGroups: readonly string[];
}

/** Values of claims that are looked at; real users have dozens. */
const MOST_VALUES = 2000;

/** The groups of users of one method, by claims. */
export class Groups {
  readonly #rules: GroupRules;
  readonly #map: ReadonlyMap<string, string>;
  readonly #log: Logger;
  #warned = false;

  constructor(rules: GroupRules, log: Logger) {
    this.#rules = rules;
    this.#map = new Map(rules.groupsMap.map(({ name, value }) => [name, value]));
    this.#log = log;
  }

  /** Whether groups are taken from claims at all. */
  get areClaimed(): boolean {
    return this.#rules.groupsClaim.length > 0;
  }

  /** Whether the user is in one of the required groups, or none is required. */
  admit(said: Said): boolean {
    const { requiredGroups } = this.#rules;
    return requiredGroups.length === 0 ||
      this.#groups(said).some((names) => names.some((name) => requiredGroups.includes(name)));
  }

  /** The Unix groups, in the order of the claims, each once. */
  unixGroups(said: Said): readonly string[] {
    const groups = this.#groups(said);
    if (this.#map.size > 0) return [...new Set(groups.flatMap((names) => mapped(names, this.#map)))];
    const own = groups.flatMap((names) => names.slice(-1));
    const usable = own.filter(isUserAccount);
    const odd = own.find((name) => !isUserAccount(name));
    if (odd !== undefined && !this.#warned) {
      this.#warned = true;
      this.#log.warn("groups of the provider that can be no Unix groups: map them by groupsMap", {
        example: odd.slice(0, 100),
        left: own.length - usable.length,
      });
    }
    return [...new Set(usable)];
  }

  /** The names that each group goes by, the most exact first, the shortest last. */
  #groups(said: Said): readonly (readonly string[])[] {
    const { groupsClaim, groupsPrefix } = this.#rules;
    const values = groupsClaim.flatMap((claim) => textsOf(said(claim))).slice(0, MOST_VALUES);
    return values.map((value) => namesOfGroup(value, groupsPrefix)).filter((names) => names.length > 0);
  }
}

function mapped(names: readonly string[], map: ReadonlyMap<string, string>): readonly string[] {
  for (const name of names) {
    const group = map.get(name);
    if (group !== undefined) return [group];
  }
  return [];
}

/**
 * The names that a group may be meant by, the most exact first: as it is written, then without prefix or, where there is
 * none, without the slash before Keycloak's and WLCG's groups.
 *
 * Of an entitlement (AARC-G069: `urn:…:group:hpc:projA:role=member#authority`) these are, behind the prefix, group and
 * subgroups with slashes between, with role and authority and without. A role other than `member` says nothing of being a
 * member. Only the prefix says in whose name a group is, so without one an entitlement goes by nothing but itself.
 * @returns None if the prefix is another.
 */
export function namesOfGroup(value: string, prefix: string | undefined): readonly string[] {
  const isEntitlement = /^urn:/i.test(value);
  const plain = !isEntitlement && value.startsWith("/") ? value.slice(1) : value;
  if (prefix === undefined) return isEntitlement ? [value] : [...new Set([value, plain])];
  const start = [value, plain].find((text) => text.startsWith(prefix));
  if (start === undefined) return [];
  const rest = start.slice(prefix.length);
  if (rest === "") return [];
  return isEntitlement ? [value, ...entitlementNames(rest)] : [value, rest];
}

function entitlementNames(text: string): readonly string[] {
  const [named = "", authority] = text.split("#", 2);
  const parts = named.split(":").map(decoded);
  const last = parts.at(-1) ?? "";
  const role = last.startsWith("role=") ? last.slice("role=".length) : undefined;
  const groups = role === undefined ? parts : parts.slice(0, -1);
  if (groups.length === 0 || groups.some((part) => part === undefined || part === "" || /[/:#]/.test(part))) {
    return [];
  }
  const path = groups.join("/");
  const exact = role === undefined ? [] : [`${path}:role=${role}`];
  const names = role === undefined || role === "member" ? [...exact, path] : exact;
  return authority === undefined ? names : [...names.map((name) => `${name}#${authority}`), ...names];
}

/** Percent signs of a URN read (RFC 8141, 2); `undefined` if they cannot be. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
