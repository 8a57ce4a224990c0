import type { ErrorCode } from "./errors.ts";

/** The JSON body of every answer with status 400 or above (design decision "Every error"). */
export interface ErrorBody {
  readonly status: number;
  /** The member that all clients display. */
  readonly errorMessage: string;
  readonly code: ErrorCode;
  readonly requestId: string;
}
