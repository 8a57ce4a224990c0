import { ServiceError } from "../model/service_error.ts";

/** What the caller wants to be, where there is a choice. */
export interface Preferences {
  readonly uid?: string;
  readonly group?: string;
  readonly role?: string;
  readonly supplementaryGroups?: readonly string[];
}

/** A preferences header that is not `key:value[,key:value…]` (authentication.md 1.8 says 403). */
export class InvalidPreferences extends ServiceError {
  readonly code = "ERR_INVALID_PREFERENCES";
  readonly status = 403;
  readonly publicMessage = "User preferences must have the form key:value,key:value";

  constructor() {
    super("User preferences are not of the form key:value,key:value");
  }
}

/** A preference for something there is no choice of. */
export class UnknownPreference extends ServiceError {
  readonly code = "ERR_UNKNOWN_PREFERENCE";
  readonly status = 400;
  readonly publicMessage = "Unknown user preference; known are uid, group, role and supplementaryGroups";

  constructor(readonly key: string) {
    super(`Unknown user preference ${key}`);
  }
}

/** A preference that is not among the caller's allowed values. */
export class PreferenceNotAllowed extends ServiceError {
  readonly code = "ERR_PREFERENCE_NOT_ALLOWED";
  readonly status = 403;
  readonly publicMessage = "A preferred account, group or role is not available to you";

  constructor(readonly key: string) {
    super(`The preferred ${key} is not among the allowed values`);
  }
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
 * Reads the values of the header `X-UNICORE-User-Preferences`; of a key given twice the last value holds. Keys have no
 * case, blanks around keys and values do not count, supplementary groups are joined with `+`.
 * @throws {InvalidPreferences | UnknownPreference}
 */
export function parsePreferences(headers: readonly string[]): Preferences {
  const preferences: { -readonly [K in keyof Preferences]: Preferences[K] } = {};
  const parts = headers.filter((header) => header.trim() !== "").flatMap((header) => header.split(","));
  for (const part of parts) {
    const [name = "", value = "", ...more] = part.split(":").map((text) => text.trim());
    if (name === "" || value === "" || more.length > 0) throw new InvalidPreferences();
    const key = KEYS.get(name.toLowerCase());
    if (key === undefined) throw new UnknownPreference(name);
    if (key !== "supplementaryGroups") preferences[key] = value;
    else preferences[key] = value.split("+").map((group) => group.trim());
  }
  return preferences;
}
