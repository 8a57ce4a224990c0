import { attempt } from "../../model/attempt.ts";
import { absolutePath } from "../../model/absolute_path.ts";
import { isAddressRange } from "../../model/address.ts";
import { HttpError, httpError } from "../../model/http_error.ts";
import { isJsonObject, isTextList } from "../../model/json_object.ts";
import {
  ACTIVITIES,
  type Activity,
  isRestricted,
  type TokenRestrictions,
} from "../../model/token_restrictions.ts";

const MAX_ITEMS = 16; // limit of directories, and of servers
const MAX_BYTES = 2048; // bytes in a token: common clients and proxies limit headers to 8 KiB

/** Creates an error that names parameter and expectation. */
function invalid(text: string): HttpError {
  return httpError("ERR_INVALID_TOKEN_REQUEST", { text });
}

/** Parses restrictions of a query. @throws {ERR_INVALID_TOKEN_REQUEST} */
export function readRestrictions(query: URLSearchParams): TokenRestrictions {
  const list = (name: string) => query.has(name) ? query.getAll(name) : undefined;
  const single = (name: string) => query.get(name) ?? undefined;
  return checkedRestrictions({
    path: list("path"),
    activity: single("activity"),
    server: list("server"),
    address: single("address"),
  });
}

/** Formats restrictions for the log, as `path=… activity=…`; empty without any. */
export function restrictionsInWords({ paths, activity, servers, address }: TokenRestrictions): string {
  const members = { path: paths?.join(" "), activity, server: servers?.join(" "), address };
  return Object.entries(members).flatMap(([name, value]) => value === undefined ? [] : `${name}=${value}`)
    .join(" ");
}

/** Returns the claim `restrictions`; `undefined` without restrictions. */
export function restrictionsClaim(
  restrictions: TokenRestrictions | undefined,
): Record<string, unknown> | undefined {
  if (restrictions === undefined || !isRestricted(restrictions)) return undefined;
  const { paths, activity, servers, address } = restrictions;
  return { path: paths, activity, server: servers, address };
}

/** Parses the claim `restrictions`; `undefined` if invalid or with unknown members: the token is invalid then. */
export function restrictionsFromClaim(claim: unknown): TokenRestrictions | undefined {
  if (!isJsonObject(claim)) return undefined;
  const { path, activity, server, address, ...others } = claim;
  if (Object.keys(others).length > 0) return undefined;
  return attempt(() => checkedRestrictions({ path, activity, server, address }), HttpError, () => undefined);
}

function checkedRestrictions(
  { path, activity, server, address }: Readonly<Record<"path" | "activity" | "server" | "address", unknown>>,
): TokenRestrictions {
  const paths = textList("path", path)?.map(checkedDirectory);
  const servers = textList("server", server)?.map(checkedServer);
  if (new TextEncoder().encode(JSON.stringify([paths, servers])).length > MAX_BYTES) {
    throw invalid(`path, server: expected at most ${MAX_BYTES} bytes in all`);
  }
  return {
    ...(paths && { paths: [...new Set(paths)] }),
    ...(activity !== undefined && { activity: checkedActivity(activity) }),
    ...(servers && { servers: [...new Set(servers)] }),
    ...(address !== undefined && { address: checkedRange(address) }),
  };
}

function textList(name: string, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (isTextList(value) && value.length > 0 && value.length <= MAX_ITEMS) return value;
  throw invalid(`${name}: expected 1 to ${MAX_ITEMS} of them`);
}

/** Asserts that a path is a directory: a session cannot be confined to a file. */
function checkedDirectory(text: string): string {
  const expected =
    "path: expected the absolute path of a directory with a slash at its end, without * ? [ and :";
  const path = attempt(() => absolutePath(text), HttpError, () => {
    throw invalid(expected);
  });
  if (!path.endsWith("/") || /[*?[:]/.test(path) || /\s\//u.test(path)) throw invalid(expected);
  return path;
}

function checkedServer(name: string): string {
  if (/^\w[\w.]{0,63}$/.test(name)) return name;
  throw invalid("server: expected the name of a logical server");
}

function checkedActivity(value: unknown): Activity {
  const activity = ACTIVITIES.find((known) => known === value);
  if (activity === undefined) throw invalid(`activity: expected ${ACTIVITIES.join(", ")}`);
  return activity;
}

function checkedRange(value: unknown): string {
  if (typeof value === "string" && isAddressRange(value)) return value;
  throw invalid("address: expected an address or a range such as 192.0.2.0/24 or 2001:db8::/32");
}
