import { AnswerCache } from "../../model/answer_cache.ts";
import { liveness, readiness } from "../../resource/health.ts";
import { METADATA_PATH, protectedResource } from "../../resource/protected_resource.ts";
import { serverDetail, serverList } from "../../resource/server_list.ts";
import { ServiceSection } from "../../resource/service_section.ts";
import type { CertificateParts } from "../../resource/ssh_certificate.ts";
import { jsonResponse, redirect } from "../../resource/text_response.ts";
import { loginRoute, pageRoutes, toSignIn } from "./page_routes.ts";
import type { RouteParts } from "./route_parts.ts";
import { JSON_TYPE, type Route, type Row, table } from "./router.ts";

// Imported on first use.
const administration = () => import("../../resource/admin/administration.ts");
const sessions = () => import("../../resource/open_session.ts");
const sshCertificates = () => import("../../resource/ssh_certificate.ts");
const tokenList = () => import("../../resource/token_list.ts");

/** Returns all routes of the service. */
export async function routesOf(parts: RouteParts): Promise<Route[]> {
  const { features, sharing, files, signIn } = parts;
  const withTokens = (["auth", "share", "access"] as const).filter((service) => features[service]);
  const routes: Route[] = [
    ...openRoutes(parts, () => routes),
    ...(features.auth ? authRoutes(parts) : []),
    ...(sharing === undefined ? [] : (await import("./share_routes.ts")).shareRoutes(
      sharing,
      features,
      features.auth && signIn !== undefined,
    )),
    ...(files === undefined ? [] : (await import("./dav_routes.ts")).davRoutes(files)),
    ...(features.admin ? adminRoutes(parts) : []),
    ...withTokens.flatMap((service) => tokenRoutes(service, parts)),
    ...pageRoutes(parts),
  ];
  return routes;
}

function openRoutes(parts: RouteParts, routes: () => readonly Route[]): Route[] {
  const { facts, issuers } = parts;
  const resource: Route["answer"] = ({ base }) => protectedResource({ base, name: facts.siteName }, issuers);
  const metadata: Row = ["GET", METADATA_PATH, resource];
  const openApi: Route["answer"] = async ({ base }) =>
    jsonResponse((await import("./openapi.ts")).openApiDocument(routes(), base));
  return table(
    { service: "open", produces: JSON_TYPE },
    ["GET", "/health/live", liveness],
    ["GET", "/health/ready", ({ requestId }) => readiness(parts, requestId)],
    ...(issuers.length > 0 ? [metadata] : []),
    ["GET", "/openapi.json", openApi],
  );
}

function authRoutes(parts: RouteParts): Route[] {
  const { certificates, nameService, registry, signIn, unauthenticated } = parts;
  const tokens = "/rest/auth/tokens";
  const json = { produces: JSON_TYPE };
  const ends = { audit: "revoke", withoutAttributes: true } as const;
  const endsAll = { ...json, ...ends };
  return [
    ...listRoutes(parts),
    ...(signIn === undefined ? [] : [loginRoute(signIn, unauthenticated)]),
    ...table(
      { service: "auth", checksCapabilities: true, produces: JSON_TYPE },
      ["GET", "/rest/auth/:server", serverDetail],
      ["POST", "/rest/auth/:server", async (call) => (await sessions()).openSession(call, nameService), {
        consumes: "application/json",
        audit: "session",
      }],
    ),
    ...(certificates === undefined ? [] : certificateRoutes(certificates)),
    ...table(
      { service: "auth", permission: "POST" }, // callers who may issue tokens may revoke them
      ["GET", tokens, async (call) => (await tokenList()).listTokens(call, registry), json],
      ["DELETE", tokens, async (call) => (await tokenList()).revokeTokens(call, registry), endsAll],
      ["DELETE", `${tokens}/:id`, async (call) => (await tokenList()).revokeToken(call, registry), ends],
    ),
  ];
}

function listRoutes({ servers, facts, sharing, files, signIn, devices }: RouteParts): Route[] {
  const section = new ServiceSection(facts);
  const groups = new AnswerCache<boolean>(facts);
  const list: Route["answer"] = (call) => serverList(call, servers, section);
  const page: Route["page"] = async (call) => {
    const { statusPage } = await import("../../pages/status_page.ts");
    const { capabilitiesOf } = await import("../../resource/path_limits.ts");
    return statusPage(call, {
      servers,
      facts,
      sharing: capabilitiesOf(call.caller) === undefined ? sharing : undefined,
      sessions: (files ?? sharing)?.sessions ?? new Map(),
      groups,
      hasDeviceLogin: signIn !== undefined && devices !== undefined,
    });
  };
  return table(
    { service: "auth", produces: [...JSON_TYPE, "text/html"], checksCapabilities: true, page },
    ["GET", "/rest/auth", list],
    ["GET", "/", list, {
      signedIn: true,
      failed: async (failure, call) => signIn && await toSignIn(failure, call, ""),
    }],
  );
}

function certificateRoutes(parts: CertificateParts): Route[] {
  const path = "/rest/auth/ssh-certificate";
  return table(
    { service: "open", audit: "certificate", query: { user: "string" } },
    ["PUT", path, async (call) => (await sshCertificates()).uploadCertificate(call, parts), {
      produces: JSON_TYPE,
    }],
    ["DELETE", path, async (call) => (await sshCertificates()).forgetCertificate(call, parts)],
  );
}

/** Returns the routes for users with the role `admin` (rest-api.md 1.14). */
function adminRoutes(parts: RouteParts): Route[] {
  const action: Route["answer"] = async (call) => (await administration()).carryOut(call, parts);
  return table(
    { service: "admin", produces: JSON_TYPE },
    ["GET", "/rest/admin", async (call) => (await administration()).describeAdministration(call, parts), {
      produces: [...JSON_TYPE, "text/html"],
      query: { fields: "string" },
      page: ({ root }) => redirect(`${root}admin`),
    }],
    ["POST", "/rest/admin/actions/:action", action, { consumes: "application/json", audit: "admin" }],
  );
}

const TOKEN_QUERY = {
  lifetime: "integer",
  renewable: "boolean",
  limited: "boolean",
  path: "array",
  activity: "string",
  server: "array",
  address: "string",
  name: "string",
} as const;

/** Routes of token and certificate below each service (rest-api.md 1.11). */
function tokenRoutes(service: string, { tokens, certificate }: RouteParts): Route[] {
  return table(
    { service: "auth", produces: ["text/plain"] },
    ["GET", `/rest/${service}/token`, async (call) => (await tokenList()).issueToken(call, tokens), {
      permission: "POST", // tokens outlive the request, so they need the permission for sessions
      audit: "token",
      query: TOKEN_QUERY,
    }],
    [
      "GET",
      `/rest/${service}/certificate`,
      async () => (await tokenList()).certificateResponse(certificate()),
    ],
  );
}
