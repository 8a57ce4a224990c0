import type { HttpResponse } from "../../model/http_message.ts";
import { type HttpError, httpError } from "../../model/http_error.ts";
import type { Call } from "../../resource/call.ts";
import { invalidRequest } from "../../resource/invalid_request.ts";
import type { Operation } from "./openapi/operation.ts";

/** Whose access rules a route follows; `open` ones know no caller. */
export type RouteService = "auth" | "share" | "access" | "admin" | "open";

/** Whether a path is for whoever watches the service, banned or not. */
export function isHealth(path: string): boolean {
  return path.startsWith("/health/");
}

/** What browsers send of a page's form; with files. */
export const FORM_TYPE = "application/x-www-form-urlencoded";
export const FILES_TYPE = "multipart/form-data";

/** What a resource produces that has nothing but data. */
export const JSON_TYPE = ["application/json"] as const;

/** A request as far as it is known before anything is known of its caller. */
export type Asked = Pick<Call, "request" | "query" | "base" | "root" | "requestId">;

/** One method of one resource. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Such as `/rest/auth/:server`; a last `*rest` takes all that follows, slashes included. */
  readonly path: string;
  readonly service: RouteService;
  /** Method whose permission it takes; absent: the request's own. */
  readonly permission?: "GET" | "POST" | "PUT";
  /** Whether browsers that are signed in are known here; nowhere below `/rest/`. */
  readonly signedIn?: true;
  /** Whether Basic credentials without a user name are the password of the link that is used. */
  readonly linkPassword?: true;
  /** Whether it is for callers whose login permits some paths only, and keeps to these. */
  readonly heedsCapabilities?: true;
  /** Media type that a body must have; absent: any, or none. A form counts only if a page of ours has sent it. */
  readonly consumes?: "application/json" | typeof FORM_TYPE | typeof FILES_TYPE;
  /** Media types on offer; absent: whatever the data is. */
  readonly produces?: readonly string[];
  /** What is decided here; each decision gets a line in the log that says who, from where, what and why. */
  readonly audit?: "session" | "token" | "revoke" | "share" | "admin" | "certificate" | "login";
  readonly answer: (call: Call) => Promise<HttpResponse> | HttpResponse;
  /** Answers in place of `answer` whoever would rather have a page. */
  readonly page?: (call: Call) => Promise<HttpResponse> | HttpResponse;
  /** Answers whoever would rather have a page than read of a failure; `undefined`: they read of it. */
  readonly failed?: (failure: HttpError, asked: Asked) => HttpResponse | undefined;
  /** What the API description says about it. */
  readonly doc?: Operation;
}

/** A route that is part of the API: it cannot be there without its description. */
export type PublishedRoute = Route & { readonly doc: Operation };

/** A route and what its placeholders stand for. */
interface RouteMatch {
  readonly route: Route;
  readonly params: ReadonlyMap<string, string>;
}

/** Finds the route for a path and method. `HEAD` is answered by `GET` routes. */
export class Router {
  readonly #routes: readonly { readonly route: Route; readonly pattern: readonly string[] }[];
  /** Routes without placeholders, by method and path. */
  readonly #fixed = new Map<string, RouteMatch>();

  constructor(routes: readonly Route[]) {
    this.#routes = routes.map((route) => ({ route, pattern: route.path.split("/") }));
    for (const route of routes) {
      if (!/[:*]/.test(route.path)) {
        this.#fixed.set(`${route.method} ${route.path}`, { route, params: new Map() });
      }
    }
  }

  /**
   * @param path Raw path of the URL; a trailing slash is tolerated.
   * @throws {ERR_NOT_FOUND | ERR_METHOD_NOT_ALLOWED | ERR_INVALID_REQUEST}
   */
  match(method: string, path: string): RouteMatch {
    const wanted = method === "HEAD" ? "GET" : method;
    const fixed = this.#fixed.get(`${wanted} ${path}`);
    if (fixed !== undefined) return fixed;
    const best = this.#candidates(path);
    const found = best.find(({ route }) => route.method === wanted);
    if (found === undefined) {
      throw httpError("ERR_METHOD_NOT_ALLOWED", { allowed: methodsOf(best).join(", ") });
    }
    return found;
  }

  /** Methods of the resource at a path; of the service as a whole at the root. @throws {ERR_NOT_FOUND | ERR_INVALID_REQUEST} */
  allowed(path: string): readonly string[] {
    if (path !== "/" || this.#fixed.has("GET /")) return methodsOf(this.#candidates(path));
    return ["OPTIONS"];
  }

  /** The routes, one a method, that say most about the path. */
  #candidates(path: string): readonly RouteMatch[] {
    const segments = path.split("/");
    const matching = this.#routes.flatMap(({ route, pattern }) => {
      const params = matchSegments(pattern, segments);
      return params === undefined ? [] : [{ route, params, vagueness: vagueness(pattern, segments) }];
    });
    if (matching.length === 0) throw httpError("ERR_NOT_FOUND", { where: "here" });
    const least = Math.min(...matching.map((match) => match.vagueness));
    return matching.filter((match) => match.vagueness === least);
  }
}

function methodsOf(matches: readonly RouteMatch[]): string[] {
  return [
    ...matches.flatMap(({ route }) => route.method === "GET" ? ["GET", "HEAD"] : [route.method]),
    "OPTIONS",
  ];
}

/** Of several routes that match, the one that says most about the path is meant. */
function vagueness(pattern: readonly string[], segments: readonly string[]): number {
  const placeholders = pattern.filter((part) => /^[:*]/.test(part)).length;
  const slashDropped = segments.length === pattern.length ? 0 : 1;
  return slashDropped * 10 + placeholders;
}

function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Map<string, string> | undefined {
  const params = new Map<string, string>();
  const rest = pattern.at(-1)?.startsWith("*") ? pattern.length - 1 : undefined;
  const slashed = rest === undefined && segments.length > pattern.length && segments.at(-1) === "";
  const given = slashed ? segments.slice(0, -1) : segments;
  if (rest === undefined ? given.length !== pattern.length : given.length <= rest) return undefined;
  for (const [i, part] of pattern.entries()) {
    if (i === rest) params.set(part.slice(1), given.slice(i).join("/")); // decoded where its slashes are understood
    else if (!part.startsWith(":")) {
      if (part !== given[i]) return undefined;
    } else {
      const value = decode(given[i] ?? "");
      if (value === "") return undefined;
      params.set(part.slice(1), value);
    }
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidRequest("The path has a bad percent-encoding");
  }
}
