import type { ServerFacts } from "./server_facts.ts";
import { jsonResponse } from "./text_response.ts";

/** `GET /health/live`: the service answers, so it lives. */
export function liveness(): Response {
  return jsonResponse({ status: "live" });
}

/**
 * `GET /health/ready`: 200 if a session can be created on some logical server (or none is configured), else 503. Tells
 * numbers only: who asks is unknown.
 */
export function readiness(servers: ReadonlyMap<string, ServerFacts>, generation: number): Response {
  const all = [...servers.values()];
  const usable = all.filter(({ daemons }) => daemons.status().usable).length;
  const ready = usable > 0 || all.length === 0;
  const body = { status: ready ? "ready" : "not ready", servers: { total: all.length, usable }, generation };
  return jsonResponse(body, ready ? {} : { status: 503, headers: { "Retry-After": "10" } });
}
