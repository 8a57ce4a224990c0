import type { AcceptedLogin } from "../../authentication/accepted_logins.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { AdminParts } from "../../resource/admin/administration.ts";
import { emptyResponse, jsonResponse } from "../../resource/text_response.ts";
import { type AuthParts, authRoutes } from "./auth_routes.ts";
import { jsonAnswer } from "./openapi/operation.ts";
import { JSON_TYPE, type PublishedRoute, type Route } from "./router.ts";
import type { DavParts } from "../../resource/dav/dav.ts";
import { tokenListRoutes, type TokenParts, tokenRoutes } from "./token_routes.ts";
import { pageRoutes } from "./page_routes.ts";
import { text } from "./openapi/schema.ts";
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
  const routes: PublishedRoute[] = [
    ...openRoutes(parts),
    ...(features.auth ? [...authRoutes({ ...parts, sessions }), ...tokenListRoutes(parts)] : []),
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

const resource = () => import("../../resource/admin/administration.ts");

/** What users with the role `admin` can do (rest-api.md 1.14). */
function adminRoutes(parts: AdminParts): PublishedRoute[] {
  const common = { service: "admin", produces: JSON_TYPE } as const;
  return [
    {
      ...common,
      produces: [...JSON_TYPE, "text/html"],
      method: "GET",
      path: "/rest/admin",
      doc: {
        id: "describeAdministration",
        summary: "State of the service, and the actions there are; browsers are led to the page",
        query: { fields: text("Members that are wanted, with commas between; without it all") },
        answers: {
          200: jsonAnswer("State and actions", "Administration"),
          303: { description: "For browsers", headers: { Location: "The page of administrators" } },
        },
      },
      answer: async (call) => (await resource()).describeAdministration(call, parts),
      page: (call) => emptyResponse({ status: 303, headers: { Location: `${call.root}admin` } }),
    },
    {
      ...common,
      method: "POST",
      path: "/rest/admin/actions/:action",
      consumes: "application/json",
      audit: "admin",
      doc: {
        id: "carryOut",
        summary: "Carry out one of the actions: ShowUserInfo, ModifyShare, IssueAPIToken",
        details: "What cannot be carried out is an answer, too: success is then false, and message says why.",
        body: "AdminRequest",
        answers: { 200: jsonAnswer("What came of it", "AdminResult") },
        refusals: [404],
      },
      answer: async (call) => (await resource()).carryOut(call, parts),
    },
  ];
}

interface OpenParts extends ReadinessFacts {
  readonly facts: { readonly siteName: string };
  readonly issuers: readonly TokenIssuer[]; // accepted token issuers
}

function openRoutes(parts: OpenParts): PublishedRoute[] {
  return [...healthRoutes(parts), ...(parts.issuers.length > 0 ? [metadataRoute(parts)] : [])];
}

function healthRoutes(facts: ReadinessFacts): PublishedRoute[] {
  return [
    {
      method: "GET",
      path: "/health/live",
      service: "open",
      produces: JSON_TYPE,
      doc: {
        id: "isAlive",
        summary: "Whether the service answers",
        answers: { 200: jsonAnswer("It does", "Live") },
      },
      answer: () => liveness(),
    },
    {
      method: "GET",
      path: "/health/ready",
      service: "open",
      produces: JSON_TYPE,
      doc: {
        id: "isReady",
        summary: "Whether the server can open a session on some server, and the service is to go on",
        answers: {
          200: jsonAnswer("It can", "Ready"),
          503: jsonAnswer("It cannot", "NotReady"),
        },
      },
      answer: ({ requestId }) => readiness(facts, requestId),
    },
  ];
}

function metadataRoute({ facts, issuers }: OpenParts): PublishedRoute {
  return {
    method: "GET",
    path: METADATA_PATH,
    service: "open",
    produces: JSON_TYPE,
    doc: {
      id: "describeTokens",
      summary: "Who makes tokens for this service (RFC 9728)",
      answers: {
        200: jsonAnswer("The metadata", "ProtectedResource"),
      },
    },
    answer: ({ base }) => protectedResource({ base, name: facts.siteName }, issuers),
  };
}
