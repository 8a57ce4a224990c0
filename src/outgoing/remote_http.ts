import type { OutgoingHttp, OutgoingRequest, OutgoingResponse } from "./outgoing.ts";
import { RemoteSystem, type RemoteSystemOptions, type Requester } from "./remote_system.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";

/** Health of a system that speaks HTTP; `Retry-After` of a 429 applies to all callers. */
export class RemoteHttp extends RemoteSystem {
  readonly #http: OutgoingHttp;

  constructor({ http, ...options }: Omit<RemoteSystemOptions, "maxConcurrent"> & { http: OutgoingHttp }) {
    super({ ...options, maxConcurrent: http.connectionsPerHost });
    this.#http = http;
  }

  /**
   * Sends a request if the system is up or due for a trial.
   * @param read Converts a response of any status; throws {@link unusable} if it cannot.
   * @throws {RemoteUnavailable}
   */
  ask<T>(
    request: OutgoingRequest,
    caller: Requester,
    read: (response: OutgoingResponse) => T | Promise<T>,
  ): Promise<T> {
    return this.run(caller, async () => {
      const response = await this.#http.send(request, caller.signal);
      this.#checkRateLimit(response);
      return await read(response);
    });
  }

  /** @throws {RemoteUnavailable} On rate limiting (RFC 6585, 4; RFC 9110, 15.6.4). */
  #checkRateLimit(response: OutgoingResponse): void {
    const { status } = response;
    if (status !== 429 && status !== 503) return;
    const seconds = retryAfterSeconds(response, this.options.clock());
    if (seconds === undefined) return;
    throw new RemoteUnavailable(
      this.remote,
      `unexpected status ${status}, with the request to wait ${seconds} s`,
      { retryAfterSeconds: seconds, connected: true, throttled: status === 429 },
    );
  }
}

const MAX_RETRY_AFTER_S = 600;

/** Parses `Retry-After` (RFC 9110, 10.2.3) to 1 to 600 seconds; `undefined` if absent or malformed. */
export function retryAfterSeconds(
  { headers }: Pick<OutgoingResponse, "headers">,
  now: number,
): number | undefined {
  const text = headers["retry-after"]?.trim() ?? "";
  const seconds = /^\d{1,15}$/.test(text)
    ? Number(text)
    : /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text)
    ? (Date.parse(text) - now) / 1000
    : NaN;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(1, Math.ceil(seconds)), MAX_RETRY_AFTER_S);
}
