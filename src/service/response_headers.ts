import type { CorsConfig, HttpsConfig } from "../config/service_config.ts";
import { COMMON_HEADERS } from "../model/error_body.ts";
import type { HeaderWriter } from "../model/header_list.ts";
import type { IncomingRequest } from "../model/incoming_request.ts";

const COMMON = Object.entries(COMMON_HEADERS);

/** Sets what every answer has, unless the resource has set it already. */
export function addCommonHeaders(
  headers: HeaderWriter,
  requestId: string,
  request: IncomingRequest,
  https: HttpsConfig,
): void {
  for (const [name, value] of COMMON) {
    if (!headers.has(name)) headers.set(name, value);
  }
  headers.set("X-Request-Id", requestId);
  addFrameOptions(headers, https.frames);
  if (https.hsts) headers.set("Strict-Transport-Security", "max-age=31536000; includeSubDomains");
  if (https.cors !== undefined) addCors(headers, request, https.cors);
}

function addFrameOptions(headers: HeaderWriter, { policy, allowed }: HttpsConfig["frames"]): void {
  switch (policy) {
    case "deny":
      break; // among the common headers
    case "sameOrigin":
      headers.set("X-Frame-Options", "SAMEORIGIN");
      break;
    case "allowFrom":
      headers.set("X-Frame-Options", `ALLOW-FROM ${allowed}`);
      break;
    case "allow":
      headers.delete("X-Frame-Options");
      break;
  }
}

/** Cross-origin requests (Fetch standard, 3.2); credentials are never included, since callers send their own header. */
function addCors(headers: HeaderWriter, request: IncomingRequest, cors: CorsConfig): void {
  const origin = request.headers.get("Origin");
  headers.append("Vary", "Origin");
  if (origin === null || !(cors.origins.includes("*") || cors.origins.includes(origin))) return;
  headers.set("Access-Control-Allow-Origin", cors.origins.includes("*") ? "*" : origin);
  headers.set("Access-Control-Expose-Headers", cors.exposedHeaders.join(", "));
  if (request.method === "OPTIONS" && request.headers.has("Access-Control-Request-Method")) {
    headers.set("Access-Control-Allow-Methods", cors.methods.join(", "));
    headers.set("Access-Control-Allow-Headers", cors.requestHeaders.join(", "));
  }
}
