import { isDeepStrictEqual } from "node:util";
import { type EdgeLimits, type EdgeTls, LIMITS } from "../edge/edge_options.ts";
import type { AnswerPolicy } from "../model/answer_headers.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";

/** Ranges of this host's own addresses. */
const LOOPBACK = ["127.0.0.0/8", "::1"];

/** TLS as the edge is to offer it; absent: plain HTTP. */
export function edgeTls({ config, material }: Snapshot): EdgeTls | undefined {
  if (!config.https.tls || material === undefined) return undefined;
  const { certificate, key, anchors, clientAnchors = anchors } = material;
  const revocation = material.clientAnchors === undefined ? material.revocation : material.clientRevocation;
  const policy = { none: "none", requested: "want", required: "require" } as const;
  const { clientCertificate, minTlsVersion, maxTlsVersion } = config.https;
  return {
    certificate,
    key,
    anchors: clientAnchors,
    revocation,
    clientCertificate: policy[clientCertificate],
    minVersion: minTlsVersion,
    maxVersion: maxTlsVersion,
  };
}

/** The limits as configured: of all of them, sites may set how long an idle connection is kept. */
export function edgeLimits({ config }: Snapshot): EdgeLimits {
  const { maxIdleMs } = config.https;
  return { ...LIMITS, keepAliveMs: Math.min(LIMITS.keepAliveMs, maxIdleMs), silentMs: maxIdleMs };
}

/** Headers of all answers. */
export function edgePolicy({ config: { https: { hsts, frames, cors } } }: Snapshot): AnswerPolicy {
  return { hsts, frames, cors };
}

/** Who speaks for many clients: without TLS only a proxy on this host can, with a gateway whoever it trusts. */
export function edgeProxies({ config: { https, gateway } }: Snapshot): string[] {
  return [...(https.tls ? [] : LOOPBACK), ...(gateway.enabled ? gateway.trustedPeers : [])];
}

/** Who has to say for whom it connects (PROXY protocol); absent: nobody. */
export function proxyPeers({ config: { https: { proxyPeers } } }: Snapshot): readonly string[] | undefined {
  return proxyPeers.length === 0 ? undefined : proxyPeers;
}

/** Whether two setups can be served by one listening edge: its address and limits hold for its life. */
export function sameEdge(a: Snapshot, b: Snapshot): boolean {
  return isDeepStrictEqual(fixed(a), fixed(b));
}

function fixed(snapshot: Snapshot): unknown[] {
  const { site, https } = snapshot.config;
  return [
    site.host,
    site.port,
    https.tls,
    https.clientCertificate,
    https.maxConnections,
    https.maxIdleMs,
    https.minTlsVersion,
    https.maxTlsVersion,
    edgePolicy(snapshot),
    edgeProxies(snapshot),
    https.proxyPeers,
    snapshot.config.metrics.listen,
  ];
}
