export type Exchange<T = string> = { readonly kind: "answered"; readonly reply: T } | Failure;

/** Exchange without a reply. */
export interface Failure {
  readonly kind: "failed";
  readonly fault: Fault;
  /** Before or after the request was written; after it, the request may be in effect. */
  readonly phase: "before" | "after";
  readonly detail?: string;
}

/** Kind of failure, see {@link describeFailure} (daemon-protocol.md 7). */
export type Fault = keyof typeof FAULTS;

interface FaultFacts {
  readonly text: string;
  readonly certain: boolean; // whether it proves that the daemon is down, and not only this request failed
  readonly fix?: string; // what to do; absent: see the log of the daemon
}

const AWAY = "see whether the daemon runs, and commandHost and commandPort are those of its command socket";
const TLS = "see whether ssl fits SSL_CONF of the daemon, and commandPort is that of its command socket";

const FAULTS = {
  refused: { certain: true, text: "connection refused, nothing listens on the command port", fix: AWAY },
  unresolved: { certain: true, text: "the command host has no address", fix: AWAY },
  unreachable: { certain: true, text: "no way to the command socket", fix: AWAY },
  "connect-timeout": { certain: true, text: "no answer to the attempt to connect", fix: AWAY },
  "handshake-timeout": {
    certain: true,
    text:
      "not accepting requests: it takes the connection and never completes the TLS handshake; another client blocks it, or it must be restarted",
  },
  "handshake-closed": { certain: true, text: "closes the connection during the TLS handshake", fix: TLS },
  "handshake-failed": { certain: true, text: "the TLS handshake failed", fix: TLS },
  "not-tls": { certain: true, text: "does not speak TLS: wrong port, or a daemon without TLS", fix: TLS },
  untrusted: {
    certain: true,
    text: "its certificate is not trusted",
    fix:
      "put the authority that issued the daemon's certificate into the truststore, or have one issued that is not marked as an authority's (CA:FALSE); sslExpectedDN, if set, has to be its subject",
  },
  "own-certificate-refused": {
    certain: true,
    text: "it does not accept the certificate of this service",
    fix: "put the authority of this service's certificate into the daemon's truststore",
  },
  "empty-reply": {
    certain: false,
    text:
      "closes without a reply; the daemon's ACL file probably does not name the certificate of this service",
    fix:
      "add the subject of this service's certificate to the daemon's ACL file, as the daemon's log writes it",
  },
  "reply-timeout": { certain: false, text: "took the request and did not answer in time" },
  "invalid-reply": { certain: false, text: "the reply is not one of a transfer daemon", fix: TLS },
  /** Failures on our side. */
  aborted: { certain: false, text: "the caller left" },
  busy: { certain: false, text: "too many requests are waiting for it" },
  closing: { certain: false, text: "the service is closing its connections" },
} as const satisfies Record<string, FaultFacts>;

/** Creates a failure; `detail` is for the operator. */
export function failure(fault: Fault, phase: "before" | "after", detail?: string): Failure {
  return { kind: "failed", fault, phase, detail };
}

/** Describes a failure for the operator. */
export function describeFailure({ fault, detail }: Failure): string {
  return detail === undefined ? FAULTS[fault].text : `${FAULTS[fault].text} (${detail})`;
}

/** Returns what the operator can do about a failure. */
export function remedyOf({ fault }: Failure): string {
  const { fix = "see the log of the daemon" }: FaultFacts = FAULTS[fault];
  return fix;
}

/** Reports whether a failure proves that the daemon is down. */
export function isCertain({ fault }: Failure): boolean {
  return FAULTS[fault].certain;
}

/** Reports whether the daemon caused a failure. */
export function isAboutDaemon({ fault }: Failure): boolean {
  return fault !== "aborted" && fault !== "busy" && fault !== "closing";
}

/** Formats `host:port` of a command socket. */
export function commandAddress(host: string, port: number): string {
  return `${host.toLowerCase()}:${port}`;
}
