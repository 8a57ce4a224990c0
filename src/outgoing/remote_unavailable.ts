import { HttpError } from "../model/http_error.ts";

/** Another system, such as an identity provider, gave no answer that can be used. Says nothing about the caller. */
export class RemoteUnavailable extends HttpError {
  readonly connected: boolean;
  /** How long the system asked to be left alone, or is; in seconds. */
  readonly retryAfterSeconds: number | undefined;
  readonly throttled: boolean;

  /**
   * @param remote `host:port` of the system; for the log.
   * @param reason What happened; for the log.
   * @param options.retryAfterSeconds When to try again; default 10.
   * @param options.throttled Whether it is us whom it turned away, for coming too often.
   * @param options.connected Whether a connection was made, so that it may be the request at which the system failed.
   */
  constructor(
    readonly remote: string,
    readonly reason: string,
    options: {
      readonly cause?: unknown;
      readonly retryAfterSeconds?: number | undefined;
      readonly throttled?: boolean;
      readonly connected?: boolean;
    } = {},
  ) {
    const seconds = Math.max(1, Math.ceil(options.retryAfterSeconds ?? 10));
    super("ERR_REMOTE_UNAVAILABLE", { seconds, reason: `${remote}: ${reason}` }, options.cause);
    this.connected = options.connected ?? false;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.throttled = options.throttled ?? false;
  }
}
