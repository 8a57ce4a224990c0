import { isHealth, type Route } from "../router.ts";

/** Meaning of each error status. */
export const STATUS_MEANINGS: Readonly<Record<number, string>> = {
  400: "The request says something it may not say; the text names what was expected",
  401: "Credentials are missing or wrong, or the user has no account here",
  403: "The caller is known and may not do this",
  404: "There is no such server, share or file",
  405: "There is already something of this name",
  406: "The resource is not available in an accepted media type",
  408: "The request took too long to arrive",
  409: "What is there is no file, or is shared by somebody else; or the directory above is missing",
  411: "The request does not say how long the file is",
  412: "What is there is not what the request has conditions for",
  413: "The request body is too large",
  415: "The request body is of another media type than expected",
  423: "Somebody has locked the file or directory",
  429: "Too many failed logins, or too many sessions; see Retry-After",
  431: "The request header fields are too large",
  500: "A defect, or attributes of this user that cannot be used; see the log",
  501: "The transfer daemon does not encrypt data connections, or the service keeps no list of tokens",
  502:
    "The transfer daemon refused, or answered with something unreadable; or the destination is on another server",
  503: "A transfer daemon or another system does not answer now; see Retry-After",
  504: "The transfer daemon did not answer in time",
  507: "There is no room for this file",
};

/** Errors of the edge, for any request. */
const OF_THE_EDGE = [400, 408, 413, 431, 500, 503];
/** Errors of authentication, attributes and access rules. */
const OF_KNOWN_CALLERS = [401, 403];
/** Bans of addresses; health checks are exempt. */
const OF_BANS = [429];

/** Errors of session requests to a daemon. */
export const OF_SESSIONS: readonly number[] = [404, 501, 502, 504];

/** Returns the error statuses of an operation. */
export function errorsOf({ path, service, consumes, produces, doc }: Route): number[] {
  const all = [
    ...OF_THE_EDGE,
    ...(service === "open" ? [] : OF_KNOWN_CALLERS),
    ...(isHealth(path) ? [] : OF_BANS),
    ...(consumes === undefined ? [] : [415]),
    ...(produces === undefined ? [] : [406]),
    ...doc?.refusals ?? [],
  ];
  return [...new Set(all)].sort();
}
