import type { Table } from "../config/key.ts";
import type { Kind, Remote } from "../config/kind.ts";
import type { KindConfig } from "../config/kind_config.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { OutgoingHttp } from "./outgoing_http.ts";

/** What another system is tried with. */
export interface ProbeParts {
  readonly http: OutgoingHttp;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What came of trying another system. */
export interface ProbeAnswer {
  readonly ok: boolean;
  /** For the operator. */
  readonly found: string;
}

/** A system that can be tried, as `check --online` does. */
export interface ProbedRemote extends Remote {
  /**
   * Asks it once, without leaving a trace: no credentials of any user, or a question about a user whom nobody knows.
   * @throws {ServiceError} If it gives no usable answer.
   */
  probe(parts: ProbeParts): Promise<ProbeAnswer>;
}

/** A kind whose systems can be tried. */
export interface ProbedKind<T extends Table = Table, S extends object = object> extends Kind<T, S> {
  remotes?(config: S & KindConfig): readonly ProbedRemote[];
}

/** Does not give up. */
export const NEVER = new AbortController().signal;

/** Sends a request that shows no credentials. */
export async function probeWithoutCredentials(
  url: string,
  { http }: ProbeParts,
  isExpected: (status: number) => boolean,
): Promise<ProbeAnswer> {
  const { status } = await http.send({ method: "GET", url }, NEVER);
  const found = `answers a request without credentials with status ${status}`;
  return isExpected(status)
    ? { ok: true, found }
    : { ok: false, found: `${found}: wrong address, or out of order` };
}
