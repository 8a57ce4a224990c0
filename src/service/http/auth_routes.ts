import type { ServiceConfig } from "../../config/service_config.ts";
import { AnswerCache } from "../../model/answer_cache.ts";
import type { HttpError } from "../../model/http_error.ts";
import type { NameService } from "../../outgoing/name_service.ts";
import type { Asked, Call } from "../../resource/call.ts";
import type { DeviceParts } from "../../resource/device_login.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import { serverDetail, serverList } from "../../resource/server_list.ts";
import { type ServiceFacts, ServiceSection } from "../../resource/service_section.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import type { CertificateParts } from "../../resource/ssh_certificate.ts";
import type { SignInParts } from "../../pages/sign_in_page.ts";
import { jsonAnswer, OF_SESSIONS } from "./openapi/operation.ts";
import { JSON_TYPE, type PublishedRoute } from "./router.ts";
import { loginRoute, toSignIn } from "./page_routes.ts";
import { text } from "./openapi/schema.ts";

/** Dependencies of the auth routes. */
export interface AuthParts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly facts: ServiceFacts;
  readonly features: ServiceConfig["features"];
  /** Absent if no authenticator takes SSH certificates. */
  readonly certificates: CertificateParts | undefined;
  readonly sharing: SharingParts | undefined;
  /** Clients for data sessions; empty unless files or shares need them. */
  readonly sessions: SharingParts["sessions"];
  /** Absent: host names in requests are dropped. */
  readonly nameService: NameService | undefined;
  readonly signIn: SignInParts | undefined;
  readonly devices: DeviceParts | undefined;
  /** Creates the 401; the reason is for the log. */
  readonly unauthenticated: (reason: string) => Error;
}

/** Returns the routes of servers, sessions and login. */
export function authRoutes(parts: AuthParts): PublishedRoute[] {
  const { certificates, nameService, signIn, unauthenticated } = parts;
  return [
    ...listRoutes(parts),
    ...(signIn === undefined ? [] : [loginRoute(signIn, unauthenticated)]),
    ...serverRoutes(nameService),
    ...(certificates === undefined ? [] : certificateRoutes(certificates)),
  ];
}

function listRoutes({ servers, facts, sharing, sessions, signIn, devices }: AuthParts): PublishedRoute[] {
  const section = new ServiceSection(facts);
  const groups = new AnswerCache<boolean>(facts);
  const list = {
    method: "GET",
    service: "auth",
    produces: [...JSON_TYPE, "text/html"],
    answer: (call: Call) => serverList(call, servers, section),
    heedsCapabilities: true,
    page: async (call: Call) => {
      const { statusPage } = await import("../../pages/status_page.ts");
      const { capabilitiesOf } = await import("../../resource/path_limits.ts");
      return statusPage(call, {
        servers,
        facts,
        sharing: capabilitiesOf(call.caller) === undefined ? sharing : undefined,
        sessions,
        groups,
        hasDeviceLogin: signIn !== undefined && devices !== undefined,
      });
    },
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
          200: jsonAnswer("The list", "ServerList"),
        },
      },
    },
    {
      ...list,
      path: "/",
      signedIn: true,
      failed: async (failure: HttpError, asked: Asked) => signIn && await toSignIn(failure, asked, ""),
      doc: {
        id: "listServersAtRoot",
        summary: "The same",
        answers: {
          200: jsonAnswer("The list", "ServerList"),
        },
      },
    },
  ];
}

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
        answers: { 200: jsonAnswer("Its entry", "Server") },
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
        answers: { 200: jsonAnswer("The session", "SessionGrant") },
        refusals: OF_SESSIONS,
      },
      answer: async (call) => (await import("../../resource/open_session.ts")).openSession(call, nameService),
    },
  ];
}

const certificates = () => import("../../resource/ssh_certificate.ts");

function certificateRoutes(parts: CertificateParts): PublishedRoute[] {
  const common = { path: "/rest/auth/ssh-certificate", service: "open", audit: "certificate" } as const;
  const query = {
    user: text("Account whose own authorized_keys names the authority; absent: the operator's count"),
  };
  return [
    {
      ...common,
      method: "PUT",
      produces: JSON_TYPE,
      doc: {
        id: "uploadSshCertificate",
        summary: "Show an OpenSSH certificate, so that its key signs in while it lives",
        details: "The body is the line of a …-cert.pub file, as curl -T sends it. No login is needed.",
        query,
        body: "bytes",
        answers: {
          200: jsonAnswer("The registered certificate", "SshCertificate"),
        },
        refusals: [403, 503],
      },
      answer: async (call) => (await certificates()).uploadCertificate(call, parts),
    },
    {
      ...common,
      method: "DELETE",
      doc: {
        id: "forgetSshCertificate",
        summary: "Forget an OpenSSH certificate that was shown",
        details: "The body is that of the upload.",
        query,
        body: "bytes",
        answers: { 204: { description: "The certificate is no longer registered" } },
        refusals: [403, 404],
      },
      answer: async (call) => (await certificates()).forgetCertificate(call, parts),
    },
  ];
}
