import { once } from "node:events";
import { isIP } from "node:net";
import { checkServerIdentity, connect, type TLSSocket } from "node:tls";
import type { OutgoingConfig, ProxyConfig } from "../config/service_config.ts";
import { writeAll } from "../model/write_all.ts";
import { describeValidity, validityOf } from "../model/trust/validity.ts";
import type { Logger } from "../logging/logger.ts";
import { provesKey } from "../model/trust/proof_of_key.ts";
import { sortTrust, trustedAsItself } from "../model/trust/trusted_certificates.ts";
import { authoritiesOf, type HttpsTrust } from "./https_trust.ts";
import { goesThroughProxy, openTunnel } from "./proxy.ts";
import { describeTlsFailure } from "./tls_failure.ts";

/** Verified TLS connection. */
export interface TlsConnection {
  /** Next bytes; `undefined` at the end. */
  read(): Promise<Uint8Array | undefined>;
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

/** Server to connect to. */
export interface TlsTarget {
  readonly host: string;
  readonly port: number;
}

/** Trust and limits. */
export interface TlsRules {
  readonly hostnameChecking: OutgoingConfig["hostnameChecking"];
  readonly trust: HttpsTrust;
  readonly log: Logger;
  readonly proxy?: ProxyConfig | undefined;
  readonly connectTimeoutMs: number; // for the proxy
}

/**
 * Opens a TLS connection with Deno's client, which verifies chain, dates, purpose, name and handshake; `node:tls` of
 * Deno 2.9.6 trusts certificates that it cannot read. Only the given anchors count if the process has no others
 * (`exclusive_trust.ts`). Deno refuses pinned self-signed certificates: those are compared byte for byte with
 * `node:tls`, with proof of the key.
 * @throws {Error} Readable; `cause` has the platform's error.
 */
export async function openTls(target: TlsTarget, rules: TlsRules): Promise<TlsConnection> {
  const { hostnameChecking, trust, log } = rules;
  const authorities = authoritiesOf(trust);
  const isTunnelled = proxyTo(target, rules) !== undefined;
  try {
    if (authorities.length === 0 && !isTunnelled) return await openPinned(target, rules);
    return await openVerified(target, rules, hostnameChecking !== "NONE");
  } catch (error) {
    const failure = describeTlsFailure(error);
    if (failure.kind === "name" && hostnameChecking === "WARN") {
      const connection = await openVerified(target, rules, false);
      warnOfName(log, target, failure.error);
      return connection;
    }
    const mayBePinned = failure.kind === "authority" ||
      (failure.kind === "issuer" && sortTrust(trust.anchors).entities.length > 0);
    if (authorities.length === 0 || isTunnelled || !mayBePinned) throw failure.error;
    return await openPinned(target, rules);
  }
}

/** Returns the proxy for a host, if any. */
function proxyTo({ host }: TlsTarget, { proxy }: Pick<TlsRules, "proxy">): ProxyConfig | undefined {
  return proxy !== undefined && goesThroughProxy(host, proxy) ? proxy : undefined;
}

async function openVerified(
  target: TlsTarget,
  rules: TlsRules,
  checkName: boolean,
): Promise<TlsConnection> {
  const { clientCertificate } = rules.trust;
  const options = {
    hostname: target.host,
    caCerts: authoritiesOf(rules.trust),
    unsafelyDisableHostnameVerification: !checkName,
  };
  const proxy = proxyTo(target, rules);
  const connection = proxy === undefined
    ? await Deno.connectTls({
      ...options,
      port: target.port,
      ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key }),
    })
    : await startTlsThrough(target, { ...rules, proxy }, options);
  try {
    await connection.handshake();
  } catch (error) {
    connection.close();
    throw error;
  }
  return connectionOver(connection);
}

/** Deno 2.9.6 cannot present a client certificate on an open connection. */
async function startTlsThrough(
  target: TlsTarget,
  { proxy, trust, connectTimeoutMs }: TlsRules & { readonly proxy: ProxyConfig },
  options: Deno.StartTlsOptions,
): Promise<Deno.TlsConn> {
  if (trust.clientCertificate !== undefined) {
    throw new Error(
      `our certificate cannot be shown through a proxy, expected ${target.host} in container.client.http.nonProxyHosts, or doTLSAuthn=false for its method (container.client.sslAuthnEnabled=false for an XUUDB)`,
    );
  }
  if (options.caCerts?.length === 0) {
    throw new Error(
      "a certificate that is trusted as itself does not count through a proxy: no authority is trusted",
    );
  }
  return await Deno.startTls(await openTunnel(target, { proxy, limitMs: connectTimeoutMs }), options);
}

/** Wraps Deno's connection for the HTTP clients. */
export function connectionOver(connection: Deno.Conn): TlsConnection {
  return {
    read: async () => {
      const buffer = new Uint8Array(16 * 1024);
      const length = await connection.read(buffer);
      return length === null ? undefined : buffer.subarray(0, length);
    },
    write: (bytes) => writeAll(connection, bytes),
    close: () => connection.close(),
  };
}

/** Connects to a server whose certificate is pinned. */
async function openPinned(
  target: TlsTarget,
  { hostnameChecking, trust, log }: TlsRules,
): Promise<TlsConnection> {
  const { host, port } = target;
  const socket = connect({
    host,
    port,
    ...(isIP(host) === 0 && { servername: host }),
    ca: [...trust.anchors],
    cert: trust.clientCertificate?.certificate,
    key: trust.clientCertificate?.key,
    // Compared below instead.
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  });
  try {
    await once(socket, "secureConnect");
    const diagnostic = pinDiagnostic(socket, trust.anchors);
    if (diagnostic !== undefined) throw new Error(diagnostic);
    const mismatch = hostnameChecking === "NONE"
      ? undefined
      : checkServerIdentity(host, socket.getPeerCertificate());
    if (mismatch !== undefined && hostnameChecking === "FAIL") throw mismatch;
    if (mismatch !== undefined) warnOfName(log, target, mismatch);
  } catch (error) {
    socket.on("error", () => {}).destroy();
    throw error;
  }
  return connectionOf(socket);
}

function pinDiagnostic(socket: TLSSocket, anchors: readonly string[]): string | undefined {
  const shown = socket.getPeerX509Certificate();
  if (shown === undefined) return "the server showed no certificate";
  if (!trustedAsItself(shown, anchors, "serverAuth")) {
    return "no trusted authority signed the certificate of the server, and it is not itself in the truststore";
  }
  const { kind, text } = describeValidity(validityOf(shown), Date.now());
  if (kind === "invalid") return `the certificate of the server ${text}`;
  return provesKey(shown)
    ? undefined
    : "the certificate of the server is not X.509 version 3, or not encoded by the book: it proves nothing";
}

function connectionOf(socket: TLSSocket): TlsConnection {
  const chunks: AsyncIterator<Uint8Array> = socket[Symbol.asyncIterator]();
  return {
    read: async () => {
      const { done, value } = await chunks.next();
      return done === true ? undefined : value;
    },
    write: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => error ? reject(error) : resolve());
      }),
    close: () => void socket.destroy(),
  };
}

function warnOfName(log: Logger, { host }: TlsTarget, error: Error): void {
  log.warn("certificate does not name the host, accepted by configuration", { host, error });
}
