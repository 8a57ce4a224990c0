import type { OutgoingHttp, OutgoingRequest, OutgoingResponse } from "./outgoing_http.ts";
import { type Asker, RemoteSystem, type RemoteSystemOptions } from "./remote_system.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";
import { retryAfterSeconds } from "./retry_after.ts";

/** Health of a system that speaks HTTP; `Retry-After` of a 429 applies to all callers. */
export class RemoteHttp extends RemoteSystem {
  readonly #http: OutgoingHttp;
  readonly #clock: RemoteSystemOptions["clock"];

  constructor({ http, ...options }: Omit<RemoteSystemOptions, "atOnce"> & { readonly http: OutgoingHttp }) {
    super({ ...options, atOnce: http.connectionsPerHost });
    this.#http = http;
    this.#clock = options.clock;
  }

  /**
   * Sends a request if the system is up or due for a trial.
   * @param read Converts a response of any status; throws {@link unusable} if it cannot.
   * @throws {RemoteUnavailable}
   */
  ask<T>(
    request: OutgoingRequest,
    asker: Asker,
    read: (response: OutgoingResponse) => T | Promise<T>,
  ): Promise<T> {
    return this.run(asker, async () => {
      const response = await this.#http.send(request, asker.signal);
      this.#checkPace(response);
      return await read(response);
    });
  }

  /** @throws {RemoteUnavailable} On rate limiting (RFC 6585, 4; RFC 9110, 15.6.4). */
  #checkPace(response: OutgoingResponse): void {
    const { status } = response;
    if (status !== 429 && status !== 503) return;
    const seconds = retryAfterSeconds(response, this.#clock());
    if (seconds === undefined) return;
    throw new RemoteUnavailable(
      this.remote,
      `unexpected status ${status}, with the request to wait ${seconds} s`,
      { retryAfterSeconds: seconds, connected: true, throttled: status === 429 },
    );
  }
}
