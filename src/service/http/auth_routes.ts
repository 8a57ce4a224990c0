import type { ServiceConfig } from "../../config/service_config.ts";
import { AnswerCache } from "../../model/answer_cache.ts";
import type { NameService } from "../../outgoing/name_service.ts";
import type { DeviceParts } from "../../resource/device_login.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import { serverDetail, serverList } from "../../resource/server_list.ts";
import { type ServiceFacts, ServiceSection } from "../../resource/service_section.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import type { CertificateParts } from "../../resource/ssh_certificate.ts";
import type { SignInParts } from "../../pages/sign_in_page.ts";
import { JSON_TYPE, type Route, table } from "./router.ts";
import { loginRoute, toSignIn } from "./page_routes.ts";

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

const sshCertificates = () => import("../../resource/ssh_certificate.ts");

/** Returns the routes of servers, sessions and login. */
export function authRoutes(parts: AuthParts): Route[] {
  const { certificates, nameService, signIn, unauthenticated } = parts;
  return [
    ...listRoutes(parts),
    ...(signIn === undefined ? [] : [loginRoute(signIn, unauthenticated)]),
    ...table(
      { service: "auth", heedsCapabilities: true, produces: JSON_TYPE },
      ["GET", "/rest/auth/:server", serverDetail],
      [
        "POST",
        "/rest/auth/:server",
        async (call) => (await import("../../resource/open_session.ts")).openSession(call, nameService),
        { consumes: "application/json", audit: "session" },
      ],
    ),
    ...(certificates === undefined ? [] : certificateRoutes(certificates)),
  ];
}

function listRoutes({ servers, facts, sharing, sessions, signIn, devices }: AuthParts): Route[] {
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
      sessions,
      groups,
      hasDeviceLogin: signIn !== undefined && devices !== undefined,
    });
  };
  return table(
    { service: "auth", produces: [...JSON_TYPE, "text/html"], heedsCapabilities: true, page },
    ["GET", "/rest/auth", list],
    ["GET", "/", list, {
      signedIn: true,
      failed: async (failure, asked) => signIn && await toSignIn(failure, asked, ""),
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
