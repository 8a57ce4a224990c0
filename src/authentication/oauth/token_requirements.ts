import type { Variable, Variables } from "../expression/value.ts";

/** What a token must be made for. Without any of these, every valid token of the provider opens the door. */
export interface TokenRequirements {
  /** Must be in `aud` (RFC 7519 section 4.1.3). */
  readonly requiredAudience: string | undefined;
  /** Must be the `client_id` (RFC 7662) or `azp`; of both, if both are there. */
  readonly requiredClient: string | undefined;
  /** Must be among the words of `scope`. */
  readonly requiredScope: string | undefined;
}

/**
 * Checks what a token was made for. What the provider's reply does not say is looked up in the token itself, if that is
 * a JWT: the provider has just accepted this very token, so what it says can be believed.
 * @returns What is missing, for the log; `undefined` if nothing is.
 */
export function unmetRequirement(
  required: TokenRequirements,
  reply: Variables,
  claims: Variables | undefined,
): string | undefined {
  const said = (name: string) => reply.get(name) ?? claims?.get(name);
  const { requiredAudience: audience, requiredClient: client, requiredScope: scope } = required;
  if (audience !== undefined && !texts(said("aud")).includes(audience)) {
    return "the token is not for the required audience";
  }
  if (client !== undefined) {
    const clients = [...texts(said("client_id")), ...texts(said("azp"))];
    if (clients.length === 0 || clients.some((other) => other !== client)) {
      return "the token was not made for the required client";
    }
  }
  if (scope !== undefined && !texts(said("scope")).flatMap((words) => words.split(" ")).includes(scope)) {
    return "the token has not the required scope";
  }
  return undefined;
}

function texts(variable: Variable | undefined): readonly string[] {
  if (typeof variable === "string") return [variable];
  if (variable === undefined || variable instanceof Map) return [];
  const items: string[] = [];
  for (const item of variable) if (typeof item === "string") items.push(item);
  return items;
}
