import { endpointOf } from "../config/kind.ts";
import type { OutgoingConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import { unlessAborted } from "../model/clock.ts";
import { type HttpsTrust, trustsNobody } from "./https_trust.ts";
import { openTls, type TlsConnection } from "./open_tls.ts";
import type { TlsRemote } from "./outgoing.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";

/** Configuration, trust and log of a connection. */
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
  if (trustsNobody(trust)) throw new RemoteUnavailable(host, "no trust anchors are configured");
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), connectTimeoutMs);
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
  } finally {
    clearTimeout(timer);
  }
}
