import type { TokenIssuer } from "../../authentication/issued_token/issue.ts";
import type { TokenRegistry } from "../../authentication/issued_token/token_registry.ts";
import { JSON_TYPE, type Route, table } from "./router.ts";

/** Dependencies of the token routes. */
export interface TokenParts {
  /** Absent without a signing certificate. */
  readonly tokens: TokenIssuer | undefined;
  /** Absent without storage of tokens. */
  readonly registry: TokenRegistry | undefined;
  /** PEM. */
  readonly certificate: () => string | undefined;
}

const resources = () => import("../../resource/token_list.ts");

const TOKEN_QUERY = {
  lifetime: "integer",
  renewable: "boolean",
  limited: "boolean",
  path: "array",
  activity: "string",
  server: "array",
  address: "string",
  name: "string",
} as const;

/** Returns the routes of token and certificate below each service (rest-api.md 1.11). */
export function tokenRoutes(
  service: "auth" | "share" | "access",
  { tokens, certificate: own }: TokenParts,
): Route[] {
  return table(
    { service: "auth", produces: ["text/plain"] },
    ["GET", `/rest/${service}/token`, async (call) => (await resources()).issueToken(call, tokens), {
      permission: "POST", // tokens outlive the request, so they need the permission for sessions
      audit: "token",
      query: TOKEN_QUERY,
    }],
    ["GET", `/rest/${service}/certificate`, async () => (await resources()).certificate(own())],
  );
}

/** Returns the routes of a caller's tokens; who may issue tokens may revoke them. */
export function tokenListRoutes({ registry }: TokenParts): Route[] {
  const path = "/rest/auth/tokens";
  const json = { produces: JSON_TYPE };
  return table(
    { service: "auth", permission: "POST" },
    ["GET", path, async (call) => (await resources()).listTokens(call, registry), json],
    ["DELETE", path, async (call) => (await resources()).revokeTokens(call, registry), {
      ...json,
      audit: "revoke",
    }],
    ["DELETE", `${path}/:id`, async (call) => (await resources()).revokeToken(call, registry), {
      audit: "revoke",
    }],
  );
}
