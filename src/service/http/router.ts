import type { HttpResponse } from "../../model/http_message.ts";
import { attempt } from "../../model/attempt.ts";
import { type HttpError, httpError, invalidRequest } from "../../model/http_error.ts";
import type { Call, PartialCall } from "../../resource/call.ts";

/** Reports whether a path is a health check, which bans do not affect. */
export function isHealth(path: string): boolean {
  return path.startsWith("/health/");
}

/** Media type of forms without files. */
export const FORM_TYPE = "application/x-www-form-urlencoded";
export const FILES_TYPE = "multipart/form-data";

/** Media types of resources without page. */
export const JSON_TYPE = ["application/json"] as const;

/** Methods of WebDAV (RFC 4918). */
export const DAV_METHODS = ["PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK"] as const;

/** Method of a resource. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | typeof DAV_METHODS[number];
  /** Such as `/rest/auth/:server`; a last `*rest` matches the remaining path with slashes. */
  readonly path: string;
  readonly service: "auth" | "share" | "access" | "admin" | "open"; // `open` requires no caller
  readonly permission?: "GET" | "POST" | "PUT"; // method whose permission applies; default: the request's own
  readonly signedIn?: true; // whether sign-ins of browsers apply; never below `/rest/`
  readonly withoutAttributes?: true; // whether the role is `user`: no attribute source is queried
  readonly linkPassword?: true; // whether Basic credentials without user name are a link password
  /** Whether the route enforces path capabilities; others reject such logins. */
  readonly checksCapabilities?: true;
  /** Required media type of a body. A form must come from a page of this service. */
  readonly consumes?: "application/json" | typeof FORM_TYPE | typeof FILES_TYPE;
  readonly produces?: readonly string[]; // offered media types; absent: that of the data
  /** Kind of the audit record for the decision. */
  readonly audit?: "session" | "token" | "revoke" | "share" | "admin" | "certificate" | "login";
  readonly answer: (call: Call) => Promise<HttpResponse> | HttpResponse;
  readonly page?: (call: Call) => Promise<HttpResponse> | HttpResponse; // answers callers that prefer a page
  /** Returns a page for an error; `undefined` selects the error page. */
  readonly failed?: (failure: HttpError, call: PartialCall) => Promise<HttpResponse | undefined>;
  /** Types of the query's parameters by name; absent: the query is not checked. */
  readonly query?: Readonly<Record<string, QueryType>>;
}

/** Type of a query parameter as JSON Schema calls it; integers are positive, arrays are repeated parameters. */
export type QueryType = "string" | "boolean" | "integer" | "array";

/** Method, path and answer of a route, and its settings beyond those of its table. */
export type Row = readonly [
  method: Route["method"],
  path: string,
  answer: Route["answer"],
  more?: Partial<Route>,
];

/** Returns routes with settings in common. */
export function table(common: Omit<Route, "method" | "path" | "answer">, ...rows: readonly Row[]): Route[] {
  return rows.map(([method, path, answer, more]) => ({ ...common, ...more, method, path, answer }));
}

interface RouteMatch {
  readonly route: Route;
  readonly params: ReadonlyMap<string, string>;
}

/** Route table; `GET` routes answer `HEAD`. */
export class Router {
  readonly #routes: readonly { readonly route: Route; readonly regExp: RegExp }[];
  readonly #fixed = new Map<string, RouteMatch>(); // routes without placeholders, by method and path
  readonly menu = new Set<string>(); // paths of `GET` routes without placeholders

  constructor(routes: readonly Route[]) {
    this.#routes = routes.map((route) => ({ route, regExp: pathRegExp(route.path) }));
    for (const route of routes) {
      if (/[:*]/.test(route.path)) continue;
      this.#fixed.set(`${route.method} ${route.path}`, { route, params: new Map() });
      if (route.method === "GET") this.menu.add(route.path);
    }
  }

  /** @param path Raw path of the URL; may have a trailing slash. @throws {ERR_NOT_FOUND | ERR_METHOD_NOT_ALLOWED | ERR_INVALID_REQUEST} */
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

  /** Returns the methods at a path; at the root those of the service. @throws {ERR_NOT_FOUND | ERR_INVALID_REQUEST} */
  allowed(path: string): readonly string[] {
    if (path !== "/" || this.#fixed.has("GET /")) return methodsOf(this.#candidates(path));
    return ["OPTIONS"];
  }

  /** Most specific route per method. */
  #candidates(path: string): readonly RouteMatch[] {
    const matching = this.#routes.flatMap(({ route, regExp }) => {
      const [whole, ...values] = regExp.exec(path) ?? [];
      if (whole === undefined) return [];
      const placeholders = route.path.match(/[:*]\w+/g) ?? [];
      const params = new Map(placeholders.map((name, i) => valueOf(name, values[i])));
      return [{ route, params, rank: rank(route.path, path) }];
    });
    if (matching.length === 0) throw httpError("ERR_NOT_FOUND", { what: "This address" });
    const least = Math.min(...matching.map((match) => match.rank));
    return matching.filter((match) => match.rank === least);
  }
}

function methodsOf(matches: readonly RouteMatch[]): string[] {
  return [
    ...matches.flatMap(({ route }) => route.method === "GET" ? ["GET", "HEAD"] : [route.method]),
    "OPTIONS",
  ];
}

/** Lower is more specific. */
function rank(pattern: string, path: string): number {
  const isAsLong = path.split("/").length === pattern.split("/").length;
  return (isAsLong ? 0 : 10) + pattern.split(/[:*]/).length;
}

/** Returns an expression for the paths that a pattern matches; only a pattern without `*` accepts a slash at the end. */
function pathRegExp(pattern: string): RegExp {
  const parts = pattern.split("/").map((part) =>
    part.startsWith(":") ? "([^/]+)" : part.startsWith("*") ? "(.*)" : RegExp.escape(part)
  );
  return new RegExp(`^${parts.join("/")}${pattern.includes("*") ? "" : "/?"}$`, "s");
}

/** Returns a placeholder with its value, decoded except after a `*`, where slashes separate segments. */
function valueOf(placeholder: string, text = ""): [string, string] {
  return [placeholder.slice(1), placeholder.startsWith("*") ? text : decode(text)];
}

function decode(segment: string): string {
  return attempt(() => decodeURIComponent(segment), URIError, () => {
    throw invalidRequest("The path has a bad percent-encoding");
  });
}
