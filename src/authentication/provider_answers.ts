import { errorCode } from "../outgoing/error_text.ts";
import type { OutgoingResponse } from "../outgoing/outgoing_http.ts";

interface Refusals {
  readonly statuses: readonly number[];
  readonly errors?: readonly string[]; // values of `error` with status 400
  readonly faults?: true; // whether SOAP faults refuse, with status 500 (SOAP 1.1, 6.2)
}

/** Responses to wrong credentials, by endpoint. Any other failure counts as an outage: 503, no failed login. */
const REFUSALS = {
  userinfo: { statuses: [400, 401, 403] }, // RFC 6750, 3.1
  /** 200 for bad tokens (RFC 7662, 2.2), 401 for bad clients; some send 400 for malformed tokens. */
  introspection: { statuses: [], errors: ["invalid_request", "invalid_token", "invalid_grant"] },
  code: { statuses: [], errors: ["invalid_grant"] }, // RFC 6749, 5.2: the only error about the code
  /** Unity sends 401 or a fault; Keycloak 401, or 400 for an unknown user. */
  saml: { statuses: [400, 401, 403], faults: true },
} as const satisfies Readonly<Record<string, Refusals>>;

/** Returns the log reason if a response refuses the credential; otherwise `undefined`. */
export function refusalIn(endpoint: keyof typeof REFUSALS, response: OutgoingResponse): string | undefined {
  const { statuses, errors = [], faults }: Refusals = REFUSALS[endpoint];
  const { status, body } = response;
  if (faults && status === 500 && /<(?:[\w.-]+:)?Fault[\s/>]/.test(body)) {
    return "the provider answered with a SOAP fault";
  }
  const isHttpError = statuses.includes(status) || (status === 400 && errors.includes(errorCode(response)));
  return isHttpError ? `the provider answered with status ${status}` : undefined;
}
