import { endpointOf } from "../config/kind.ts";
import type { OutgoingConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import { unlessAborted } from "../model/clock.ts";
import { hasNoAnchors, type HttpsTrust, openTls, peekCertificate, type TlsConnection } from "./open_tls.ts";
import type { TlsRemote } from "./outgoing.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";
import { goesThroughProxy } from "./proxy.ts";

export interface ConnectionRules {
  readonly config: Pick<OutgoingConfig, "hostnameChecking" | "connectTimeoutMs" | "proxy">;
  readonly trust: HttpsTrust;
  readonly log: Logger;
}

/** Opens a verified TLS connection within the time limit. @throws {RemoteUnavailable} */
export async function connectTls(
  remote: TlsRemote,
  { config: { hostnameChecking, connectTimeoutMs, proxy }, trust, log }: ConnectionRules,
  signal: AbortSignal,
): Promise<TlsConnection> {
  const { host } = new URL(remote.address);
  if (hasNoAnchors(trust)) throw new RemoteUnavailable(host, "no trust anchors are configured");
  const limit = new AbortController();
  using _timer = setTimeout(() => limit.abort(), connectTimeoutMs);
  const either = AbortSignal.any([signal, limit.signal]);
  const { beforeTls } = remote;
  const rules = { hostnameChecking, trust, log, proxy, connectTimeoutMs, beforeTls, signal: either };
  const opening = openTls(endpointOf(remote), rules);
  try {
    return await unlessAborted(opening, either);
  } catch (cause) {
    opening.then((connection) => connection.close(), () => {}); // may still succeed or fail later
    const reason = signal.aborted
      ? "given up by the caller"
      : limit.signal.aborted
      ? `no TLS connection within ${connectTimeoutMs} ms`
      : cause instanceof Error
      ? cause.message
      : "no connection";
    throw new RemoteUnavailable(host, reason, { cause });
  }
}

/**
 * Probes a server by a verified TLS handshake, and reads its certificate over a second connection, since the first exposes
 * none. Returns its expiry in milliseconds since the epoch, or `verified` where no second connection can read it.
 * @throws {RemoteUnavailable}
 */
export async function probeCertificate(
  remote: TlsRemote,
  rules: ConnectionRules,
): Promise<number | "verified"> {
  const { proxy, connectTimeoutMs } = rules.config;
  (await connectTls(remote, rules, new AbortController().signal)).close();
  const target = endpointOf(remote);
  const isDirect = remote.beforeTls === undefined &&
    (proxy === undefined || !goesThroughProxy(target.host, proxy));
  if (!isDirect) return "verified";
  const limit = AbortSignal.timeout(connectTimeoutMs);
  try {
    return await unlessAborted(peekCertificate(target, limit), limit);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "no connection";
    throw new RemoteUnavailable(new URL(remote.address).host, reason, { cause });
  }
}
