import type { AttributeSource } from "../attributes/attribute_source.ts";
import { accountsOf } from "../attributes/server_attributes.ts";
import { userAttributes } from "../attributes/user_attributes.ts";
import { currentIdentity } from "../authentication/account_status.ts";
import { readTokenRequest, type TokenIssuer } from "../authentication/issued_token/issue.ts";
import type { TokenRegistry } from "../authentication/issued_token/token_registry.ts";
import { CODE_SECONDS, type DeviceLogins, POLL_SECONDS } from "../authentication/sign_in/device_logins.ts";
import type { SignIns } from "../authentication/sign_in/sign_ins.ts";
import { parseSignedToken } from "../authentication/signed_token.ts";
import { addressGroup } from "../model/address.ts";
import { HttpError, httpError, invalidRequest } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { printable } from "../model/text.ts";
import type { LoginThrottle } from "../throttling/login_throttle.ts";
import type { Call } from "./call.ts";
import { shellWord } from "./command_lines.ts";
import { DEVICE_PATHS } from "./device_paths.ts";
import { type Form, readForm } from "./form.ts";
import script from "./login.sh" with { type: "text" };
import { jsonResponse, textResponse } from "./text_response.ts";
import { issueToken, PLAIN } from "./token_list.ts";

export interface DeviceParts {
  readonly logins: DeviceLogins;
  readonly signIns: { readonly parts: Pick<SignIns["parts"], "accountStatus"> };
  readonly tokens: TokenIssuer;
  readonly registry: TokenRegistry | undefined; // absent without storage of tokens
  readonly throttle: LoginThrottle;
  readonly attributes: AttributeSource;
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
/** Lifetime of a token whose program requests no lifetime, in seconds; less if the service or the login permits less. */
const DEFAULT_SECONDS = 8 * 3600;
const MAX_CLIENT_LENGTH = 100; // characters of a `client_id`
/** Fields with the same meaning as in the query of `GET /rest/auth/token`. */
const TOKEN_FIELDS = ["lifetime", "renewable", "limited", "path", "activity", "server", "address", "name"];

/** Serves `POST /oauth/device` (RFC 8628, 3.1). @param picture Draws an address for a terminal. */
export async function beginDeviceLogin(
  call: Call,
  { logins, tokens }: DeviceParts,
  picture: (address: string) => string,
): Promise<HttpResponse> {
  const read = await readBegin(call, tokens);
  if (read instanceof HttpError) return oauthError(call, "invalid_request", read.publicMessage);
  const request = { ...read, address: call.clientAddress };
  const { device, user } = await logins.begin(request, addressGroup(call.clientAddress));
  const page = call.base + DEVICE_PATHS.page;
  const complete = `${page}?user_code=${user}`;
  if (!wantsText(call)) {
    return jsonResponse({
      device_code: device,
      user_code: user,
      verification_uri: page,
      verification_uri_complete: complete,
      expires_in: CODE_SECONDS,
      interval: POLL_SECONDS,
    }, NO_STORE);
  }
  const text = `${device}\n\nOpen this page, sign in and compare the code ${user}:\n\n  ${complete}\n\n` +
    `${picture(complete)}\n`;
  return textResponse(text, PLAIN, NO_STORE);
}

/** Serves `POST /oauth/token` (RFC 8628, 3.4): the token, once its user approved. */
export async function pollDeviceLogin(call: Call, parts: DeviceParts): Promise<HttpResponse> {
  const form = await readForm(call);
  if (form.get("grant_type") !== GRANT) {
    return oauthError(call, "unsupported_grant_type", `grant_type: expected ${GRANT}`);
  }
  const polled = await parts.logins.poll(form.get("device_code") ?? "", form.get("client_id")); // not counted: 256 bits
  switch (polled.kind) {
    case "pending":
      return oauthError(call, "authorization_pending", "Not approved yet");
    case "slow":
      return oauthError(call, "slow_down", `Poll every ${POLL_SECONDS} seconds`);
    case "expired":
      return oauthError(call, "expired_token", "Nobody approved the login in time");
    case "unknown":
      return oauthError(call, "invalid_grant", "The device code is unknown, or was used");
    case "denied":
      return oauthError(call, "access_denied", "The login was denied");
    case "approved":
      return await tokenFor(call, polled, parts);
  }
}

/** Issues the token with the rights that the approving user still has. */
async function tokenFor(
  call: Call,
  { identity, role, at, query }: Extract<Awaited<ReturnType<DeviceLogins["poll"]>>, { kind: "approved" }>,
  { signIns, tokens, registry, throttle, attributes }: DeviceParts,
): Promise<HttpResponse> {
  const { dn, browser } = identity;
  const left = await currentIdentity(identity, signIns.parts.accountStatus, call.signal);
  const family = browser && { id: browser.id, expires: browser.ends, since: at, root: browser.id, line: [] };
  const isRevoked = family !== undefined && await registry?.isRevoked({ dn, family });
  if (left === undefined || isRevoked) return oauthError(call, "access_denied", "The login has ended");
  const user = await userAttributes(attributes, left, { preferences: {}, signal: call.signal });
  throttle.admitCaller(left, call.clientAddress, accountsOf(user));
  const asking = {
    ...call,
    caller: { kind: "authenticated", identity: left },
    user: { ...call.user, role },
    query: deviceTokenQuery(query, tokens),
  } as const;
  const token = String((await issueToken(asking, tokens)).body);
  call.log.info("token issued to a program after a login in a browser", { dn });
  if (wantsText(call)) return textResponse(`${token}\n`, PLAIN, NO_STORE);
  const expires_in = Math.floor(parseSignedToken(token).expires - tokens.options.clock() / 1000);
  return jsonResponse({ access_token: token, token_type: "Bearer", expires_in }, NO_STORE);
}

/** Returns the query of a token request, with a lifetime if the program named none. */
export function deviceTokenQuery(query: string, { longestLifetime }: TokenIssuer): URLSearchParams {
  const usual = String(Math.min(DEFAULT_SECONDS, longestLifetime));
  return new URLSearchParams(
    new URLSearchParams(query).has("lifetime") ? query : `${query}&lifetime=${usual}`,
  );
}

/** Serves `GET /login.sh`: a script that logs in and stores the token. It needs a POSIX shell and curl. */
export function loginScript({ base }: Pick<Call, "base">, servers: Iterable<string>): HttpResponse {
  return textResponse(scriptText(base, servers), PLAIN);
}

/** Returns the login script. */
export function scriptText(base: string, [server = "SERVER"]: Iterable<string>): string {
  const { begin, token } = DEVICE_PATHS;
  const service = shellWord(base);
  const values = new Map(
    Object.entries({ base, service, begin, token, server, grant: GRANT, seconds: String(POLL_SECONDS) }),
  );
  return script.replace(/@(\w+)@/g, (whole, name) => values.get(name) ?? whole);
}

/** Reads the request of a program; returns the error if it is invalid. */
async function readBegin(
  call: Call,
  { longestLifetime: longest }: TokenIssuer,
): Promise<{ readonly client: string; readonly query: string } | HttpError> {
  try {
    const form = await readForm(call);
    const client = form.get("client_id") ?? "";
    if (client === "" || client.length > MAX_CLIENT_LENGTH || printable(client) !== client) {
      return invalidRequest(`client_id: expected 1 to ${MAX_CLIENT_LENGTH} characters that can be printed`);
    }
    const query = tokenQuery(form, client);
    const { lifetime = 0 } = readTokenRequest(query);
    if (lifetime > longest) throw httpError("ERR_TOKEN_LIFETIME", { longest });
    return { client, query: query.toString() };
  } catch (error) {
    if (error instanceof HttpError && error.status === 400) return error;
    throw error;
  }
}

function tokenQuery(form: Form, client: string): URLSearchParams {
  const query = new URLSearchParams({ name: client });
  for (const name of TOKEN_FIELDS) {
    const value = form.get(name);
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

const NO_STORE = { headers: { "Cache-Control": "no-store" } };

/** Reports whether the program reads no JSON, like the login script. */
function wantsText({ request }: Call): boolean {
  return request.headers.get("Accept") === "text/plain";
}

/** RFC 6749, 5.2. */
function oauthError(call: Call, error: string, error_description: string): HttpResponse {
  const facts = { status: 400, ...NO_STORE };
  return wantsText(call)
    ? textResponse(`${error}: ${error_description}\n`, PLAIN, facts)
    : jsonResponse({ error, error_description }, facts);
}
