import type { TokenIssuer } from "../authentication/issued_token/issue.ts";
import { liveness, readiness } from "../resource/health.ts";
import { certificate, issueToken } from "../resource/issued_token.ts";
import { openSession } from "../resource/open_session.ts";
import type { ServerFacts } from "../resource/server_facts.ts";
import { serverDetail, serverList, type ServiceFacts } from "../resource/server_list.ts";
import type { ServiceConfig } from "../config/service_config.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";
import { shareRoutes } from "./share_routes.ts";
import type { Route } from "./router.ts";

/** What the resources are made of. */
export interface ResourceParts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly facts: ServiceFacts;
  /** Absent without a certificate to sign with. */
  readonly tokens: TokenIssuer | undefined;
  /** Own certificate as PEM. */
  readonly certificate: () => string | undefined;
  readonly generation: number;
  /** Absent: data sharing is off. */
  readonly sharing: SharingParts | undefined;
  readonly features: ServiceConfig["features"];
}

const JSON_TYPE = ["application/json"] as const;
const HTML_OR_JSON = [...JSON_TYPE, "text/html"] as const;

/** Every resource of the service, and who answers it. */
export function routesOf(parts: ResourceParts): Route[] {
  const { features, sharing } = parts;
  return [
    ...healthRoutes(parts),
    ...(features.auth ? authRoutes(parts) : []),
    ...(sharing === undefined ? [] : shareRoutes(sharing, features)),
    ...enabledServices(features).flatMap((service) => tokenRoutes(service, parts)),
  ];
}

function enabledServices(
  { auth, share, access }: ServiceConfig["features"],
): ("auth" | "share" | "access")[] {
  return [
    ...(auth ? ["auth" as const] : []),
    ...(share ? ["share" as const] : []),
    ...(access ? ["access" as const] : []),
  ];
}

function healthRoutes({ servers, generation }: ResourceParts): Route[] {
  return [
    {
      method: "GET",
      path: "/health/live",
      service: "open",
      produces: JSON_TYPE,
      answer: () => liveness(),
    },
    {
      method: "GET",
      path: "/health/ready",
      service: "open",
      produces: JSON_TYPE,
      answer: ({ requestId }) => readiness(servers, generation, requestId),
    },
  ];
}

function authRoutes({ servers, facts }: ResourceParts): Route[] {
  return [
    {
      method: "GET",
      path: "/rest/auth",
      service: "auth",
      produces: HTML_OR_JSON,
      answer: (call) => serverList(call, servers, facts),
    },
    {
      method: "GET",
      path: "/rest/auth/:server",
      service: "auth",
      produces: JSON_TYPE,
      answer: (call) => serverDetail(call, servers),
    },
    {
      method: "POST",
      path: "/rest/auth/:server",
      service: "auth",
      consumes: "application/json",
      produces: JSON_TYPE,
      audit: "session",
      answer: (call) => openSession(call, servers),
    },
  ];
}

/** Token and certificate, which stand below each service (rest-api.md 1.11). */
function tokenRoutes(
  service: "auth" | "share" | "access",
  { tokens, certificate: own }: ResourceParts,
): Route[] {
  return [
    {
      method: "GET",
      path: `/rest/${service}/token`,
      service,
      produces: ["text/plain"],
      audit: "token",
      answer: (call) => issueToken(call, tokens),
    },
    {
      method: "GET",
      path: `/rest/${service}/certificate`,
      service: "auth",
      produces: ["text/plain"],
      answer: () => certificate(own()),
    },
  ];
}
