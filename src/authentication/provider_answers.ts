import { attempt } from "../model/attempt.ts";
import type { OutgoingResponse } from "../outgoing/outgoing.ts";
import { printable } from "../model/text.ts";

interface Refusals {
  readonly statuses: readonly number[];
  readonly errors?: readonly string[]; // values of `error` with status 400
  readonly faults?: true; // whether SOAP faults, with status 500, refuse the credential (SOAP 1.1, 6.2)
}

const TOO_LARGE = [413, 431] as const; // a long credential (RFC 9110, 15.5.14; RFC 6585, 5)

/** Responses to wrong credentials, by endpoint. Any other failure counts as an outage: 503, no failed login. */
const REFUSALS = {
  userinfo: { statuses: [400, 401, 403, ...TOO_LARGE] }, // RFC 6750, 3.1
  /** 200 for bad tokens (RFC 7662, 2.2), 401 for bad clients; some send 400 for malformed tokens. */
  introspection: { statuses: TOO_LARGE, errors: ["invalid_request", "invalid_token", "invalid_grant"] },
  code: { statuses: [], errors: ["invalid_grant"] }, // RFC 6749, 5.2: the only error about the code
  /** Unity sends 401 or a fault; Keycloak 401, or 400 for an unknown user. */
  saml: { statuses: [400, 401, 403, ...TOO_LARGE], faults: true },
} as const satisfies Readonly<Record<string, Refusals>>;

/** Returns the log reason if a response refuses the credential; otherwise `undefined`. */
export function refusalIn(endpoint: keyof typeof REFUSALS, response: OutgoingResponse): string | undefined {
  const { statuses, errors = [], faults }: Refusals = REFUSALS[endpoint];
  const { status, body } = response;
  if (faults && status === 500 && /<(?:[\w.-]+:)?Fault[\s/>]/.test(body)) {
    return "the provider answered with a SOAP fault";
  }
  const isHttpError = statuses.includes(status) ||
    (status === 400 && errors.includes(errorOf(response).error));
  return isHttpError ? `the provider answered with status ${status}` : undefined;
}

const MOST = 200; // characters

/** Returns `error` and `error_description` (RFC 6749, 5.2; RFC 6750, 3) for the log, without `secrets`. */
export function errorText(response: OutgoingResponse, secrets: readonly string[]): string {
  if (response.status >= 200 && response.status < 300) return "";
  const { error, description } = errorOf(response);
  const text = [error, description].filter((part) => part !== "").join(": ");
  const clean = secrets.reduce(
    (sofar, secret) => secret === "" ? sofar : sofar.replaceAll(secret, "***"),
    text,
  );
  return printable(clean.length > MOST ? `${clean.slice(0, MOST)}…` : clean);
}

function errorOf(
  { headers, body }: OutgoingResponse,
): { readonly error: string; readonly description: string } {
  const reply: unknown = attempt(() => JSON.parse(body), SyntaxError, () => undefined); // else probably a web page
  const member = (name: string) => {
    const value: unknown = typeof reply === "object" && reply !== null ? Reflect.get(reply, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  const challenge = headers["www-authenticate"] ?? "";
  const parameter = (pattern: RegExp) => pattern.exec(challenge)?.[1] ?? "";
  return {
    error: member("error") || parameter(/\berror="([^"\\]{1,1000})"/),
    description: member("error_description") || parameter(/\berror_description="([^"\\]{1,1000})"/),
  };
}
