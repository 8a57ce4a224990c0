import type { HeaderList } from "./header_list.ts";

/** What a site may choose about the headers of all its answers. */
export interface AnswerPolicy {
  /** Browsers come by HTTPS alone for so long (RFC 6797); absent: nobody is told. */
  readonly hsts: { readonly maxAgeSeconds: number; readonly includeSubDomains: boolean } | undefined;
  /** Sites that may show the web pages in a frame. */
  readonly frames: {
    readonly policy: "deny" | "sameOrigin" | "allowFrom" | "allow";
    /** Origin that may with `allowFrom`. */
    readonly allowed: string;
  };
  /** Absent: no CORS headers at all. */
  readonly cors: CorsConfig | undefined;
}

/** What scripts of other web sites may do (`container.httpServer.CORS_*`). */
interface CorsConfig {
  /** `*` is every origin. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly requestHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
}

/** For answers that no browser reads. */
export const PLAIN_POLICY: AnswerPolicy = {
  hsts: undefined,
  frames: { policy: "deny", allowed: "" },
  cors: undefined,
};

/** What the headers depend on; absent parts could not be read. */
export interface AskedBy {
  readonly method: string | undefined;
  readonly headers: HeaderList;
}

/** Headers of every answer, whoever made it, unless the resource has its own. */
const COMMON = Object.entries({
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
});

/** Of our own answers that scripts of other sites may read, besides those that the site names. */
const EXPOSED = ["ETag", "Retry-After", "X-Request-Id", "Content-Range"];

/** Sets what every answer has, unless the resource has set it already. */
export function addCommonHeaders(
  headers: HeaderList,
  request: AskedBy,
  { hsts, frames, cors }: AnswerPolicy,
): void {
  for (const [name, value] of COMMON) {
    if (!headers.has(name)) headers.fields.push(name, value);
  }
  if (frames.policy !== "deny") allowFrames(headers, frames);
  if (hsts !== undefined) {
    const more = hsts.includeSubDomains ? "; includeSubDomains" : "";
    headers.set("Strict-Transport-Security", `max-age=${hsts.maxAgeSeconds}${more}`);
  }
  if (cors !== undefined) addCors(headers, request, cors);
}

/** Two headers say it: an old one, and the policy that newer browsers go by (CSP level 2, 7.7.1). */
function allowFrames(headers: HeaderList, { policy, allowed }: AnswerPolicy["frames"]): void {
  if (policy === "allow") headers.delete("X-Frame-Options");
  else headers.set("X-Frame-Options", policy === "sameOrigin" ? "SAMEORIGIN" : `ALLOW-FROM ${allowed}`);
  const ancestors = policy === "allow" ? "*" : policy === "sameOrigin" ? "'self'" : allowed;
  const security = headers.get("Content-Security-Policy") ?? "";
  headers.set(
    "Content-Security-Policy",
    security.replace("frame-ancestors 'none'", `frame-ancestors ${ancestors}`),
  );
}

/** Cross-origin requests (Fetch standard, 3.2); credentials are never included, since callers send their own header. */
function addCors(headers: HeaderList, request: AskedBy, cors: CorsConfig): void {
  const origin = request.headers.get("Origin");
  const anyOrigin = cors.origins.includes("*");
  headers.append("Vary", "Origin");
  if (!anyOrigin && (origin === null || !cors.origins.includes(origin))) return;
  // What every site may read, every site may show.
  if (anyOrigin) headers.set("Cross-Origin-Resource-Policy", "cross-origin");
  headers.set("Access-Control-Allow-Origin", anyOrigin || origin === null ? "*" : origin);
  headers.set("Access-Control-Expose-Headers", union(cors.exposedHeaders, EXPOSED));
  if (request.method === "OPTIONS" && request.headers.has("Access-Control-Request-Method")) {
    headers.set("Access-Control-Allow-Methods", cors.methods.join(", "));
    // `*` means all but this one (Fetch standard, 3.2.3), without which few requests are of use.
    headers.set("Access-Control-Allow-Headers", union(cors.requestHeaders, ["Authorization"]));
  }
}

function union(given: readonly string[], more: readonly string[]): string {
  const known = new Set(given.map((name) => name.toLowerCase()));
  return [...given, ...more.filter((name) => !known.has(name.toLowerCase()))].join(", ");
}
