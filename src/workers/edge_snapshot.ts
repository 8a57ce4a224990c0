import { isDeepStrictEqual } from "node:util";
import { type EdgeLimits, type EdgeTls, LIMITS } from "../edge/edge_options.ts";
import type { AnswerPolicy } from "../model/answer_headers.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";

const LOOPBACK = ["127.0.0.0/8", "::1"];

/** Returns the edge's TLS settings; absent: plain HTTP. */
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

/** Returns the edge's limits; sites configure only the idle time. */
export function edgeLimits({ config }: Snapshot): EdgeLimits {
  const { maxIdleMs } = config.https;
  return { ...LIMITS, keepAliveMs: Math.min(LIMITS.keepAliveMs, maxIdleMs), silentMs: maxIdleMs };
}

/** Returns the policy for headers of all responses. */
export function edgePolicy({ config: { https: { hsts, frames, cors } } }: Snapshot): AnswerPolicy {
  return { hsts, frames, cors };
}

/** Returns the proxies whose forwarded addresses count: without TLS only local ones, else the gateway's. */
export function edgeProxies({ config: { https, gateway } }: Snapshot): string[] {
  return [...(https.tls ? [] : LOOPBACK), ...(gateway.enabled ? gateway.trustedPeers : [])];
}

/** Returns the peers that must send the PROXY protocol; absent: none. */
export function proxyPeers({ config: { https: { proxyPeers } } }: Snapshot): readonly string[] | undefined {
  return proxyPeers.length === 0 ? undefined : proxyPeers;
}

/** Reports whether one edge can serve both setups: its address and limits never change. */
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
