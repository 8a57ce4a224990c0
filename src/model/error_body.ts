import type { ErrorCode } from "./errors.ts";

/** JSON body of every response with status 400 or above (design decision "Every error"). */
export interface ErrorBody {
  readonly status: number;
  readonly errorMessage: string; // displayed by all clients
  readonly code: ErrorCode;
  readonly requestId: string;
}
