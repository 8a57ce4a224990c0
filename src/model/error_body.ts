import type { ErrorCode } from "./service_error.ts";

/** The JSON body of every answer with status 400 or above (design decision "Every error"). */
export interface ErrorBody {
  readonly status: number;
  /** The member that all clients display. */
  readonly errorMessage: string;
  readonly code: ErrorCode;
  readonly requestId: string;
}

/** Headers of every answer, whoever made it. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cache-Control": "no-store",
};
