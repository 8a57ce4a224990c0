import { once } from "node:events";
import { isIP } from "node:net";
import { checkServerIdentity, connect, type SecureContextOptions, type TLSSocket } from "node:tls";
import { unlessAborted } from "../model/clock.ts";
import { isPinned, sortTrust } from "../model/trust/trusted_certificates.ts";
import type { Remote } from "../config/kind.ts";
import type { OutgoingConfig, ProxyConfig } from "../config/service_config.ts";
import { writeAll } from "../model/regular_file.ts";
import { describeValidity, validityOf } from "../model/trust/certificate_facts.ts";
import type { Logger } from "../logging/logger.ts";
import { provesKey } from "../model/trust/proof_of_key.ts";
import { goesThroughProxy, openTunnel } from "./proxy.ts";

/** Trust anchors and client certificate for other systems. */
export interface HttpsTrust {
  readonly anchors: readonly string[]; // PEM; the only ones besides `publicRoots`
  readonly publicRoots?: readonly string[];
  /** PEM chain and key, for servers that request it. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
}

/** Reports whether no server is trusted. */
export function hasNoAnchors({ anchors, publicRoots = [] }: HttpsTrust): boolean {
  return anchors.length === 0 && publicRoots.length === 0;
}

function authoritiesOf({ anchors, publicRoots = [] }: HttpsTrust): string[] {
  return [...sortTrust(anchors).issuers.map(({ pem }) => pem), ...publicRoots];
}

export interface TlsConnection {
  read(): Promise<Uint8Array | undefined>; // next bytes; `undefined` at the end
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

export interface TlsTarget {
  readonly host: string;
  readonly port: number;
}

interface TlsRules {
  readonly hostnameChecking: OutgoingConfig["hostnameChecking"];
  readonly trust: HttpsTrust;
  readonly log: Logger;
  readonly proxy?: ProxyConfig | undefined;
  readonly connectTimeoutMs: number; // for the proxy
  /** Exchanges plain text before the handshake; see {@link Remote}. */
  readonly beforeTls?: Remote["beforeTls"] | undefined;
  readonly signal: AbortSignal; // closes connections that are being opened
}

/**
 * Opens a TLS connection with Deno's client, which verifies chain, dates, purpose, name and handshake; `node:tls` of
 * Deno 2.9.6 trusts certificates that it cannot read. Only the given anchors are trusted if the process has no others
 * (`exclusive_trust.ts`). Deno refuses pinned self-signed certificates: those are compared byte for byte with
 * `node:tls`, with proof of the key.
 * @throws {Error} Readable; `cause` has the platform's error.
 */
export async function openTls(target: TlsTarget, rules: TlsRules): Promise<TlsConnection> {
  const { hostnameChecking, trust, log } = rules;
  const authorities = authoritiesOf(trust);
  const opensPlain = plainTransport(target, rules) !== undefined;
  try {
    if (authorities.length === 0 && !opensPlain) return await openPinned(target, rules);
    return await openVerified(target, rules, hostnameChecking !== "NONE");
  } catch (error) {
    const failure = describeTlsFailure(error);
    if (failure.kind === "name" && hostnameChecking === "WARN") {
      const connection = await openVerified(target, rules, false);
      warnOfMismatch(log, target, failure.error);
      return connection;
    }
    const mayBePinned = failure.kind === "authority" ||
      (failure.kind === "issuer" && sortTrust(trust.anchors).entities.length > 0);
    if (authorities.length === 0 || opensPlain || !mayBePinned) throw failure.error;
    return await openPinned(target, rules);
  }
}

/** Transport for a connection on which TLS starts later. */
interface PlainTransport {
  open(): Promise<Deno.TcpConn>;
  readonly where: string; // for messages
  readonly fix: string; // for our certificate, which cannot be presented there
}

/** Returns the transport through the proxy or the exchange before TLS, if the target needs one. */
function plainTransport(
  target: TlsTarget,
  { proxy, connectTimeoutMs, beforeTls, signal }: TlsRules,
): PlainTransport | undefined {
  const { host } = target;
  if (beforeTls !== undefined) {
    const open = async () => {
      const connection = await Deno.connect({ hostname: host, port: target.port });
      await closeOnFailure(beforeTls(connection), connection, signal);
      return connection;
    };
    return {
      open,
      where: "where TLS starts after another exchange",
      fix: "an address with TLS from the start",
    };
  }
  if (proxy === undefined || !goesThroughProxy(host, proxy)) return undefined;
  return {
    open: () => openTunnel(target, { proxy, limitMs: connectTimeoutMs }),
    where: "through a proxy",
    fix:
      `${host} in container.client.http.nonProxyHosts, or doTLSAuthn=false for its method (container.client.sslAuthnEnabled=false for an attribute source)`,
  };
}

/** Servers whose last handshake did not end. Deno 2.9.6 keeps closed connections until their handshake ends: we probe first. */
const UNRESPONSIVE = new Set<string>();

async function openVerified(target: TlsTarget, rules: TlsRules, checkName: boolean): Promise<TlsConnection> {
  const { trust: { clientCertificate }, signal } = rules;
  const options = {
    hostname: target.host,
    caCerts: authoritiesOf(rules.trust),
    unsafelyDisableHostnameVerification: !checkName,
  };
  const transport = plainTransport(target, rules);
  const name = `${target.host}:${target.port}`;
  if (transport === undefined && UNRESPONSIVE.has(name)) {
    await peekCertificate(target, signal).catch(() => signal.throwIfAborted());
  }
  const connection = transport === undefined
    ? await Deno.connectTls({
      ...options,
      port: target.port,
      ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key }),
    })
    : await startTlsOn(transport, rules.trust, options);
  const began = performance.now();
  try {
    await closeOnFailure(connection.handshake(), connection, signal);
    UNRESPONSIVE.delete(name);
  } catch (error) {
    // A caller who leaves sooner proves nothing.
    if (signal.aborted && performance.now() - began > rules.connectTimeoutMs / 2) UNRESPONSIVE.add(name);
    throw error;
  }
  return connectionOver(connection);
}

