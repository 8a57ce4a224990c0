import type { OutgoingRequest, OutgoingResponse } from "../../outgoing/outgoing_http.ts";
import { errorText, refusalIn } from "../provider_answers.ts";
import type { Asker } from "../../outgoing/remote_system.ts";
import type { Variables } from "../expression/value.ts";
import { clientLogin, formRequest } from "./client_login.ts";
import type { OAuthConfig } from "./oauth_config.ts";
import type { Provider } from "./provider.ts";
import { InvalidReply, parseReply } from "./reply_variables.ts";

type ProviderReply =
  | { readonly kind: "said"; readonly claims: Variables }
  | { readonly kind: "refused"; readonly reason: string }; // for the log

/**
 * Asks about a token: at userinfo (OIDC Core 1.0, 5.3) with the token, or at introspection (RFC 7662) as a
 * client. Only a status about the token refuses it; one about client or provider is an outage.
 * @throws {RemoteUnavailable}
 */
export async function askAbout(
  token: string,
  { provider, config, now, asker }: {
    readonly provider: Provider;
    readonly config: Pick<OAuthConfig, "introspection" | "issuer">;
    readonly now: number;
    readonly asker: Asker;
  },
): Promise<ProviderReply> {
  const { introspection } = config;
  const sort = introspection === undefined ? "userinfo" : "introspection";
  const url = await provider.tokenEndpoint(sort, asker);
  const request = introspection === undefined ? userinfoRequest(url, token) : formRequest(
    url,
    await clientLogin(introspection, { audience: config.issuer ?? url, now }),
    [["token", token]],
  );
  return await provider.ask(request, asker, (response) => {
    const unusable = (reason: string, cause?: unknown) => provider.unusable(url, reason, cause);
    const text = errorText(response, [
      token,
      introspection === undefined || "key" in introspection ? "" : introspection.clientSecret,
    ]);
    const said = text === "" ? "" : `, ${text}`;
    const refusal = refusalIn(sort, response);
    if (refusal !== undefined) return { kind: "refused", reason: `${refusal}${said}` };
    const diagnostic = responseDiagnostic(response, said);
    if (diagnostic !== undefined) throw unusable(diagnostic);
    const claims = read(response, unusable);
    const active = claims.get("active");
    return active !== "true" && (active !== undefined || sort === "introspection")
      ? { kind: "refused", reason: "the token is not active" }
      : { kind: "said", claims };
  });
}

function userinfoRequest(url: string, token: string): OutgoingRequest {
  return {
    method: "GET",
    url,
    headers: { Accept: "application/json", Authorization: `Bearer ${token}` },
  };
}

function responseDiagnostic({ status, headers }: OutgoingResponse, said: string): string | undefined {
  if (status < 200 || status >= 300) return `unexpected status ${status}${said}`;
  return headers["content-type"]?.startsWith("application/jwt")
    ? "signed userinfo replies (application/jwt) are not supported"
    : undefined;
}

function read({ body }: OutgoingResponse, unusable: (reason: string, cause: unknown) => Error): Variables {
  try {
    return parseReply(body);
  } catch (error) {
    if (error instanceof InvalidReply) throw unusable(error.message, error);
    throw error;
  }
}
