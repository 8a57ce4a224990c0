import type { AcceptedLogin } from "../../authentication/accepted_logins.ts";
import type { TokenIssuer } from "../../authentication/authenticator.ts";
import type { TokenRegistry } from "../../authentication/issued_token/token_registry.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { NameService } from "../../outgoing/name_service.ts";
import type { SignInParts } from "../../pages/sign_in_page.ts";
import type { AdminApi } from "../../resource/admin/admin_api.ts";
import type { AdminParts } from "../../resource/admin/administration.ts";
import type { DavParts } from "../../resource/dav/dav_call.ts";
import type { DeviceParts } from "../../resource/device_login.ts";
import type { ReadinessFacts } from "../../resource/health.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import type { CertificateParts } from "../../resource/ssh_certificate.ts";

/** Dependencies of the routes; a part that is not configured is undefined. */
export interface RouteParts extends AdminParts, ReadinessFacts {
  readonly admin: AdminApi;
  readonly servers: AdminParts["servers"];
  readonly features: ServiceConfig["features"];
  readonly accepted: readonly AcceptedLogin[];
  readonly issuers: readonly TokenIssuer[]; // accepted token issuers
  readonly registry: TokenRegistry | undefined; // absent without storage of tokens
  readonly certificate: () => string | undefined; // of the service, PEM
  readonly certificates: CertificateParts | undefined; // absent if no authenticator takes SSH certificates
  readonly sharing: SharingParts | undefined;
  readonly files: DavParts | undefined; // absent unless users may reach their own files
  readonly nameService: NameService | undefined; // absent: host names in requests are dropped
  readonly signIn: SignInParts | undefined;
  readonly devices: DeviceParts | undefined;
  readonly unauthenticated: (reason: string) => Error; // creates the 401; the reason is for the log
}
