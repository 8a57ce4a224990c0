import type { TokenIssuer } from "../authentication/issued_token/issue.ts";
import { liveness, readiness } from "../resource/health.ts";
import { certificate, issueToken } from "../resource/issued_token.ts";
import { openSession } from "../resource/open_session.ts";
import type { ServerFacts } from "../resource/server_facts.ts";
import { serverDetail, serverList, type ServiceFacts } from "../resource/server_list.ts";
import type { Route } from "./router.ts";

/** What the resources are made of. */
export interface ResourceParts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly facts: ServiceFacts;
  /** Absent without a certificate to sign with. */
  readonly tokens: TokenIssuer | undefined;
  /** Own certificate as PEM. */
  readonly certificate: () => string | undefined;
  readonly generation: number;
}

const JSON_TYPE = ["application/json"] as const;
const HTML_OR_JSON = [...JSON_TYPE, "text/html"] as const;

/** Every resource of the service, and who answers it. */
export function routesOf({ servers, facts, tokens, certificate: own, generation }: ResourceParts): Route[] {
  return [
    {
      method: "GET",
      path: "/health/live",
      service: "open",
      produces: JSON_TYPE,
      answer: () => liveness(),
    },
    {
      method: "GET",
      path: "/health/ready",
      service: "open",
      produces: JSON_TYPE,
      answer: ({ requestId }) => readiness(servers, generation, requestId),
    },
    {
      method: "GET",
      path: "/rest/auth",
      service: "auth",
      produces: HTML_OR_JSON,
      answer: (call) => serverList(call, servers, facts),
    },
    {
      method: "GET",
      path: "/rest/auth/token",
      service: "auth",
      produces: ["text/plain"],
      audit: "token",
      answer: (call) => issueToken(call, tokens),
    },
    {
      method: "GET",
      path: "/rest/auth/certificate",
      service: "auth",
      produces: ["text/plain"],
      answer: () => certificate(own()),
    },
    {
      method: "GET",
      path: "/rest/auth/:server",
      service: "auth",
      produces: JSON_TYPE,
      answer: (call) => serverDetail(call, servers),
    },
    {
      method: "POST",
      path: "/rest/auth/:server",
      service: "auth",
      consumes: "application/json",
      produces: JSON_TYPE,
      audit: "session",
      answer: (call) => openSession(call, servers),
    },
  ];
}
