import type { TokenIssuer } from "../authentication/authenticator.ts";
import { SIGNATURE_ALGORITHMS } from "../authentication/signed_token.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { jsonResponse } from "./text_response.ts";

/** Where clients read whose tokens they need (RFC 9728, 3). */
export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/**
 * What clients need to know to get a token for this service (RFC 9728, 2). Not signed: it comes over TLS from the service
 * itself.
 * @param site.base Of links, without trailing slash.
 */
export function protectedResource(
  site: { readonly base: string; readonly name: string },
  issuers: readonly TokenIssuer[],
): HttpResponse {
  const scopes = [...new Set(issuers.flatMap(({ scopes }) => scopes))];
  return jsonResponse({
    resource: site.base,
    resource_name: site.name,
    authorization_servers: [...new Set(issuers.map(({ url }) => url))],
    bearer_methods_supported: ["header"],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    dpop_signing_alg_values_supported: SIGNATURE_ALGORITHMS,
  });
}