/** Waits for a step of opening a connection; closes the connection if it fails or on the signal. */
async function closeOnFailure(
  step: Promise<unknown>,
  connection: Deno.Conn,
  signal: AbortSignal,
): Promise<void> {
  await unlessAborted(step, signal).catch((error) => {
    connection.close();
    throw error;
  });
}

function connectUnverified({ host, port }: TlsTarget, given: SecureContextOptions): TLSSocket {
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const lax = { rejectUnauthorized: false, checkServerIdentity: () => undefined };
  return connect({ host, port, ...servername, ...given, ...lax });
}

/** Returns the expiry of a server's certificate, in milliseconds since the epoch, verifying nothing. Ends on the signal. */
export async function peekCertificate({ host, port }: TlsTarget, signal: AbortSignal): Promise<number> {
  // Without a list, a process without authorities refuses all despite `rejectUnauthorized` (Deno 2.9.6).
  const socket = connectUnverified({ host, port }, { ca: [] });
  try {
    await once(socket, "secureConnect", { signal });
    return Date.parse(socket.getPeerCertificate().valid_to);
  } finally {
    socket.on("error", () => {}).destroy();
  }
}

/** Deno 2.9.6 cannot present a client certificate on an open connection. */
async function startTlsOn(
  { open, where, fix }: PlainTransport,
  { clientCertificate }: HttpsTrust,
  options: Deno.StartTlsOptions,
): Promise<Deno.TlsConn> {
  if (clientCertificate !== undefined) {
    throw new Error(`our certificate cannot be shown ${where}, expected ${fix}`);
  }
  if (options.caCerts?.length === 0) {
    throw new Error(
      `a certificate that is trusted as itself does not count ${where}: no authority is trusted`,
    );
  }
  return await Deno.startTls(await open(), options);
}

