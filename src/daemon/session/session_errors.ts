import { ServiceError } from "../../model/service_error.ts";

/** No connection to the daemon's listen socket. */
export class ListenSocketUnreachable extends ServiceError {
  readonly code = "ERR_LISTEN_SOCKET_UNREACHABLE";
  readonly status = 503;
  readonly publicMessage = "The transfer server does not answer, please try again later";
  override readonly headers = { "Retry-After": "10" };
}

/** The daemon said something unexpected, refused a command or ended the session; its words are for the log only. */
export class SessionFailed extends ServiceError {
  readonly code = "ERR_DAEMON_SESSION";
  readonly status = 502;
  readonly publicMessage = "The transfer server did not complete the request";
}

/** The daemon ended the session, or the connection broke, where something else was due. */
export class SessionEnded extends SessionFailed {}

/** The daemon, or the client behind us, was silent for too long. */
export class SessionTimeout extends ServiceError {
  readonly code = "ERR_DAEMON_SESSION_TIMEOUT";
  readonly status = 504;
  readonly publicMessage = "The transfer did not go on in time";
}

/** The account may not do this with the path. */
export class AccessRefused extends ServiceError {
  readonly code = "ERR_ACCESS_REFUSED";
  readonly status = 403;
  readonly publicMessage = "Access to this path is not possible";
}

/** All sessions that the account may have at once are taken. */
export class TooManySessions extends ServiceError {
  readonly code = "ERR_TOO_MANY_SESSIONS";
  readonly status = 503;
  readonly publicMessage = "Too many transfers at once for this share, please try again in a few seconds";
  override readonly headers = { "Retry-After": "6" };
}

/** The upload ended before all announced bytes were there, or the daemon kept fewer than were sent. */
export class UploadIncomplete extends ServiceError {
  readonly code = "ERR_UPLOAD_INCOMPLETE";
  readonly status = 502;
  readonly publicMessage = "The upload did not arrive completely";
}

/** A path inside a share that does not exist, or cannot: callers do not learn which. */
export class NothingThere extends ServiceError {
  readonly code = "ERR_NOT_FOUND";
  readonly status = 404;
  readonly publicMessage = "There is nothing of this name here";
}

/** Not even the directory that should hold it is there, or the account cannot enter it. */
export class DirectoryMissing extends NothingThere {}
