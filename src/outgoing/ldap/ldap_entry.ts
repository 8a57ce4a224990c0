import type { SearchEntry } from "ldapts";
import { fillName } from "../../model/name_template.ts";
import { ifValidDn, parseName } from "../../model/distinguished_name.ts";

/** Entry with its texts by attribute, as the server spells the names; without other values. */
export interface LdapEntry {
  readonly dn: string;
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

/** Converts an entry of the wire. */
export function ldapEntry({ name, attributes }: SearchEntry): LdapEntry {
  return {
    dn: name,
    attributes: new Map(attributes.map(({ type, values }) => [
      type,
      values.filter((value) => typeof value === "string"),
    ])),
  };
}

/** Returns the texts of an attribute in any case. */
export function valuesOf({ attributes }: LdapEntry, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  for (const [found, values] of attributes) if (found.toLowerCase() === wanted) return values;
  return [];
}

/** Returns the user's name: the template filled, or the entry's own; `undefined` if an attribute is not one text. */
export function nameOf(entry: LdapEntry, template: string | undefined): string | undefined {
  if (template === undefined) return entry.dn;
  return fillName(template, (attribute) => {
    const [value, other] = valuesOf(entry, attribute);
    return value === "" || other !== undefined ? undefined : value;
  });
}

/** Returns the value in a name at the place of the template's first attribute; see {@link nameOf} for the reverse. */
export function userInName(dn: string, template: string): string | undefined {
  return ifValidDn(() => {
    const [parts, named] = [parseName(template), parseName(dn)];
    const place = parts.findIndex(([part]) =>
      part?.value.kind === "text" && /^%[^%]+%$/.test(part.value.text)
    );
    const value = named[place]?.[0]?.value;
    return value?.kind === "text" && parts.length === named.length ? value.text : undefined;
  });
}

const PASSWORD_CHANGES = ["pwdChangedTime", "pwdUpdateTime", "pwdLastSet", "krbLastPwdChange"] as const;

/** Attributes that say whether an account is locked or expired, and when its password was changed. */
export const STATUS_ATTRIBUTES = [
  "pwdAccountLockedTime",
  "pwdEndTime",
  "accountUnlockTime",
  ...PASSWORD_CHANGES,
  "krbPrincipalExpiration",
  "nsAccountLock",
  "shadowExpire",
  "userAccountControl",
  "msDS-User-Account-Control-Computed",
  "accountExpires",
] as const;

const DAY_MS = 86_400_000;
const DISABLED = 0x2; // of userAccountControl
const LOCKED_OUT = 0x10;
const FILETIME_MS = 10_000; // Active Directory counts units of 100 ns since 1601
const FILETIME_EPOCH_MS = -11_644_473_600_000;

/** Returns why an account is unusable, for the log. @param bound Whether the server just accepted the password. */
export function lockOf(entry: LdapEntry, now: number, bound = false): string | undefined {
  const first = (name: typeof STATUS_ATTRIBUTES[number]) => valuesOf(entry, name)[0];
  const flag = (name: typeof STATUS_ATTRIBUTES[number], bit: number) =>
    (Number(first(name) ?? 0) & bit) !== 0;
  if (!bound && first("pwdAccountLockedTime") !== undefined) return "locked (pwdAccountLockedTime)";
  const unlock = generalizedTime(first("accountUnlockTime")); // of 389 Directory Server; 1970: never
  if (!bound && (unlock === 0 || unlock && unlock > now)) return "locked (accountUnlockTime)";
  if (!bound && flag("msDS-User-Account-Control-Computed", LOCKED_OUT)) return "locked (lockoutTime)";
  if (first("nsAccountLock")?.toUpperCase() === "TRUE") return "locked (nsAccountLock)";
  if (flag("userAccountControl", DISABLED)) return "disabled (userAccountControl)";
  const days = Number(first("shadowExpire") ?? -1);
  if (days >= 0 && days * DAY_MS <= now) return "expired (shadowExpire)";
  for (const name of ["pwdEndTime", "krbPrincipalExpiration"] as const) {
    const end = generalizedTime(first(name));
    if (end !== undefined && end <= now) return `expired (${name})`;
  }
  const ends = Number(first("accountExpires") ?? 0);
  const isOver = ends !== 0 && ends < 2 ** 63 && ends / FILETIME_MS + FILETIME_EPOCH_MS <= now;
  return isOver ? "expired (accountExpires)" : undefined;
}

/** Reads a time (RFC 4517, 3.3.13) in whole seconds of UTC, as servers write them. */
function generalizedTime(text = ""): number | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d{1,9})?Z$/.exec(text) ?? [];
  const [year, month = 1, ...rest] = parts.map(Number);
  return year === undefined ? undefined : Date.UTC(year, month - 1, ...rest);
}

/** Returns the time of the latest change of the password as written; `undefined` if it is not shown. */
export function passwordChange(entry: LdapEntry): string | undefined {
  return PASSWORD_CHANGES.flatMap((name) => valuesOf(entry, name))[0];
}

/** Returns the values of a name's first part, such as the `cn` of a group. */
export function firstValueInName(dn: string): readonly string[] {
  const [part = []] = ifValidDn(() => parseName(dn)) ?? [];
  return part.flatMap(({ value }) => value.kind === "text" ? [value.text] : []);
}
