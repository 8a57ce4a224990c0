import type { TokenIssuer } from "../../authentication/authenticator.ts";
import { liveness, readiness, type ReadinessFacts } from "../../resource/health.ts";
import { METADATA_PATH, protectedResource } from "../../resource/protected_resource.ts";
import { jsonAnswer } from "./openapi/operation.ts";
import { JSON_TYPE, type PublishedRoute } from "./router.ts";

/** Dependencies of the public routes. */
export interface OpenParts extends ReadinessFacts {
  readonly facts: { readonly siteName: string };
  readonly issuers: readonly TokenIssuer[]; // accepted token issuers
}

/** Returns the routes without login: health and metadata. */
export function openRoutes(parts: OpenParts): PublishedRoute[] {
  return [...healthRoutes(parts), ...(parts.issuers.length > 0 ? [metadataRoute(parts)] : [])];
}

function healthRoutes(facts: ReadinessFacts): PublishedRoute[] {
  return [
    {
      method: "GET",
      path: "/health/live",
      service: "open",
      produces: JSON_TYPE,
      doc: {
        id: "isAlive",
        summary: "Whether the service answers",
        answers: { 200: jsonAnswer("It does", "Live") },
      },
      answer: () => liveness(),
    },
    {
      method: "GET",
      path: "/health/ready",
      service: "open",
      produces: JSON_TYPE,
      doc: {
        id: "isReady",
        summary: "Whether the server can open a session on some server, and the service is to go on",
        answers: {
          200: jsonAnswer("It can", "Ready"),
          503: jsonAnswer("It cannot", "NotReady"),
        },
      },
      answer: ({ requestId }) => readiness(facts, requestId),
    },
  ];
}

function metadataRoute({ facts, issuers }: OpenParts): PublishedRoute {
  return {
    method: "GET",
    path: METADATA_PATH,
    service: "open",
    produces: JSON_TYPE,
    doc: {
      id: "describeTokens",
      summary: "Who makes tokens for this service (RFC 9728)",
      answers: {
        200: jsonAnswer("The metadata", "ProtectedResource"),
      },
    },
    answer: ({ base }) => protectedResource({ base, name: facts.siteName }, issuers),
  };
}
