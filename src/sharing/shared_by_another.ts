import { ServiceError } from "../model/service_error.ts";

/** A share that would get between another owner's earlier share and the people it is for. */
export class SharedByAnother extends ServiceError {
  readonly code = "ERR_SHARED_BY_ANOTHER";
  readonly status = 409;
  readonly publicMessage =
    "Somebody else shares this path, or one around it, with the same people; only paths in your own home directory can be shared as well";
}
