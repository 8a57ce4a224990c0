import { attempt } from "../../model/attempt.ts";
import type { Logger } from "../../logging/logger.ts";
import { type Claims, textsOf } from "../claims.ts";
import { UnixGroups } from "../assignments.ts";
import type { OAuthConfig } from "./oauth_config.ts";

export type GroupRules = Pick<
  OAuthConfig,
  "groupsClaim" | "groupsPrefix" | "groupsMap" | "requiredGroups"
>;

const MOST_VALUES = 2000; // claim values considered

/** Groups of an authenticator's users. */
export class Groups {
  readonly #map: ReadonlyMap<string, string>;
  readonly #unixGroups: UnixGroups;

  constructor(readonly rules: GroupRules, log: Logger) {
    this.#map = new Map(rules.groupsMap.map(({ name, value }) => [name, value]));
    this.#unixGroups = new UnixGroups(
      "groups of the provider that can be no Unix groups: map them by groupsMap",
      log,
    );
  }

  get areClaimed(): boolean {
    return this.rules.groupsClaim.length > 0;
  }

  admit(claim: Claims): boolean {
    const { requiredGroups } = this.rules;
    return requiredGroups.length === 0 ||
      this.#groups(claim).some((names) => names.some((name) => requiredGroups.includes(name)));
  }

  unixGroups(claim: Claims): readonly string[] {
    const groups = this.#groups(claim);
    if (this.#map.size > 0) {
      return [
        ...new Set(groups.flatMap((names) => names.flatMap((name) => this.#map.get(name) ?? []).slice(0, 1))),
      ];
    }
    return this.#unixGroups.usable(
      groups.flatMap((names) => names.slice(-1)).map((name) => ({ name, external: true })),
    );
  }

  /** Returns the names of each group, most exact first. */
  #groups(claim: Claims): readonly (readonly string[])[] {
    const { groupsClaim, groupsPrefix } = this.rules;
    const values = groupsClaim.flatMap((name) => textsOf(claim(name))).slice(0, MOST_VALUES);
    return values.map((value) => namesOfGroup(value, groupsPrefix)).filter((names) => names.length > 0);
  }
}

/**
 * Returns a group's names, most exact first: as written, then without prefix or without Keycloak's and WLCG's
 * leading slash. Entitlements (AARC-G069: `urn:…:group:hpc:projA:role=member#authority`) with the prefix
 * become paths with and without role and authority; a role other than `member` is no membership. Without a
 * prefix an entitlement has only its full name, since any authority could assert it.
 * @returns Empty for another prefix.
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
  const parts = named.split(":")
    .map((part) => attempt(() => decodeURIComponent(part), URIError, () => undefined)); // RFC 8141, 2
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
