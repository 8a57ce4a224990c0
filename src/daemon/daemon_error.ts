import { ServiceError } from "../model/service_error.ts";

/** No instance could be asked, or none took the request: it is safe to try again later. */
export class DaemonUnavailable extends ServiceError {
  readonly code = "ERR_DAEMON_UNAVAILABLE";
  readonly status = 503;
  readonly publicMessage = "The transfer server is not available, please try again later";
  override readonly headers = { "retry-after": "5" };

  constructor(group: string, reason: string) {
    super(`No instance of ${group} takes requests: ${reason}`);
  }
}

/** A daemon took the request and did not answer in time. */
export class DaemonTimeout extends ServiceError {
  readonly code = "ERR_DAEMON_TIMEOUT";
  readonly status = 504;
  readonly publicMessage = "The transfer server did not answer in time";

  constructor(group: string, reason: string) {
    super(`${group} did not answer in time: ${reason}`);
  }
}

/** A daemon took the request, and what came back is no reply. */
export class DaemonReplyInvalid extends ServiceError {
  readonly code = "ERR_DAEMON_REPLY_INVALID";
  readonly status = 502;
  readonly publicMessage = "The transfer server gave no valid answer";

  constructor(group: string, reason: string) {
    super(`${group} gave no valid answer: ${reason}`);
  }
}

/** A daemon understood the request and said no. Its text is for the log: it can name accounts. */
export class DaemonRefused extends ServiceError {
  readonly code = "ERR_DAEMON_REFUSED";
  readonly status = 502;
  readonly publicMessage = "The transfer server refused the request";

  constructor(group: string, reason: string) {
    super(`${group} refused the request: ${reason}`);
  }
}

/** The daemon cannot encrypt data connections, and the session was to be encrypted. */
export class EncryptionNotSupported extends ServiceError {
  readonly code = "ERR_ENCRYPTION_NOT_SUPPORTED";
  readonly status = 501;
  readonly publicMessage =
    "The transfer server does not encrypt data connections, please try without encryption";

  constructor(group: string, reason: string) {
    super(`${group} does not encrypt: ${reason}`);
  }
}

/** The account has as many sessions as the daemons allow; slots of ended sessions are free after 5 s. */
export class SessionLimitReached extends ServiceError {
  readonly code = "ERR_SESSION_LIMIT_REACHED";
  readonly status = 429;
  readonly publicMessage = "Too many open sessions on the transfer server, please try again later";
  override readonly headers = { "retry-after": "5" };

  constructor(group: string, reason: string) {
    super(`${group} has no free session for the account: ${reason}`);
  }
}

/** The group has no instance of this number (rest-api.md 1.2). */
export class InstanceUnknown extends ServiceError {
  readonly code = "ERR_INSTANCE_UNKNOWN";
  readonly status = 404;
  readonly publicMessage = "There is no such transfer server";

  constructor(group: string, instance: number) {
    super(`${group} has no instance ${instance}`);
  }
}
