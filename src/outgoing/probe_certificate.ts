import { once } from "node:events";
import { isIP } from "node:net";
import { connect } from "node:tls";
import type { OutgoingConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import { type HttpsTrust, trustsNobody } from "./https_trust.ts";
import { openTls, type TlsTarget } from "./open_tls.ts";
import { goesThroughProxy } from "./proxy.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";

/**
 * Probes an HTTPS server by a verified handshake, and reads its certificate over a second connection, since
 * the first exposes none. Returns its expiry in milliseconds since the epoch. @throws {RemoteUnavailable}
 */
export async function probeCertificate(
  address: string,
  { config, trust, log }: {
    readonly config: OutgoingConfig;
    readonly trust: HttpsTrust;
    readonly log: Logger;
  },
): Promise<number | "verified"> {
  const { hostname, port, host: remote } = new URL(address);
  if (trustsNobody(trust)) throw new RemoteUnavailable(remote, "no trust anchors are configured");
  const target = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 443) };
  const { promise: late, reject } = Promise.withResolvers<never>();
  const limit = config.connectTimeoutMs;
  const timer = setTimeout(() => reject(new Error(`no TLS connection within ${limit} ms`)), limit);
  const { hostnameChecking, proxy, connectTimeoutMs } = config;
  const opened = openTls(target, { hostnameChecking, trust, log, proxy, connectTimeoutMs })
    .then((connection) => connection.close());
  try {
    await Promise.race([opened, late]);
    if (proxy !== undefined && goesThroughProxy(target.host, proxy)) return "verified";
    return await Promise.race([lookAt(target), late]);
  } catch (cause) {
    opened.catch(() => {}); // may still fail later
    const reason = cause instanceof Error ? cause.message : "no connection";
    throw new RemoteUnavailable(remote, reason, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the expiry of an unverified certificate. */
async function lookAt({ host, port }: TlsTarget): Promise<number> {
  const socket = connect({
    host,
    port,
    ...(isIP(host) === 0 && { servername: host }),
    // Without a list, a process without authorities refuses all despite the next line (Deno 2.9.6).
    ca: [],
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  });
  try {
    await once(socket, "secureConnect");
    return Date.parse(socket.getPeerCertificate().valid_to);
  } finally {
    socket.on("error", () => {}).destroy();
  }
}
