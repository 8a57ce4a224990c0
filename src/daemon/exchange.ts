/** How one exchange on the command socket of one daemon ended. */
export type Exchange<T = string> = { readonly kind: "answered"; readonly reply: T } | Failure;

/** An exchange that brought no reply. */
export interface Failure {
  readonly kind: "failed";
  readonly fault: Fault;
  /** Before the request was written nothing can have happened at the daemon; after it, the request may be in effect. */
  readonly phase: "before" | "after";
  /** For the operator, beyond what the fault says. */
  readonly detail?: string;
}

/** What can go wrong, see {@link describeFailure} (daemon-protocol.md 7). */
export type Fault = keyof typeof FAULTS;

interface FaultFacts {
  /** For the operator. */
  readonly text: string;
  /** Whether the daemon is surely of no use now; otherwise it may have been this one request. */
  readonly certain: boolean;
}

const FAULTS = {
  refused: { certain: true, text: "connection refused, nothing listens on the command port" },
  unresolved: { certain: true, text: "the command host has no address" },
  unreachable: { certain: true, text: "no way to the command socket" },
  "connect-timeout": { certain: true, text: "no answer to the attempt to connect" },
  "handshake-timeout": {
    certain: true,
    text:
      "not accepting requests: it takes the connection and never completes the TLS handshake; another client blocks it, or it must be restarted",
  },
  "handshake-closed": { certain: true, text: "closes the connection during the TLS handshake" },
  "handshake-failed": { certain: true, text: "the TLS handshake failed" },
  "not-tls": { certain: true, text: "does not speak TLS: wrong port, or a daemon without TLS" },
  untrusted: { certain: true, text: "its certificate is not trusted" },
  "own-certificate-refused": { certain: true, text: "it does not accept the certificate of this service" },
  "empty-reply": {
    certain: false,
    text:
      "closes without a reply; the daemon's ACL file probably does not name the certificate of this service",
  },
  "reply-timeout": { certain: false, text: "took the request and did not answer in time" },
  "invalid-reply": { certain: false, text: "the reply is not one of a transfer daemon" },
  /** Of ours, not of the daemon: the caller left, the queue was full, the turn did not come in time, we are closing. */
  aborted: { certain: false, text: "the caller left" },
  busy: { certain: false, text: "too many requests are waiting for it" },
  closing: { certain: false, text: "the service is closing its connections" },
} as const satisfies Record<string, FaultFacts>;

/** An exchange that failed; `detail` is for the operator. */
export function failure(fault: Fault, phase: "before" | "after", detail?: string): Failure {
  return { kind: "failed", fault, phase, detail };
}

/** One line for the operator. */
export function describeFailure({ fault, detail }: Failure): string {
  return detail === undefined ? FAULTS[fault].text : `${FAULTS[fault].text} (${detail})`;
}

/** Whether the daemon is surely of no use after this. */
export function isCertain({ fault }: Failure): boolean {
  return FAULTS[fault].certain;
}

/** Whether a failure tells something about the daemon, and not about us. */
export function isAboutDaemon({ fault }: Failure): boolean {
  return fault !== "aborted" && fault !== "busy" && fault !== "closing";
}
