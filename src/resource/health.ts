import type { ErrorBody } from "../model/error_body.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { refuse } from "../model/service_error.ts";
import type { ServerFacts } from "./server_facts.ts";
import { jsonResponse } from "./text_response.ts";

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
  const { status, publicMessage: errorMessage, code, headers } = refuse("ERR_NOT_READY");
  const error: ErrorBody = { status, errorMessage, code, requestId };
  return jsonResponse({ ...error, ...facts }, { status, headers });
}
