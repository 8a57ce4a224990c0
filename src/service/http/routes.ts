import type { AcceptedLogin } from "../../authentication/accepted_logins.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { AdminParts } from "../../resource/admin/administration.ts";
import { jsonResponse } from "../../resource/text_response.ts";
import { adminRoutes } from "./admin_routes.ts";
import { type AuthParts, authRoutes } from "./auth_routes.ts";
import { type OpenParts, openRoutes } from "./open_routes.ts";
import { jsonAnswer } from "./openapi/operation.ts";
import { JSON_TYPE, type PublishedRoute, type Route } from "./router.ts";
import type { DavParts } from "../../resource/dav/dav.ts";
import { tokenListRoutes, type TokenParts, tokenRoutes } from "./token_routes.ts";
import { pageRoutes } from "./page_routes.ts";

interface ResourceParts extends AdminParts, AuthParts, OpenParts, TokenParts {
  readonly facts: AuthParts["facts"];
  readonly features: ServiceConfig["features"];
  readonly accepted: readonly AcceptedLogin[];
  readonly files: DavParts | undefined; // absent unless users may reach their own files
}

/** Returns all routes of the service. */
export async function routesOf(parts: ResourceParts): Promise<Route[]> {
  const { features, sharing, files } = parts;
  const withTokens = (["auth", "share", "access"] as const).filter((service) => features[service]);
  const routes: PublishedRoute[] = [
    ...openRoutes(parts),
    ...(features.auth ? [...authRoutes(parts), ...tokenListRoutes(parts)] : []),
    ...(sharing === undefined ? [] : (await import("./share_routes.ts")).shareRoutes(
      sharing,
      features,
      features.auth && parts.signIn !== undefined,
    )),
    ...(files === undefined ? [] : (await import("./dav_routes.ts")).davRoutes(files)),
    ...(features.admin ? adminRoutes(parts) : []),
    ...withTokens.flatMap((service) => tokenRoutes(service, parts)),
    {
      method: "GET",
      path: "/openapi.json",
      service: "open",
      produces: JSON_TYPE,
      doc: {
        id: "describeService",
        summary: "This description",
        answers: { 200: jsonAnswer("OpenAPI 3.1", "Description") },
      },
      answer: async ({ base }) =>
        jsonResponse((await import("./openapi/document.ts")).openApiDocument(routes, base)),
    },
  ];
  return [...routes, ...pageRoutes(parts)];
}
