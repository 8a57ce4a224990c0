import { HttpError } from "../model/http_error.ts";

/** Error without a usable response of another system; says nothing about the caller. */
export class RemoteUnavailable extends HttpError {
  readonly connected: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly throttled: boolean;

  /** @param options.connected Whether a connection succeeded, so that the request may be at fault. */
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
