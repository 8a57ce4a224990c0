import type { AcceptedLogin } from "../../authentication/accepted_logins.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { AdminParts } from "../../resource/admin/administration.ts";
import { emptyResponse, jsonResponse } from "../../resource/text_response.ts";
import { type AuthParts, authRoutes } from "./auth_routes.ts";
import { JSON_TYPE, type Route, type Row, table } from "./router.ts";
import type { DavParts } from "../../resource/dav/dav.ts";
import { tokenListRoutes, type TokenParts, tokenRoutes } from "./token_routes.ts";
import { pageRoutes } from "./page_routes.ts";
import type { TokenIssuer } from "../../authentication/authenticator.ts";
import { liveness, readiness, type ReadinessFacts } from "../../resource/health.ts";
import { METADATA_PATH, protectedResource } from "../../resource/protected_resource.ts";

interface ResourceParts extends AdminParts, Omit<AuthParts, "sessions">, OpenParts, TokenParts {
  readonly facts: AuthParts["facts"];
  readonly features: ServiceConfig["features"];
  readonly accepted: readonly AcceptedLogin[];
  readonly files: DavParts | undefined; // absent unless users may reach their own files
}

/** Returns all routes of the service. */
export async function routesOf(parts: ResourceParts): Promise<Route[]> {
  const { features, sharing, files } = parts;
  const sessions = (files ?? sharing)?.sessions ?? new Map();
  const withTokens = (["auth", "share", "access"] as const).filter((service) => features[service]);
  const routes: Route[] = [
    ...openRoutes(parts, () => routes),
    ...(features.auth ? [...authRoutes({ ...parts, sessions }), ...tokenListRoutes(parts)] : []),
    ...(sharing === undefined ? [] : (await import("./share_routes.ts")).shareRoutes(
      sharing,
      features,
      features.auth && parts.signIn !== undefined,
    )),
    ...(files === undefined ? [] : (await import("./dav_routes.ts")).davRoutes(files)),
    ...(features.admin ? adminRoutes(parts) : []),
    ...withTokens.flatMap((service) => tokenRoutes(service, parts)),
    ...pageRoutes(parts),
  ];
  return routes;
}

const administration = () => import("../../resource/admin/administration.ts");

/** What users with the role `admin` can do (rest-api.md 1.14). */
function adminRoutes(parts: AdminParts): Route[] {
  return table(
    { service: "admin", produces: JSON_TYPE },
    ["GET", "/rest/admin", async (call) => (await administration()).describeAdministration(call, parts), {
      produces: [...JSON_TYPE, "text/html"],
      query: { fields: "string" },
      page: ({ root }) => emptyResponse({ status: 303, headers: { Location: `${root}admin` } }),
    }],
    [
      "POST",
      "/rest/admin/actions/:action",
      async (call) => (await administration()).carryOut(call, parts),
      { consumes: "application/json", audit: "admin" },
    ],
  );
}

interface OpenParts extends ReadinessFacts {
  readonly facts: { readonly siteName: string };
  readonly issuers: readonly TokenIssuer[]; // accepted token issuers
}

function openRoutes(parts: OpenParts, routes: () => readonly Route[]): Route[] {
  const { facts, issuers } = parts;
  const metadata: Row = [
    "GET",
    METADATA_PATH,
    ({ base }) => protectedResource({ base, name: facts.siteName }, issuers),
  ];
  return table(
    { service: "open", produces: JSON_TYPE },
    ["GET", "/health/live", liveness],
    ["GET", "/health/ready", ({ requestId }) => readiness(parts, requestId)],
    ...(issuers.length > 0 ? [metadata] : []),
    [
      "GET",
      "/openapi.json",
      async ({ base }) => jsonResponse((await import("./openapi.ts")).openApiDocument(routes(), base)),
    ],
  );
}
