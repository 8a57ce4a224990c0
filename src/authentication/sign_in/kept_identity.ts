import type { Identity } from "../../model/identity.ts";
import { isJsonObject } from "../json_object.ts";

/** What is kept of somebody who has signed in; they have not shown a token of ours. */
export type KeptIdentity = Omit<Identity, "issuedToken" | "browser">;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isList = (isItem: Check): Check => (value) => Array.isArray(value) && value.every(isItem);
const optional = (check: Check): Check => (value) => value === undefined || check(value);

/** Every member, so that none that an identity gets later is forgotten here. */
const MEMBERS = {
  dn: isText,
  method: isText,
  via: isText,
  login: optional(isText),
  uid: optional(isText),
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
} as const satisfies Readonly<Record<keyof KeptIdentity, Check>>;

/** Whether a value out of the store is an identity, with no member that is not known: one might limit it. */
export function isKeptIdentity(value: unknown): value is KeptIdentity {
  return isJsonObject(value) && Object.keys(value).every((name) => Object.hasOwn(MEMBERS, name)) &&
    Object.entries(MEMBERS).every(([name, check]) => check(value[name]));
}
