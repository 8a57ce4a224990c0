import type { TokenIssuer } from "../../authentication/authenticator.ts";
import type { TokenIssuer as OwnTokens } from "../../authentication/issued_token/issue.ts";
import type { ShareAdministration } from "../../sharing/administration.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { NameService } from "../../outgoing/name_service.ts";
import type { Call } from "../../resource/call.ts";
import { capabilitiesOf } from "../../resource/capability_scope.ts";
import { liveness, readiness } from "../../resource/health.ts";
import { certificate, issueToken } from "../../resource/issued_token.ts";
import { openSession } from "../../resource/open_session.ts";
import { METADATA_PATH, protectedResource } from "../../resource/protected_resource.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import { serverDetail, serverList } from "../../resource/server_list.ts";
import { type ServiceFacts, ServiceSection } from "../../resource/service_section.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import {
  type CertificateParts,
  forgetCertificate,
  uploadCertificate,
} from "../../resource/ssh_certificate.ts";
import { signIn, statusPage } from "../../resource/status_page.ts";
import { jsonResponse } from "../../resource/text_response.ts";
import { adminRoutes } from "./admin_routes.ts";
import { openApiDocument } from "./openapi/document.ts";
import { OF_SESSIONS } from "./openapi/refusals.ts";
import { flag, integer, listOf, TEXT, text } from "./openapi/schema.ts";
import type { PublishedRoute } from "./router.ts";
import { shareRoutes } from "./share_routes.ts";

/** What the resources are made of. */
interface ResourceParts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly facts: ServiceFacts;
  /** Absent without a certificate to sign with. */
  readonly tokens: OwnTokens | undefined;
  /** Own certificate as PEM. */
  readonly certificate: () => string | undefined;
  readonly generation: number;
  /** Absent: no method takes certificates for SSH keys. */
  readonly certificates: CertificateParts | undefined;
  /** Absent: data sharing is off. */
  readonly sharing: SharingParts | undefined;
  /** Absent: data sharing is off. */
  readonly shareAdministration: ShareAdministration | undefined;
  readonly features: ServiceConfig["features"];
  /** Absent: names of hosts that clients give are dropped. */
  readonly nameService: NameService | undefined;
  /** Who makes tokens for this service. */
  readonly issuers: readonly TokenIssuer[];
  /** The error that asks a caller for credentials; the reason is for the log. */
  readonly unauthenticated: (reason: string) => Error;
}

const JSON_TYPE = ["application/json"] as const;
const HTML_OR_JSON = [...JSON_TYPE, "text/html"] as const;

