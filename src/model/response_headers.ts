import type { HeaderList } from "./http_message.ts";

/** Response headers that a site configures. */
export interface ResponsePolicy {
  /** RFC 6797; absent: no header. */
  readonly hsts: { readonly maxAgeSeconds: number; readonly includeSubDomains: boolean } | undefined;
  readonly frames: {
    readonly policy: "deny" | "sameOrigin" | "allowFrom" | "allow";
    readonly allowed: string; // origin for `allowFrom`
  };
  readonly cors: CorsConfig | undefined;
}

/** Permissions of scripts from other sites (`container.httpServer.CORS_*`). */
interface CorsConfig {
  readonly origins: readonly string[]; // `*` matches every origin
  readonly methods: readonly string[];
  readonly requestHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
}

/** Policy for responses that no browser reads. */
export const PLAIN_POLICY: ResponsePolicy = {
  hsts: undefined,
  frames: { policy: "deny", allowed: "" },
  cors: undefined,
};

/** Request parts that the headers depend on; absent parts could not be read. */
export interface HeaderContext {
  readonly method: string | undefined;
  readonly headers: HeaderList;
}

/** Headers of every response, unless the resource sets its own. */
const COMMON = Object.entries({
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
});

/** Response headers that scripts of other sites may always read. */
const EXPOSED = ["ETag", "Retry-After", "X-Request-Id", "Content-Range"];

/** Sets the common headers that the resource has not set. */
export function addCommonHeaders(
  headers: HeaderList,
  request: HeaderContext,
  { hsts, frames, cors }: ResponsePolicy,
): void {
  for (const [name, value] of COMMON) if (!headers.has(name)) headers.fields.push(name, value);
  if (frames.policy !== "deny") allowFrames(headers, frames);
  if (hsts !== undefined) {
    const more = hsts.includeSubDomains ? "; includeSubDomains" : "";
    headers.set("Strict-Transport-Security", `max-age=${hsts.maxAgeSeconds}${more}`);
  }
  if (cors !== undefined) addCors(headers, request, cors);
}

/** Sets the old header and the policy that newer browsers follow (CSP level 2, 7.7.1). */
function allowFrames(headers: HeaderList, { policy, allowed }: ResponsePolicy["frames"]): void {
  if (policy === "allow") headers.delete("X-Frame-Options");
  else headers.set("X-Frame-Options", policy === "sameOrigin" ? "SAMEORIGIN" : `ALLOW-FROM ${allowed}`);
  const ancestors = policy === "allow" ? "*" : policy === "sameOrigin" ? "'self'" : allowed;
  const security = headers.get("Content-Security-Policy") ?? "";
  headers.set(
    "Content-Security-Policy",
    security.replace("frame-ancestors 'none'", `frame-ancestors ${ancestors}`),
  );
}

/** Adds CORS headers (Fetch standard, 3.2), never with credentials, since callers send their own header. */
function addCors(headers: HeaderList, request: HeaderContext, cors: CorsConfig): void {
  const origin = request.headers.get("Origin");
  const anyOrigin = cors.origins.includes("*");
  headers.append("Vary", "Origin");
  if (!anyOrigin && (origin === null || !cors.origins.includes(origin))) return;
  // A site that may read a response may also embed it.
  if (anyOrigin) headers.set("Cross-Origin-Resource-Policy", "cross-origin");
  headers.set("Access-Control-Allow-Origin", anyOrigin || origin === null ? "*" : origin);
  headers.set("Access-Control-Expose-Headers", union(cors.exposedHeaders, EXPOSED));
  if (request.method === "OPTIONS" && request.headers.has("Access-Control-Request-Method")) {
    headers.set("Access-Control-Allow-Methods", cors.methods.join(", "));
    // `*` excludes only `Authorization` (Fetch standard, 3.2.3).
    headers.set("Access-Control-Allow-Headers", union(cors.requestHeaders, ["Authorization"]));
  }
}

function union(given: readonly string[], more: readonly string[]): string {
  const known = new Set(given.map((name) => name.toLowerCase()));
  return [...given, ...more.filter((name) => !known.has(name.toLowerCase()))].join(", ");
}
