import { httpError } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import type { ServerFacts } from "./server_facts.ts";
import { jsonResponse } from "./text_response.ts";

/** Serves `GET /health/live`. */
export function liveness(): HttpResponse {
  return jsonResponse({ live: true });
}

export interface ReadinessFacts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly generation: number;
  readonly draining: () => boolean; // whether the service is shutting down
  readonly cluster: (() => ClusterHealth) | undefined; // absent for a single instance
}

/** Anonymous state of a cluster. */
export interface ClusterHealth {
  readonly instances: { readonly total: number; readonly serving: number };
  readonly configurationsDiffer: boolean;
  readonly degraded: boolean; // whether the shared database is down or degraded, so that some requests fail
}

/** Serves `GET /health/ready`, anonymously: 200 if a session can be created, or no server is configured; also without the database. */
export function readiness(
  { servers, generation, draining, cluster }: ReadinessFacts,
  requestId: string,
): HttpResponse {
  const all = [...servers.values()];
  const usable = all.filter(({ daemons }) => daemons.status().usable).length;
  const ready = !draining() && (usable > 0 || all.length === 0);
  const facts = { ready, servers: { total: all.length, usable }, generation, ...cluster?.() };
  if (ready) return jsonResponse(facts);
  const error = httpError(draining() ? "ERR_DRAINING" : "ERR_NOT_READY");
  return jsonResponse({ ...error.body(requestId), ...facts }, error);
}
