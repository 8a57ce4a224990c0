import { errorCode } from "../outgoing/error_text.ts";
import type { OutgoingResponse } from "../outgoing/outgoing_http.ts";

/** Answers of one endpoint that are about the credential which the caller showed. */
interface Refusals {
  readonly statuses: readonly number[];
  /** Values of `error` with status 400. */
  readonly errors?: readonly string[];
  /** Whether SOAP faults are, which have status 500 (SOAP 1.1, 6.2). */
  readonly faults?: true;
}

/**
 * What identity providers answer to wrong credentials, by endpoint. Whatever else is no usable answer is about the provider,
 * or about how this service asks: callers then get 503, and no failure counts.
 */
const REFUSALS = {
  /** RFC 6750, 3.1. */
  userinfo: { statuses: [400, 401, 403] },
  /** 200 about bad tokens (RFC 7662, 2.2), 401 to bad clients; some say 400 of what they take for no token at all. */
  introspection: { statuses: [], errors: ["invalid_request", "invalid_token", "invalid_grant"] },
  /** RFC 6749, 5.2: this alone is about the code. */
  code: { statuses: [], errors: ["invalid_grant"] },
  /** Unity answers 401 or a fault; Keycloak 401 to a wrong password, and 400 to a user whom it does not have. */
  saml: { statuses: [400, 401, 403], faults: true },
} as const satisfies Readonly<Record<string, Refusals>>;

/** Returns why an answer refuses the caller's credential, for the log; `undefined` if it is about something else. */
export function refusalIn(endpoint: keyof typeof REFUSALS, response: OutgoingResponse): string | undefined {
  const { statuses, errors = [], faults }: Refusals = REFUSALS[endpoint];
  const { status, body } = response;
  if (faults && status === 500 && /<(?:[\w.-]+:)?Fault[\s/>]/.test(body)) {
    return "the provider answered with a SOAP fault";
  }
  const isHttpError = statuses.includes(status) || (status === 400 && errors.includes(errorCode(response)));
  return isHttpError ? `the provider answered with status ${status}` : undefined;
}
