import type { TokenIssuer } from "../../authentication/issued_token/issue.ts";
import type { TokenRegistry } from "../../authentication/issued_token/token_registry.ts";
import { jsonAnswer } from "./openapi/operation.ts";
import { flag, integer, listOf, TEXT, text } from "./openapi/schema.ts";
import { JSON_TYPE, type PublishedRoute } from "./router.ts";

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

/** Restrictions of a new token; those of the token in the request apply too. */
const TOKEN_RESTRICTIONS = {
  path: listOf(
    TEXT,
    "Directories, each absolute and with a slash at its end: sessions and shares lie in them",
  ),
  activity: text(
    "What may be done there: read; write, which is to change as well; all, which is to delete as well",
    {
      enum: ["read", "write", "all"],
    },
  ),
  server: listOf(TEXT, "Logical servers"),
  address: text("Address or range, such as 192.0.2.0/24, from which token, sessions and shares can be used"),
  name: text("By which its owner knows it again", { minLength: 1, maxLength: 100 }),
} as const;

/** Returns the routes of token and certificate below each service (rest-api.md 1.11). */
export function tokenRoutes(
  service: "auth" | "share" | "access",
  { tokens, certificate: own }: TokenParts,
): PublishedRoute[] {
  const named = service[0]?.toUpperCase() + service.slice(1);
  return [
    {
      method: "GET",
      path: `/rest/${service}/token`,
      // Tokens outlive the request, so they need the permission for sessions.
      service: "auth",
      permission: "POST",
      produces: ["text/plain"],
      audit: "token",
      doc: {
        id: `issue${named}Token`,
        summary: "A token that stands for the caller",
        query: {
          lifetime: integer("Seconds", { minimum: 1 }),
          renewable: flag("Whether it can be used to get another one"),
          limited: flag("Whether the token is for this service only"),
          ...TOKEN_RESTRICTIONS,
        },
        answers: { 200: { description: "A JSON Web Token", content: { "text/plain": "text" } } },
      },
      answer: async (call) => (await resources()).issueToken(call, tokens),
    },
    {
      method: "GET",
      path: `/rest/${service}/certificate`,
      service: "auth",
      produces: ["text/plain"],
      doc: {
        id: `show${named}Certificate`,
        summary: "The certificate of the service",
        answers: {
          200: { description: "The certificate, PEM", content: { "text/plain": "text" } },
          204: { description: "The service has none" },
        },
      },
      answer: async () => (await resources()).certificate(own()),
    },
  ];
}

/** Returns the routes of a caller's tokens; who may issue tokens may revoke them. */
export function tokenListRoutes({ registry }: TokenParts): PublishedRoute[] {
  const common = { path: "/rest/auth/tokens", service: "auth", permission: "POST" } as const;
  const revoking = { ...common, method: "DELETE", audit: "revoke" } as const;
  return [
    {
      ...common,
      method: "GET",
      produces: JSON_TYPE,
      doc: {
        id: "listTokens",
        summary: "The caller's tokens that count",
        details: "A narrowed token shows itself alone. At most 1,000 are listed, those that end last.",
        answers: { 200: jsonAnswer("The list", "TokenList") },
        refusals: [501],
      },
      answer: async (call) => (await resources()).listTokens(call, registry),
    },
    {
      ...revoking,
      produces: JSON_TYPE,
      doc: {
        id: "revokeTokens",
        summary: "Take all of the caller's tokens back",
        details: "Those that are not listed as well. Not with a narrowed token.",
        answers: { 200: jsonAnswer("All tokens are revoked", "TokensRevoked") },
        refusals: [501],
      },
      answer: async (call) => (await resources()).revokeTokens(call, registry),
    },
    {
      ...revoking,
      path: "/rest/auth/tokens/:id",
      doc: {
        id: "revokeToken",
        summary: "Take one of the caller's tokens back, and those that were got with it",
        details: "A restricted token can only revoke itself.",
        answers: { 204: { description: "The token is revoked" } },
        refusals: [404, 501],
      },
      answer: async (call) => (await resources()).revokeToken(call, registry),
    },
  ];
}
