import { httpError } from "../model/http_error.ts";

/** Caller's choice among allowed values. */
export interface Preferences {
  readonly uid?: string;
  readonly group?: string;
  readonly role?: string;
  readonly supplementaryGroups?: readonly string[];
}

const KEYS: ReadonlyMap<string, keyof Preferences> = new Map([
  ["uid", "uid"],
  ["xlogin", "uid"],
  ["group", "group"],
  ["pgid", "group"],
  ["role", "role"],
  ["supgids", "supplementaryGroups"],
  ["supplementarygroups", "supplementaryGroups"],
]);

/**
 * Parses `X-UNICORE-User-Preferences`: case-insensitive keys, the last of a repeated key wins, groups by `+`.
 * @throws {ERR_INVALID_PREFERENCES | ERR_UNKNOWN_PREFERENCE}
 */
export function parsePreferences(headers: readonly string[]): Preferences {
  const preferences: { -readonly [K in keyof Preferences]: Preferences[K] } = {};
  const parts = headers.flatMap((header) => header.split(",")).filter((part) => part.trim() !== "");
  for (const part of parts) {
    const [name = "", value = "", ...more] = part.split(":").map((text) => text.trim());
    if (name === "" || value === "" || more.length > 0) throw httpError("ERR_INVALID_PREFERENCES");
    const key = KEYS.get(name.toLowerCase());
    if (key === undefined) throw httpError("ERR_UNKNOWN_PREFERENCE", `Unknown user preference ${name}`);
    if (key !== "supplementaryGroups") preferences[key] = value;
    else preferences[key] = value.split("+").map((group) => group.trim());
  }
  return preferences;
}
