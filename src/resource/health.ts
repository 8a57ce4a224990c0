import type { ErrorBody } from "../model/error_body.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { ServiceError } from "../model/service_error.ts";
import type { ServerFacts } from "./server_facts.ts";
import { jsonResponse } from "./text_response.ts";

/** No session can be created on any logical server. */
export class NotReady extends ServiceError {
  readonly code = "ERR_NOT_READY";
  readonly status = 503;
  readonly publicMessage = "No transfer server can take a session";
  override readonly headers = { "Retry-After": "10" };
}

/** `GET /health/live`: the service answers, so it lives. */
export function liveness(): HttpResponse {
  return jsonResponse({ live: true });
}

/**
 * `GET /health/ready`: 200 if a session can be created on some logical server (or none is configured), else 503. Tells
 * numbers only: who asks is unknown.
 */
export function readiness(
  servers: ReadonlyMap<string, ServerFacts>,
  generation: number,
  requestId: string,
): HttpResponse {
  const all = [...servers.values()];
  const usable = all.filter(({ daemons }) => daemons.status().usable).length;
  const ready = usable > 0 || all.length === 0;
  const facts = { ready, servers: { total: all.length, usable }, generation };
  if (ready) return jsonResponse(facts);
  const { status, publicMessage: errorMessage, code, headers } = new NotReady();
  const error: ErrorBody = { status, errorMessage, code, requestId };
  return jsonResponse({ ...error, ...facts }, { status, headers });
}
