import { printable } from "../model/text.ts";
import type { OutgoingResponse } from "./outgoing_http.ts";

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

/** Returns the error code, such as `invalid_client`, or empty. */
export function errorCode(response: OutgoingResponse): string {
  return errorOf(response).error;
}

function errorOf(
  { headers, body }: OutgoingResponse,
): { readonly error: string; readonly description: string } {
  const said = parse(body);
  const member = (name: string) => {
    const value: unknown = typeof said === "object" && said !== null ? Reflect.get(said, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  const challenge = headers["www-authenticate"] ?? "";
  const parameter = (pattern: RegExp) => pattern.exec(challenge)?.[1] ?? "";
  return {
    error: member("error") || parameter(/\berror="([^"\\]{1,1000})"/),
    description: member("error_description") || parameter(/\berror_description="([^"\\]{1,1000})"/),
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // probably a page
  }
}