/** Every resource of the service, and who answers it. */
export function routesOf(parts: ResourceParts): PublishedRoute[] {
  const { features, sharing } = parts;
  const routes: PublishedRoute[] = [
    ...healthRoutes(parts),
    ...(parts.issuers.length > 0 ? [metadataRoute(parts)] : []),
    ...(features.auth ? authRoutes(parts) : []),
    ...(features.auth && parts.certificates !== undefined ? certificateRoutes(parts.certificates) : []),
    ...(sharing === undefined ? [] : shareRoutes(sharing, features)),
    ...(features.admin ? adminRoutes(parts) : []),
    ...enabledServices(features).flatMap((service) => tokenRoutes(service, parts)),
    {
      method: "GET",
      path: "/openapi.json",
      service: "open",
      produces: JSON_TYPE,
      doc: {
        id: "describeService",
        summary: "This description",
        answers: { 200: { description: "OpenAPI 3.1", content: { "application/json": "Description" } } },
      },
      answer: ({ base }) => jsonResponse(openApiDocument(routes, base)),
    },
  ];
  return routes;
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

function healthRoutes({ servers, generation }: ResourceParts): PublishedRoute[] {
  return [
    {
      method: "GET",
      path: "/health/live",
      service: "open",
      produces: JSON_TYPE,
      doc: {
        id: "isAlive",
        summary: "Whether the service answers",
        answers: { 200: { description: "It does", content: { "application/json": "Live" } } },
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
        summary: "Whether a session can be created on some server",
        answers: {
          200: { description: "It can", content: { "application/json": "Ready" } },
          503: { description: "It cannot", content: { "application/json": "NotReady" } },
        },
      },
      answer: ({ requestId }) => readiness(servers, generation, requestId),
    },
  ];
}

function metadataRoute({ facts, issuers }: ResourceParts): PublishedRoute {
  return {
    method: "GET",
    path: METADATA_PATH,
    service: "open",
    produces: JSON_TYPE,
    doc: {
      id: "describeTokens",
      summary: "Who makes tokens for this service (RFC 9728)",
      answers: {
        200: { description: "The metadata", content: { "application/json": "ProtectedResource" } },
      },
    },
    answer: ({ base }) => protectedResource({ base, name: facts.siteName }, issuers),
  };
}

function authRoutes(
  { servers, facts, sharing, nameService, unauthenticated }: ResourceParts,
): PublishedRoute[] {
  const section = new ServiceSection(facts);
  const list = {
    method: "GET",
    service: "auth",
    produces: HTML_OR_JSON,
    answer: (call: Call) => serverList(call, servers, section),
    heedsCapabilities: true,
    page: (call: Call) =>
      statusPage(call, {
        servers,
        facts,
        sharing: capabilitiesOf(call.caller) === undefined ? sharing : undefined,
      }),
  } as const;
  return [
    {
      ...list,
      path: "/rest/auth",
      doc: {
        id: "listServers",
        summary: "All servers, and what the caller may do on each",
        details:
          "One member for each server, besides client and server. Anonymous callers see less. Browsers get a page.",
        answers: {
          200: { description: "The list", content: { "application/json": "ServerList" } },
        },
      },
    },
    {
      ...list,
      path: "/",
      doc: {
        id: "listServersAtRoot",
        summary: "The same",
        answers: {
          200: { description: "The list", content: { "application/json": "ServerList" } },
        },
      },
    },
    {
      method: "GET",
      path: "/login",
      service: "auth",
      doc: {
        id: "signIn",
        summary: "Has a browser ask for user name and password",
        answers: { 303: { description: "Signed in", headers: { Location: "The status page" } } },
      },
      answer: (call) => signIn(call, unauthenticated),
    },
    ...serverRoutes(nameService),
  ];
}

/** One server, and sessions of it. */
function serverRoutes(nameService: NameService | undefined): PublishedRoute[] {
  return [
    {
      method: "GET",
      path: "/rest/auth/:server",
      service: "auth",
      heedsCapabilities: true,
      produces: JSON_TYPE,
      doc: {
        id: "showServer",
        summary: "One server, or one instance of it",
        details: "An instance is addressed by <server>-<number>, counted from 1.",
        answers: { 200: { description: "Its entry", content: { "application/json": "Server" } } },
        refusals: [404],
      },
      answer: serverDetail,
    },
    {
      method: "POST",
      path: "/rest/auth/:server",
      service: "auth",
      heedsCapabilities: true,
      consumes: "application/json",
      produces: JSON_TYPE,
      audit: "session",
      doc: {
        id: "openSession",
        summary: "Get a transfer session",
        details: "Has a daemon expect the caller, and says where to connect with which one-time password.",
        body: "SessionRequest",
        answers: { 200: { description: "The session", content: { "application/json": "SessionGrant" } } },
        refusals: OF_SESSIONS,
      },
      answer: (call) => openSession(call, nameService),
    },
  ];
}

/** Certificates for SSH keys, which are shown once. */
function certificateRoutes(parts: CertificateParts): PublishedRoute[] {
  const common = { path: "/rest/auth/ssh-certificate", service: "open", audit: "certificate" } as const;
  return [
    {
      ...common,
      method: "PUT",
      produces: JSON_TYPE,
      doc: {
        id: "uploadSshCertificate",
        summary: "Show an OpenSSH certificate, so that its key signs in while it lives",
        details: "The body is the line of a …-cert.pub file, as curl -T sends it. No login is needed.",
        body: "bytes",
        answers: {
          200: { description: "What counts from now on", content: { "application/json": "SshCertificate" } },
        },
        refusals: [403],
      },
      answer: (call) => uploadCertificate(call, parts),
    },
    {
      ...common,
      method: "DELETE",
      doc: {
        id: "forgetSshCertificate",
        summary: "Forget an OpenSSH certificate that was shown",
        details: "The body is that of the upload.",
        body: "bytes",
        answers: { 204: { description: "Its key counts no more" } },
        refusals: [403, 404],
      },
      answer: (call) => forgetCertificate(call, parts),
    },
  ];
}

/** To what a token can be narrowed; one that is got with it is narrowed at least as much. */
const TOKEN_BOUNDS = {
  path: listOf(
    TEXT,
    "Directories, each absolute and with a slash at its end: sessions and shares lie in them",
  ),
  activity: text(
    "What may be done there: read; write, which is to change as well; all, which is to delete as well",
    {
      enum: ["read", "write", "all"],
    },
  ),
  server: listOf(TEXT, "Logical servers"),
  address: text("Address or range, such as 192.0.2.0/24, from which token, sessions and shares can be used"),
  name: text("By which its owner knows it again", { minLength: 1, maxLength: 100 }),
} as const;

/** Token and certificate, which stand below each service (rest-api.md 1.11). */
function tokenRoutes(
  service: "auth" | "share" | "access",
  { tokens, certificate: own }: ResourceParts,
): PublishedRoute[] {
  const named = service[0]?.toUpperCase() + service.slice(1);
  return [
    {
      method: "GET",
      path: `/rest/${service}/token`,
      // Whoever may not open a session gets nothing that lasts.
      service: "auth",
      permission: "POST",
      produces: ["text/plain"],
      audit: "token",
      doc: {
        id: `issue${named}Token`,
        summary: "A token that stands for the caller",
        query: {
          lifetime: integer("Seconds", { minimum: 1 }),
          renewable: flag("Whether it can be used to get another one"),
          limited: flag("Whether it is for this service only"),
          ...TOKEN_BOUNDS,
        },
        answers: { 200: { description: "A JSON Web Token", content: { "text/plain": "text" } } },
      },
      answer: (call) => issueToken(call, tokens),
    },
    {
      method: "GET",
      path: `/rest/${service}/certificate`,
      service: "auth",
      produces: ["text/plain"],
      doc: {
        id: `show${named}Certificate`,
        summary: "The certificate of the service",
        answers: {
          200: { description: "The certificate, PEM", content: { "text/plain": "text" } },
          204: { description: "The service has none" },
        },
      },
      answer: () => certificate(own()),
    },
  ];
}
