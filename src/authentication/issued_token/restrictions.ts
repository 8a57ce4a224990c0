import { absolutePath } from "../../model/absolute_path.ts";
import { isAddressRange } from "../../model/address.ts";
import { HttpError, httpError } from "../../model/http_error.ts";
import {
  ACTIVITIES,
  type Activity,
  isNarrow,
  type TokenRestrictions,
} from "../../model/token_restrictions.ts";

const MAX_ITEMS = 16; // most directories, and most servers
/** Bytes in a token: common clients and proxies limit headers to 8 KiB. */
const MAX_BYTES = 2048;

/** Invalid restrictions; the message names parameter and expectation. */
class InvalidRestrictions extends Error {}

/** Parses restrictions of a query. @throws {ERR_INVALID_TOKEN_REQUEST} */
export function readRestrictions(query: URLSearchParams): TokenRestrictions {
  const list = (name: string) => query.has(name) ? query.getAll(name) : undefined;
  const single = (name: string) => query.get(name) ?? undefined;
  try {
    return checkedRestrictions({
      path: list("path"),
      activity: single("activity"),
      server: list("server"),
      address: single("address"),
    });
  } catch (error) {
    if (error instanceof InvalidRestrictions) {
      throw httpError("ERR_INVALID_TOKEN_REQUEST", { text: error.message });
    }
    throw error;
  }
}

/** Formats restrictions for the log. */
export function restrictionsInWords({ paths, activity, servers, address }: TokenRestrictions): string {
  const members = { path: paths?.join(" "), activity, server: servers?.join(" "), address };
  return Object.entries(members).flatMap(([name, value]) => value === undefined ? [] : `${name}=${value}`)
    .join(" ");
}

/** Returns the claim `bounds`; `undefined` without restrictions. */
export function restrictionsClaim(
  restrictions: TokenRestrictions | undefined,
): Record<string, unknown> | undefined {
  if (restrictions === undefined || !isNarrow(restrictions)) return undefined;
  const { paths, activity, servers, address } = restrictions;
  return { path: paths, activity, server: servers, address };
}

/** Parses the claim `bounds`; `undefined` if invalid or with unknown members: the token is invalid then. */
export function restrictionsFromClaim(claim: unknown): TokenRestrictions | undefined {
  if (typeof claim !== "object" || claim === null || Array.isArray(claim)) return undefined;
  const members = new Map<string, unknown>(Object.entries(claim));
  if ([...members.keys()].some((name) => !["path", "activity", "server", "address"].includes(name))) {
    return undefined;
  }
  try {
    return checkedRestrictions({
      path: members.get("path"),
      activity: members.get("activity"),
      server: members.get("server"),
      address: members.get("address"),
    });
  } catch (error) {
    if (error instanceof InvalidRestrictions) return undefined;
    throw error;
  }
}

function checkedRestrictions({ path, activity, server, address }: {
  readonly path: unknown;
  readonly activity: unknown;
  readonly server: unknown;
  readonly address: unknown;
}): TokenRestrictions {
  const paths = textList("path", path)?.map(checkedDirectory);
  const servers = textList("server", server)?.map(checkedServer);
  if (new TextEncoder().encode(JSON.stringify([paths, servers])).length > MAX_BYTES) {
    throw new InvalidRestrictions(`path, server: expected at most ${MAX_BYTES} bytes in all`);
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
  const items: readonly unknown[] = Array.isArray(value) ? value : [undefined];
  const texts = items.filter((item) => typeof item === "string");
  if (items.length === 0 || items.length > MAX_ITEMS || texts.length < items.length) {
    throw new InvalidRestrictions(`${name}: expected 1 to ${MAX_ITEMS} of them`);
  }
  return texts;
}

/** Directories only: a session cannot be confined to a file. */
function checkedDirectory(text: string): string {
  const expected =
    "path: expected the absolute path of a directory with a slash at its end, without * ? [ and :";
  let path;
  try {
    path = absolutePath(text);
  } catch (error) {
    if (error instanceof HttpError) throw new InvalidRestrictions(expected);
    throw error;
  }
  if (!path.endsWith("/") || /[*?[:]/.test(path) || /\s\//u.test(path)) {
    throw new InvalidRestrictions(expected);
  }
  return path;
}

function checkedServer(name: string): string {
  if (/^\w[\w.]{0,63}$/.test(name)) return name;
  throw new InvalidRestrictions("server: expected the name of a logical server");
}

function checkedActivity(value: unknown): Activity {
  const activity = ACTIVITIES.find((known) => known === value);
  if (activity === undefined) throw new InvalidRestrictions(`activity: expected ${ACTIVITIES.join(", ")}`);
  return activity;
}

function checkedRange(value: unknown): string {
  if (typeof value === "string" && isAddressRange(value)) return value;
  throw new InvalidRestrictions(
    "address: expected an address or a range such as 192.0.2.0/24 or 2001:db8::/32",
  );
}