/** Wraps Deno's connection for the HTTP clients. */
export function connectionOver(connection: Deno.Conn): TlsConnection {
  const buffer = new Uint8Array(16 * 1024);
  return {
    read: async () => {
      const length = await connection.read(buffer);
      return length === null ? undefined : buffer.slice(0, length);
    },
    write: (bytes) => writeAll(connection, bytes),
    close: () => connection.close(),
  };
}

async function openPinned(
  target: TlsTarget,
  { hostnameChecking, trust, log, signal }: TlsRules,
): Promise<TlsConnection> {
  const { host } = target;
  const { certificate: cert, key } = trust.clientCertificate ?? {};
  const socket = connectUnverified(target, { ca: [...trust.anchors], cert, key }); // compared below instead
  try {
    await once(socket, "secureConnect", { signal });
    const diagnostic = pinDiagnostic(socket, trust.anchors);
    if (diagnostic !== undefined) throw new Error(diagnostic);
    const mismatch = hostnameChecking === "NONE"
      ? undefined
      : checkServerIdentity(host, socket.getPeerCertificate());
    if (mismatch !== undefined && hostnameChecking === "FAIL") throw mismatch;
    if (mismatch !== undefined) warnOfMismatch(log, target, mismatch);
  } catch (error) {
    socket.on("error", () => {}).destroy();
    throw error;
  }
  return connectionOf(socket);
}

function pinDiagnostic(socket: TLSSocket, anchors: readonly string[]): string | undefined {
  const shown = socket.getPeerX509Certificate();
  if (shown === undefined) return "the server showed no certificate";
  if (!isPinned(shown, anchors)) {
    return "no trusted authority signed the certificate of the server, and it is not itself in the truststore";
  }
  const { kind, text } = describeValidity(validityOf(shown), Date.now());
  if (kind === "invalid") return `the certificate of the server ${text}`;
  return provesKey(shown)
    ? undefined
    : "the certificate of the server is not X.509 version 3, or not valid DER: it proves nothing";
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

function warnOfMismatch(log: Logger, { host }: TlsTarget, error: Error): void {
  log.warn("certificate does not name the host, accepted by configuration", { host, error });
}

interface TlsFailure {
  /** `name`: wrong host; `issuer`: untrusted; `authority`: a CA certificate, as self-signed ones often are. */
  readonly kind: "name" | "issuer" | "authority" | "other";
  readonly error: Error; // for the operator, with the platform's error as cause
}

/** Deno's TLS errors with readable texts. */
const FAILURES: readonly (readonly [RegExp, TlsFailure["kind"], string])[] = [
  [/not valid for name|NotValidForName/, "name", "the certificate of the server is for another host"],
  [
    /CaUsedAsEndEntity/,
    "authority",
    "the certificate of the server is self-signed, or an authority's (CA:TRUE)",
  ],
  [/UnknownIssuer/, "issuer", "no trusted authority signed the certificate of the server"],
  [/UnsupportedCertVersion/, "other", "the certificate of the server is not X.509 version 3"],
  [/BadEncoding/, "other", "the certificate of the server is not valid DER"],
  [/NotValidYet|not valid yet/, "other", "the certificate of the server is not valid yet"],
  [/[Ee]xpired/, "other", "the certificate of the server has expired"],
  [
    /InvalidPurpose|ExtendedKeyUsage|extended key usage/i,
    "other",
    "the certificate of the server is not for TLS servers",
  ],
  [
    /BadSignature|InvalidSignature/,
    "other",
    "the server does not have the key of its certificate, or it is forged",
  ],
  [/invalid peer certificate/, "other", "the certificate of the server is not trusted"],
];

function describeTlsFailure(error: unknown): TlsFailure {
  const cause = error instanceof Error ? error : new Error(String(error));
  const row = FAILURES.find(([pattern]) => pattern.test(cause.message));
  if (row === undefined) return { kind: "other", error: cause };
  const [, kind, text] = row;
  return { kind, error: new Error(`${text} (${cause.message})`, { cause }) };
}
