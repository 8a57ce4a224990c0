import { once } from "node:events";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { endpointOf } from "../config/kind.ts";
import { unlessAborted } from "../model/clock.ts";
import { type ConnectionRules, connectTls } from "./connect_tls.ts";
import type { TlsTarget } from "./open_tls.ts";
import type { TlsRemote } from "./outgoing.ts";
import { goesThroughProxy } from "./proxy.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";

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
    return await unlessAborted(lookAt(target, limit), limit);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "no connection";
    throw new RemoteUnavailable(new URL(remote.address).host, reason, { cause });
  }
}

/** Returns the expiry of an unverified certificate. */
async function lookAt({ host, port }: TlsTarget, signal: AbortSignal): Promise<number> {
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
    await once(socket, "secureConnect", { signal });
    return Date.parse(socket.getPeerCertificate().valid_to);
  } finally {
    socket.on("error", () => {}).destroy();
  }
}
