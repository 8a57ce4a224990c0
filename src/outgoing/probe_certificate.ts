import { isIP } from "node:net";
import { connect } from "node:tls";
import type { OutgoingConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";
import { type HttpsTrust, tlsOptions } from "./tls_options.ts";

/**
 * Connects to an HTTPS server under the rules for requests, asks it for nothing, and leaves.
 * @returns When its certificate ends, in milliseconds since the epoch.
 * @throws {RemoteUnavailable} If there is no connection, or none to be trusted.
 */
export function probeCertificate(
  address: string,
  { config, trust, log }: {
    readonly config: OutgoingConfig;
    readonly trust: HttpsTrust;
    readonly log: Logger;
  },
): Promise<number> {
  const { hostname, port, host: remote } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, "");
  const options = tlsOptions(config, trust, log);
  return new Promise((resolve, reject) => {
    if (options.ca.length === 0) throw new RemoteUnavailable(remote, "no trust anchors are configured");
    const socket = connect({
      ...options,
      host,
      port: Number(port || 443),
      ...(isIP(host) === 0 && { servername: host }),
    });
    const fail = (cause: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(new RemoteUnavailable(remote, cause.message || "no connection", { cause }));
    };
    const limit = config.connectTimeoutMs;
    const timer = setTimeout(() => fail(new Error(`no TLS connection within ${limit} ms`)), limit);
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the connection was closed")));
    socket.on("secureConnect", () => {
      clearTimeout(timer);
      resolve(Date.parse(socket.getPeerCertificate().valid_to));
      socket.destroy();
    });
  });
}
