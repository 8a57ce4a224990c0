import type { ErrorBody } from "../model/error_body.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { ServerFacts } from "./server_facts.ts";
import { jsonResponse } from "./text_response.ts";

/** `GET /health/live`: the service answers, so it lives. */
export function liveness(): HttpResponse {
  return jsonResponse({ live: true });
}

/** What readiness is made of. */
export interface ReadinessFacts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly generation: number;
  /** Whether the service was told to stop: clients are to go elsewhere. */
  readonly draining: () => boolean;
  /** The instances that are one service; absent: this one is alone. */
  readonly cluster: (() => ClusterHealth) | undefined;
}

/** How the instances of a service are, without their names. */
export interface ClusterHealth {
  /** Those that are known, and those of them that serve. */
  readonly instances: { readonly total: number; readonly serving: number };
  readonly configurationsDiffer: boolean;
  /** Whether the database that they share is away or degraded: some of what needs it is refused meanwhile. */
  readonly degraded: boolean;
}

/**
 * `GET /health/ready`: 200 if a session can be created on some logical server (or none is configured), and the service is
 * to go on; else 503. While the database of several instances is away it stays 200 and says `degraded`: all are in the same
 * state. Tells numbers only: who asks is unknown.
 */
export function readiness(
  { servers, generation, draining, cluster }: ReadinessFacts,
  requestId: string,
): HttpResponse {
  const all = [...servers.values()];
  const usable = all.filter(({ daemons }) => daemons.status().usable).length;
  const ready = !draining() && (usable > 0 || all.length === 0);
  const facts = { ready, servers: { total: all.length, usable }, generation, ...cluster?.() };
  if (ready) return jsonResponse(facts);
  const { status, publicMessage: errorMessage, code, headers } = httpError(
    draining() ? "ERR_DRAINING" : "ERR_NOT_READY",
  );
  const error: ErrorBody = { status, errorMessage, code, requestId };
  return jsonResponse({ ...error, ...facts }, { status, headers });
}
