import type { Identity } from "../../model/identity.ts";
import { isJsonObject } from "../../model/json_object.ts";

export type StoredIdentity = Omit<Identity, "absent" | "browser" | "issuedToken">;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isList = (isItem: Check): Check => (value) => Array.isArray(value) && value.every(isItem);
const optional = (check: Check): Check => (value) => value === undefined || check(value);

/** All members, so that new ones are not forgotten here. */
const MEMBERS = {
  dn: isText,
  method: isText,
  via: isText,
  login: optional(isText),
  uid: optional(isText),
  displayName: optional(isText),
  mail: optional(isText),
  role: optional(isText),
  groups: optional(isList(isText)),
  uidServers: optional(isList(isText)),
  credential: optional(isText),
  proved: optional((value) => typeof value === "number"),
  acr: optional(isText),
  authTime: optional((value) => typeof value === "number"),
  bound: optional((value) => value === true),
  capabilities: optional(
    isList((item) =>
      isJsonObject(item) && isText(item.path) && (item.access === "read" || item.access === "all")
    ),
  ),
} as const satisfies Readonly<Record<keyof StoredIdentity, Check>>;

/** Validates a stored identity; an unknown member is refused, since it might be a limit. */
export function isStoredIdentity(value: unknown): value is StoredIdentity {
  return isJsonObject(value) && Object.keys(value).every((name) => Object.hasOwn(MEMBERS, name)) &&
    Object.entries(MEMBERS).every(([name, check]) => check(value[name]));
}
