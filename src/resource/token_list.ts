import { restrictionsClaim, restrictionsInWords } from "../authentication/issued_token/restrictions.ts";
import type {
  ListedToken,
  TokenOwner,
  TokenRegistry,
} from "../authentication/issued_token/token_registry.ts";
import { isoTime } from "../model/clock.ts";
import { restrictionsOf } from "../model/identity.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import { isRestricted } from "../model/token_restrictions.ts";
import type { Call } from "./call.ts";
import { callerName } from "./share/names.ts";
import { emptyResponse, jsonResponse, textResponse } from "./text_response.ts";
import {
  readTokenRequest,
  type TokenIssuer,
  type TokenRequest,
} from "../authentication/issued_token/issue.ts";

/** Serves `GET /rest/auth/tokens`: the caller's active tokens; a restricted token sees only itself (rest-api.md 1.11). */
export async function listTokens(call: Call, registry: TokenRegistry | undefined): Promise<HttpResponse> {
  const own = shownId(call);
  const tokens = await listedTokens(call, kept(registry));
  return jsonResponse({ tokens: tokens.map((token) => tokenEntry(token, own)) });
}

/** Returns the caller's active tokens; a restricted token sees only itself. */
export async function listedTokens(call: Call, registry: TokenRegistry): Promise<readonly ListedToken[]> {
  const tokens = await registry.list(ownerOf(call));
  return hasRestrictedToken(call) ? tokens.filter(({ id }) => id === shownId(call)) : tokens;
}

/** Serves `DELETE /rest/auth/tokens/<id>`. @throws {ERR_TOKEN_RESTRICTIONS | ERR_NOT_FOUND | ERR_TOKENS_NOT_KEPT} */
export async function revokeToken(
  call: Call,
  registry: Pick<TokenRegistry, "revoke"> | undefined,
): Promise<HttpResponse> {
  const id = call.params.get("id") ?? "";
  if (hasRestrictedToken(call) && id !== shownId(call)) throw endsItselfOnly();
  call.audit({ token: id.slice(0, MAX_ID_LENGTH) });
  if (!await kept(registry).revoke(ownerOf(call), id)) {
    throw httpError("ERR_NOT_FOUND", { what: "The token" });
  }
  return emptyResponse({ status: 204 });
}

/** Serves `DELETE /rest/auth/tokens`: revokes all of the caller's tokens. @throws As {@link revokeToken}. */
export async function revokeTokens(
  call: Call,
  registry: Pick<TokenRegistry, "revokeAll"> | undefined,
): Promise<HttpResponse> {
  if (hasRestrictedToken(call)) throw endsItselfOnly();
  const ended = await kept(registry).revokeAll(ownerOf(call));
  call.audit({ ended });
  return jsonResponse({ ended });
}

/** Returns a token for its owner or the operator. @param own Id of the token in the request. */
export function tokenEntry(
  { id, name, made, expires, used, madeFrom, by, renewable, limited, restrictions }: ListedToken,
  own?: string,
) {
  return {
    id,
    name,
    made: isoTime(made * 1000),
    ends: isoTime(expires * 1000),
    madeFrom,
    madeBy: by,
    lastUsed: used?.day,
    lastUsedFrom: used?.address,
    renewable,
    limited,
    ...restrictionsClaim(restrictions),
    current: id === own ? true : undefined,
  };
}

const MAX_ID_LENGTH = 64;
/** Media type of plain text. */
export const PLAIN = "text/plain; charset=utf-8";

function kept<Registry>(registry: Registry | undefined): Registry {
  if (registry === undefined) throw httpError("ERR_TOKENS_NOT_KEPT");
  return registry;
}

function ownerOf({ caller }: Call): TokenOwner {
  return {
    dn: callerName(caller),
    servers: caller.kind === "anonymous" ? undefined : caller.identity.uidServers,
  };
}

function shownId({ caller }: Call): string | undefined {
  return caller.kind === "anonymous" ? undefined : caller.identity.issuedToken?.family?.id;
}

function hasRestrictedToken({ caller }: Call): boolean {
  return isRestricted(restrictionsOf(caller));
}

function endsItselfOnly(): Error {
  return httpError("ERR_TOKEN_RESTRICTIONS", { restrictions: "it can revoke only itself" });
}

/** Serves `GET …/token`: issues a token for the caller (rest-api.md 1.11). */
export async function issueToken(
  call: Call,
  tokens: Pick<TokenIssuer, "issue"> | undefined,
): Promise<HttpResponse> {
  if (tokens === undefined) throw httpError("ERR_TOKENS_UNAVAILABLE", "the server has no certificate");
  const identity = call.caller.kind === "authenticated" ? call.caller.identity : undefined;
  if (identity?.bound) throw httpError("ERR_LOGIN_BOUND");
  const request = readTokenRequest(call.query);
  const { preferences, clientAddress, user: { role, outage } } = call;
  // The renewed token, and all after it, would be limited to the role that is left.
  if (outage && role !== "admin" && identity?.issuedToken?.highestRole === "admin") throw outage;
  const token = await tokens.issue(call.caller, request, { role, preferences, clientAddress });
  call.audit(tokenFacts(request));
  return textResponse(token, PLAIN);
}

/** Returns the kind of a requested token for the audit stream. */
export function tokenFacts({ renewable, limited, lifetime, restrictions }: TokenRequest) {
  return { renewable, limited, lifetime, restrictions: restrictions && restrictionsInWords(restrictions) };
}

/** Serves `GET …/certificate`: the server's certificate as PEM, or 204. */
export function certificateResponse(pem: string | undefined): HttpResponse {
  return pem === undefined ? emptyResponse({ status: 204 }) : textResponse(pem, PLAIN);
}
