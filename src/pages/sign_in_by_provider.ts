import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { requesterOf } from "../authentication/requester_of.ts";
import type { BrowserLogin, BrowserVisit, EndedLogins } from "../authentication/authenticator.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { decodeBase64Url } from "../model/base64.ts";
import { attempt } from "../model/attempt.ts";
import { sameSecret } from "../model/secret.ts";
import { httpError, invalidRequest } from "../model/http_error.ts";
import { InvalidToken, readForeignToken } from "../authentication/signed_token.ts";
import { readForm } from "../resource/form.ts";
import type { Call } from "../resource/call.ts";
import { throttleLogin } from "../throttling/login_throttle.ts";
import { emptyResponse, redirect } from "../resource/text_response.ts";
import { signedIn, type SignInParts } from "./sign_in_page.ts";
import { SignInAttempt, wantedPage } from "./sign_in_attempt.ts";

/** Serves `GET /login/<method>`: redirects to a provider. */
export async function providerRedirect(call: Call, parts: SignInParts): Promise<HttpResponse> {
  const { name, login } = providerOf(call, parts);
  const attempt = SignInAttempt.of(call);
  const salt = randomBytes(16).toString("base64url");
  const to = wantedPage(call.query.get("to"));
  const parameters = authParameters(call, attempt, { name, salt, to });
  const location = await login.begin(parameters, requesterOf(call, salt, call.signal));
  const response = redirect(location);
  attempt.keep(response);
  return response;
}

/** Serves `GET /login/<method>/done`: signs in a browser that returns from a provider. */
export async function providerCallback(call: Call, parts: SignInParts): Promise<HttpResponse> {
  const { name, login } = providerOf(call, parts);
  const { query } = call;
  const attempt = SignInAttempt.require(call);
  const [state = "", again] = query.getAll("state");
  const [salt = "", , wanted = ""] = state.split(".", 3);
  const to = wantedPage(decodeBase64Url(wanted)?.toString("utf8") ?? "");
  const expected = authParameters(call, attempt, { name, salt, to });
  if (again !== undefined || !sameSecret(state, expected.state)) {
    throw httpError("ERR_PAGE_OUTDATED", "the state belongs to another browser or provider");
  }
  const began = parts.signIns.parts.clock();
  const outcome = await throttleLogin(parts.admit("sign-ins", call.clientAddress, call.signal), async () => {
    const outcome = await login.finish(query, expected, requesterOf(call, salt, call.signal));
    if (outcome.kind === "refused") throw parts.unauthenticated(`${name}: ${outcome.reason}`);
    return outcome;
  });
  // Other authenticators of the same issuer may accept the token too, with fewer facts.
  const identified = await call.recognise(outcome.authorization, name);
  return await signedIn(call, identified, parts, { to, session: outcome.session, began });
}

/** Serves `POST /oidc/backchannel-logout` (OIDC Back-Channel Logout 1.0, 2.5). */
export async function logoutByProvider(call: Call, parts: SignInParts): Promise<HttpResponse> {
  const text = (await readForm(call)).get("logout_token") ?? "";
  const claimed = attempt(() => readForeignToken(text)?.claims.get("iss"), InvalidToken, () => undefined);
  const known = [...parts.ways.providers].filter(([, { issuer }]) => issuer === claimed);
  const reasons: string[] = [];
  let done = false;
  for (const [name, login] of known) {
    try {
      const end = (logins: EndedLogins) => parts.signIns.endLogins(name, logins);
      call.audit({ ended: await login.readLogout(text, end, call.signal) });
      done = true;
    } catch (error) {
      if (!(error instanceof InvalidToken)) throw error;
      reasons.push(error.message);
    }
  }
  if (!done) {
    call.log.info("logout token refused", { reason: reasons.join("; ") || "unknown issuer" });
    throw invalidRequest("The logout token is invalid");
  }
  return emptyResponse({ status: 200, headers: { "Cache-Control": "no-store" } });
}

/** Values of one attempt, derived from the browser's secret and the provider's name. */
function authParameters(
  { base }: Call,
  attempt: SignInAttempt,
  { name, salt, to }: { readonly name: string; readonly salt: string; readonly to: string },
): BrowserVisit {
  return {
    redirectUri: `${base}/login/${name}/done`,
    state: [salt, attempt.derive("state", name, salt, to), Buffer.from(to).toString("base64url")].join("."),
    nonce: attempt.derive("nonce", name, salt),
    verifier: attempt.derive("verifier", name, salt),
  };
}

function providerOf({ params }: Call, { ways }: SignInParts): { name: string; login: BrowserLogin } {
  const name = params.get("way") ?? "";
  const login = ways.providers.get(name);
  if (login === undefined) throw httpError("ERR_NOT_FOUND", { what: "This login" });
  return { name, login };
}
