import { ServiceError } from "../../model/service_error.ts";

/** A path inside a share that does not exist, or cannot: callers do not learn which. */
export class NothingThere extends ServiceError {
  readonly code = "ERR_NOT_FOUND";
  readonly status = 404;
  readonly publicMessage = "There is nothing of this name here";
}

/** Not even the directory that should hold it is there, or the account cannot enter it. */
export class DirectoryMissing extends NothingThere {}
