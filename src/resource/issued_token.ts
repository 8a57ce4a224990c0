import { readTokenRequest, type TokenIssuer } from "../authentication/issued_token/issue.ts";
import { restrictionsInWords } from "../authentication/issued_token/restrictions.ts";
import { HeaderList } from "../model/header_list.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { Call } from "./call.ts";
import { textResponse } from "./text_response.ts";

const PLAIN = "text/plain; charset=utf-8";

/** Serves `GET …/token`: a token that stands for the caller (rest-api.md 1.11). */
export async function issueToken(call: Call, tokens: TokenIssuer | undefined): Promise<HttpResponse> {
  if (tokens === undefined) throw httpError("ERR_TOKENS_UNAVAILABLE", "the server has no certificate");
  if (call.caller.kind === "authenticated" && call.caller.identity.bound) throw httpError("ERR_LOGIN_BOUND");
  const request = readTokenRequest(call.query);
  const { preferences, clientAddress, user: { role } } = call;
  const token = await tokens.issue(call.caller, request, { role, preferences, clientAddress });
  const { renewable, limited, lifetime, restrictions } = request;
  call.audit({
    renewable,
    limited,
    lifetime,
    restrictions: restrictions && restrictionsInWords(restrictions),
  });
  return textResponse(token, PLAIN);
}

/** Serves `GET …/certificate`: the server's certificate as PEM, or 204. */
export function certificate(pem: string | undefined): HttpResponse {
  return pem === undefined
    ? { status: 204, headers: new HeaderList(), body: null }
    : textResponse(pem, PLAIN);
}
