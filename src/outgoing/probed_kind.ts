import type { Table } from "../config/key.ts";
import type { Kind, Remote } from "../config/kind.ts";
import type { KindConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { Outgoing, OutgoingHttp } from "./outgoing.ts";
import type { Requester } from "./remote_system.ts";

export interface ProbeParts {
  readonly outgoing: Outgoing;
  readonly externalUrl: string; // of this service, without trailing slash
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ProbeAnswer {
  readonly ok: boolean;
  readonly found: string;
  readonly fix?: string; // remedy if not ok
}

/** System that `check --online` can probe. */
export interface ProbedRemote extends Remote {
  /** Sends harmless requests, without user credentials. @throws {ServiceError} Without a usable response. */
  probe(parts: ProbeParts): Promise<ProbeAnswer>;
}

/** Kind with remote systems. */
export interface ProbedKind<T extends Table = Table, S extends object = object> extends Kind<T, S> {
  remotes?(config: S & KindConfig): readonly ProbedRemote[];
}

/** Remedy if another system does not answer as expected. */
export const REMOTE_FIX =
  "see whether the address is right and the system runs, the truststore has the authority of its certificate, and the login of this service there is right";

/** Never aborted. */
export const NEVER = new AbortController().signal;

/** Caller of all probes. */
export const PROBER: Requester = {
  queueKey: "probe",
  known: true,
  credential: "probe",
  address: "probe",
  signal: NEVER,
};

/** Returns the status of a page. */
export async function statusOf(http: OutgoingHttp, url: string): Promise<number> {
  return (await http.send({ method: "GET", url, statusAlone: true }, NEVER)).status;
}

/** Sends a request without credentials. */
export async function probeWithoutCredentials(
  { address: url, showCertificate }: Pick<Remote, "address" | "showCertificate">,
  { outgoing }: ProbeParts,
  isExpected: (status: number) => boolean,
): Promise<ProbeAnswer> {
  const status = await statusOf(outgoing.http(showCertificate), url);
  const found = `answers a request without credentials with status ${status}`;
  return isExpected(status)
    ? { ok: true, found }
    : { ok: false, found: `${found}: wrong address, or out of order`, fix: REMOTE_FIX };
}
