import type { TokenIssuer } from "../authentication/authenticator.ts";
import { SIGNATURE_ALGORITHMS } from "../authentication/signed_token.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { jsonResponse } from "./text_response.ts";

/** Path of the resource metadata (RFC 9728, 3). */
export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** Returns the metadata of this protected resource (RFC 9728, 2), unsigned since TLS protects it. */
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
